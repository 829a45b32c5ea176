# SPDX-License-Identifier: MIT
"""Uploading and looking up files the way a customer's program does."""

import hashlib
import uuid

from support import multipart
from support.multipart import Part


def form(data, filename, bucket="files", kind="misc", name=None, tags=(), content_type=None):
    """The parts of an ordinary upload of one file."""
    parts = [Part("bucket", bucket), Part("type", kind), Part("file", data, filename, content_type)]
    if name is not None:
        parts.append(Part("name", name))
    return parts + [Part("tags", tag) for tag in tags]


def send(account, parts, **arguments):
    """Uploads the parts; returns the reply."""
    mark = multipart.boundary()
    return send_bytes(account, multipart.encode(parts, mark), multipart.content_type(mark), **arguments)


def send_bytes(account, body, content_type, **arguments):
    """Uploads a body that is already encoded."""
    return account.post("/system/files", data=body, headers={"Content-Type": content_type}, **arguments)


def send_to(worker, stack, account, parts, **more):
    """Uploads the parts straight to a worker of the test's own."""
    mark = multipart.boundary()
    return worker.call("POST", stack.prefix + "/system/files", token=account.token,
                       body=multipart.encode(parts, mark), content_type=multipart.content_type(mark), **more)


def upload(account, data, filename="data.bin", **arguments):
    """Uploads one file and returns its record."""
    return send(account, form(data, filename, **arguments), status=200).json()


def info(account, identity):
    """The info object of a file."""
    return account.get(f"/system/files/{identity}/info", status=200).json()


def download(account, identity, **arguments):
    """The download reply of a file."""
    return account.get(f"/system/files/{identity}", **arguments)


def archive(account, identity, **arguments):
    """Archives a file; returns the reply."""
    return account.delete(f"/system/files/{identity}", **arguments)


def listed(account, **filters):
    """Every record that the list gives for these filters, all pages."""
    items, cursor = [], None
    while True:
        parameters = dict(filters, limit=filters.get("limit", 100), **({"cursor": cursor} if cursor else {}))
        page = account.get("/system/files", params=parameters, status=200).json()
        items += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return items


def still(record):
    """A record without what every change of it moves."""
    return {name: value for name, value in record.items() if name not in ("updatedAt", "archivedAt")}


def sha256(data):
    """Lower-case hexadecimal SHA-256."""
    return hashlib.sha256(data).hexdigest()


def blob(stack, identity):
    """Path of a file's bytes, or the object that has them."""
    name = uuid.UUID(identity).hex
    return stack.blobs / name[-2:] / name


def flip(path, bit=12345):
    """Flips one bit of a file, or of an object, in place."""
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(bytes(data))
