# SPDX-License-Identifier: MIT
"""Resumable uploads as a small client of the protocol sends them."""

import base64
import hashlib

from support.stack import wait_until

VERSION = {"Tus-Resumable": "1.0.0"}
TYPE = {"Content-Type": "application/offset+octet-stream"}


def encoded(text):
    """A value of Upload-Metadata."""
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def metadata(filename="data.bin", **more):
    """The header for a file of bucket files and type misc."""
    pairs = {"bucket": "files", "type": "misc", "filename": filename, **more}
    return ",".join(f"{key} {encoded(value)}" for key, value in pairs.items() if value is not None)


def checksum(data):
    """Upload-Checksum of these bytes."""
    return "sha256 " + base64.b64encode(hashlib.sha256(data).digest()).decode()


def create(account, length, data=None, headers=None, status=201, meta=None, **arguments):
    """Begins an upload; returns the reply. length None: it comes later."""
    sent = {**VERSION, "Upload-Metadata": metadata() if meta is None else meta,
            **({"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}),
            **(TYPE if data is not None else {}), **(headers or {})}
    return account.post("/system/uploads", data=data, headers={k: v for k, v in sent.items() if v is not None},
                        status=status, **arguments)


def begin(account, length, **arguments):
    """Begins an upload; returns its path."""
    location = create(account, length, **arguments).headers["Location"]
    return "/system/uploads/" + location.rsplit("/", 1)[1]


def patch(account, path, offset, data, headers=None, status=204, **arguments):
    """Sends a piece; returns the reply."""
    sent = {**VERSION, **TYPE, "Upload-Offset": str(offset), **(headers or {})}
    return account.patch(path, data=data, headers={k: v for k, v in sent.items() if v is not None}, status=status,
                         **arguments)


def head(account, path, status=200):
    """Asks how far the upload is; returns the headers."""
    return account.api.head(path, headers=VERSION, token=account.token, status=status).headers


def end(account, path, status=204):
    """Terminates the upload."""
    return account.delete(path, headers=VERSION, status=status)


def wait_until_gone(account, path):
    """Until nobody knows the upload any more."""
    wait_until(lambda: account.api.head(path, headers=VERSION, token=account.token).status_code == 404, 30,
               "the end of the upload")


def streams(stack):
    """Whether the web server hands a piece on while it comes; mod_fcgid collects it first."""
    return stack.web_server != "apache-fcgid"
