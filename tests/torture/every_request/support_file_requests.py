# SPDX-License-Identifier: MIT
"""Kinds of requests about files that take more than one line."""

import base64
import hashlib
import json
import uuid

from support import files, multipart, samples

import support_ground
from support_ground import SIZE, failed

TUS = {"Tus-Resumable": "1.0.0"}


def archive(ground):
    """A file that is archived and restored; the answer to the first request that fails. Where nobody could tell whether
    it was archived, it may be so already."""
    return archive_all(ground, [ground.file])


def archive_several(ground):
    return archive_all(ground, ground.shelf)


def archive_all(ground, ids):
    for action in ("archive", "restore"):
        answer = ground.call("POST", f"/system/files/{action}", {"ids": ids})
        if failed(answer, 200, 409):
            break
    return answer


def archive_one(ground):
    answer = ground.call("DELETE", f"/system/files/{ground.file}")
    if failed(answer, 200, 409):
        return answer
    return ground.call("POST", f"/system/files/{ground.file}/restore")


def take_name(ground):
    """A file that would get the name of another one of the same bytes."""
    name = ground.account.get(f"/system/files/{ground.shelf[0]}/info", status=200).json()["name"]
    return ground.call("PATCH", f"/system/files/{ground.shelf[1]}", {"name": name})


def second_page(sort):
    """The second page of a list of several files in that order."""
    read = support_ground.second_page(f"/system/files?limit=1&sort={sort}")
    return lambda ground: read(ground) if ground.shelf else None


# ---- links


def open_link(ground):
    """A link to the file, made once, is opened."""
    if ground.link is None:
        made = ground.call("POST", f"/system/files/{ground.file}/link", {"expiresIn": 600})
        ground.link = json.loads(made.body)["url"].rpartition("/")[2]
    return ground.call("GET", f"/system/links/{ground.link}", token=None)


def revoke_link(ground):
    ground.account.post(f"/system/files/{ground.file}/link", json={"expiresIn": 600}, status=200)
    links = ground.account.get(f"/system/files/{ground.file}/links", status=200).json()["items"]
    return ground.call("DELETE", f"/system/files/{ground.file}/links/{links[0]['id']}")


# ---- uploads


def upload_again(ground):
    """A file with another name and the bytes of one that is there."""
    return ground.pool.upload(ground.ledger, ground.token, SIZE, ground.same_bytes)


def upload_duplicate(ground):
    """The very same file once more, of which nothing may be stored."""
    info = ground.account.get(f"/system/files/{ground.shelf[0]}/info", status=200).json()
    mark = multipart.boundary()
    sent = multipart.encode(files.form(ground.same_bytes, info["name"]), mark)
    return ground.call("POST", "/system/files", sent=sent, content_type=multipart.content_type(mark))


def begin_upload(ground):
    """An upload by tus that is made and taken back; the answer to the first request that fails."""
    made = create_upload(ground, 10, "a.txt")
    if failed(made, 201):
        return made
    return ground.call("DELETE", path_of(made), headers=TUS)


def send_a_piece(ground):
    """An upload by tus that is made, gets its first half, is looked at and taken back; the first answer that is none of
    success."""
    made = create_upload(ground, 10, "a.txt")
    if failed(made, 201):
        return made
    sent = send(ground, path_of(made), b"first")
    if failed(sent, 204):
        return sent
    looked = ground.call("HEAD", path_of(made), headers=TUS)
    if failed(looked, 200):
        return looked
    return ground.call("DELETE", path_of(made), headers=TUS)


def send_whole(ground):
    """An upload by tus that gets all its bytes and is a file then."""
    data, name = samples.noise(16), f"{uuid.uuid4().hex}.bin"
    made = create_upload(ground, len(data), name)
    if failed(made, 201):
        return made
    ground.ledger.sent[name] = (hashlib.sha256(data).digest(), len(data))
    sent = send(ground, path_of(made), data)
    if sent is None:
        ground.ledger.lost(name, "the worker left in the middle")
    elif failed(sent, 204):
        ground.ledger.answered(name, sent.status, sent.body)
    else:
        ground.ledger.answered(name, 200, json.dumps({"id": sent.headers["Upload-File-Id"]}))
    return sent


def create_upload(ground, length, name):
    encoded = base64.b64encode(name.encode()).decode()
    return ground.call("POST", "/system/uploads", headers={
        **TUS, "Upload-Length": str(length), "Upload-Metadata": f"bucket ZmlsZXM=,type bWlzYw==,filename {encoded}"})


def send(ground, path, data):
    return ground.call("PATCH", path, sent=data, content_type="application/offset+octet-stream",
                       headers={**TUS, "Upload-Offset": "0"})


def path_of(made):
    """Where the upload is that was made."""
    return "/system/uploads/" + made.headers["Location"].rpartition("/")[2]
