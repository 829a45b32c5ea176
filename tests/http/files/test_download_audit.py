# SPDX-License-Identifier: MIT
"""A row of the audit trail for each download and each opened link, where the bucket has rows."""

import json
import urllib.parse
import uuid

import pytest

from support import files, samples
from support.database import key
from support.programs import system


def trail(database, identity):
    """What the trail says of a file's bytes: (action, who, address, details), oldest first."""
    found = database.run(
        "SELECT action, user_id, client_address, details FROM audit WHERE target_id = %s"
        " AND organisation_id IS NOT NULL AND action IN ('file.download', 'link.open') ORDER BY id", identity)
    return [(action, user and str(uuid.UUID(bytes=user)), address, json.loads(details))
            for action, user, address, details in found]


@pytest.fixture()
def file(owner):
    return files.upload(owner, samples.noise(1600))["id"]


def link(account, identity):
    url = account.post(f"/system/files/{identity}/link", json={}, status=200).json()["url"]
    return urllib.parse.urlsplit(url).path


def test_each_download_is_a_row(owner, members, database, file):
    reader = members.holding(owner, "cus:file:r")
    for account in (owner, reader, reader):
        files.download(account, file, status=200)
    assert trail(database, file) == [("file.download", one.id, "127.0.0.1", {"bucket": "files", "size": 1600})
                                     for one in (owner, reader, reader)]
    assert [row["userId"] for row in owner.get("/customers/organisation/audit", status=200,
                                               params={"targetId": file, "action": "file.download"}).json()["items"]] \
        == [reader.id, reader.id, owner.id]


def test_what_sends_no_bytes_is_no_row(owner, other, database, file, api):
    tag = files.download(owner, file, status=200).headers["ETag"]
    before = trail(database, file)
    api.head(f"/system/files/{file}", token=owner.token, status=200)
    files.download(owner, file, headers={"If-None-Match": tag}, status=304)
    files.download(owner, file, headers={"If-Match": '"other"'}, status=412)
    files.download(owner, file, headers={"Range": "bytes=5000-"}, status=416)
    files.download(other, file, status=400, code="file.unknown")
    files.info(owner, file)
    files.archive(owner, file, status=200)
    files.download(owner, file, status=409)
    assert trail(database, file) == before and len(before) == 1


def test_an_opened_link_is_a_row_that_names_its_maker(stack, api, owner, database, file):
    path = link(owner, file).removeprefix(stack.prefix)
    api.get(path, status=200)
    api.head(path, status=200)
    api.get(path[:-8] + "AAAAAAAA", status=403)
    one, = owner.get(f"/system/files/{file}/links", status=200).json()["items"]
    assert trail(database, file) == [("link.open", None, "127.0.0.1",
                                      {"bucket": "files", "size": 1600, "maker": owner.id, "link": one["id"]})]


def test_pieces_are_one_row_a_minute_wherever_they_lie(stack, owner, members, database, file, tmp_path):
    reader = members.holding(owner, "cus:file:r")
    path = f"{stack.prefix}/system/files/{file}"
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics") as worker:
        for first in (1500, 0, 700, 1599):
            answer = worker.call("GET", path, token=owner.token, headers={"Range": f"bytes={first}-1599"})
            assert answer.status in (200, 206)
        assert worker.call("GET", path, token=reader.token, headers={"Range": "bytes=10-19"}).status in (200, 206)
        shared = link(owner, file)
        for first in (3, 4):
            assert worker.call("GET", shared, headers={"Range": f"bytes={first}-9"}).status in (200, 206)
        # The whole of it is a row each time.
        for _ in range(2):
            assert worker.call("GET", path, token=owner.token).status == 200
    size = {"bucket": "files", "size": 1600}
    row, = owner.get(f"/system/files/{file}/links", status=200).json()["items"]
    assert [(action, who, details) for action, who, _, details in trail(database, file)] == [
        ("file.download", owner.id, {**size, "first": 1500, "last": 1599}),
        ("file.download", reader.id, {**size, "first": 10, "last": 19}),
        ("link.open", None, {**size, "first": 3, "last": 9, "maker": owner.id, "link": row["id"]}),
        ("file.download", owner.id, size), ("file.download", owner.id, size)]


def test_pieces_by_two_links_of_one_maker_are_a_row_for_each(stack, owner, database, file, tmp_path):
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics") as worker:
        for shared in (link(owner, file), link(owner, file)):
            for first in (3, 4):
                assert worker.call("GET", shared, headers={"Range": f"bytes={first}-9"}).status in (200, 206)
    rows = owner.get(f"/system/files/{file}/links", status=200).json()["items"]
    assert {details["link"] for _, _, _, details in trail(database, file)} == {row["id"] for row in rows}
    assert len(trail(database, file)) == len(rows) == 2


@pytest.mark.parametrize("on", ["files", "images", None])
def test_each_bucket_is_switched_by_itself(stack, owner, database, file, tmp_path, on):
    picture = files.upload(owner, samples.picture(), "a.png", bucket="images", kind="image")["id"]
    switches = {f"audit_{bucket}": "true" if bucket == on else "false" for bucket in ("files", "images")}
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics", **switches) as worker:
        for identity in (file, picture):
            assert worker.call("GET", f"{stack.prefix}/system/files/{identity}", token=owner.token).status == 200
            assert worker.call("GET", link(owner, identity)).status == 200
    assert (len(trail(database, file)), len(trail(database, picture))) == (2 * (on == "files"), 2 * (on == "images"))


def test_internal_staff_who_download_leave_both_rows(owner, administrator, database, file):
    administrator.get(f"/system/files/{file}", status=200, headers={"X-Reason": b"Ticket 7"})
    found = database.run("SELECT action, user_id FROM audit WHERE target_id = %s AND user_id = %s ORDER BY id", file,
                         key(administrator.id))
    assert [row[0] for row in found] == ["access.crossOrganisation", "file.download"]
