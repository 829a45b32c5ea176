# SPDX-License-Identifier: MIT
"""Hostile and broken uploads: refused with the right words, nothing kept, and the next honest request is
served."""

import pytest

from support import files, multipart, samples
from support.client import check_error
from support.multipart import Part
from support.wire import raw
from uploads import upload_attacks

pytestmark = [pytest.mark.web_server, pytest.mark.upload_mode]

FLOOR = 64


@pytest.fixture(scope="module", autouse=True)
def no_worker_ends(stack):
    """Every worker that served before the attacks serves after them."""
    before = set(stack.workers())
    yield
    assert before and before <= set(stack.workers()), "a worker ended under the attacks"


@pytest.fixture(scope="module", autouse=True)
def nothing_outside(stack):
    """No file appears beside the blob directory."""
    before = sorted(path.name for path in stack.blobs.parent.iterdir())
    yield
    assert sorted(path.name for path in stack.blobs.parent.iterdir()) == before


def test_the_table_is_as_long_as_promised_and_every_row_says_its_answer():
    names = [row["name"] for row in upload_attacks.ROWS]
    assert len(names) == len(set(names)) >= FLOOR
    for row in upload_attacks.ROWS:
        assert row["status"] in (400, 415) and row["code"], row["name"]
        assert row["status"] == 415 or row["paths"], row["name"]


@pytest.mark.parametrize("row", upload_attacks.ROWS, ids=[row["name"] for row in upload_attacks.ROWS])
def test_a_bad_upload_is_refused_as_the_table_says_and_nothing_is_kept(keeper, nothing_kept, row):
    reply = files.send_bytes(keeper,
                             upload_attacks.body(row),
                             upload_attacks.content_type(row),
                             status=row["status"],
                             code=row["code"],
                             paths=set(row["paths"]) if "paths" in row else None)
    entries = reply.json()["validation"]
    assert sorted({entry["code"] for entry in entries}) == row.get("entries", [])
    for word in row.get("named", []):
        assert all(word in entry["message"] for entry in entries), entries


def test_the_table_is_refused_for_its_faults_alone(keeper):
    """The parts that the attacks are built from pass when nothing is wrong."""
    files.send(keeper, [
        upload_attacks.BUCKET, upload_attacks.KIND,
        Part("file", samples.text(), "a.txt"),
        Part("tags", "t" * 64),
        Part("name", "n" * 255)
    ],
               status=200)


def test_an_empty_file_has_the_code_empty(keeper, nothing_kept):
    reply = files.send(keeper,
                       files.form(b"", "e.txt"),
                       status=400,
                       code="request.invalid",
                       paths={"file[0]"})
    assert reply.json()["validation"][0]["code"] == "empty"


def test_no_content_type_is_415(keeper, nothing_kept):
    keeper.post("/system/files", data=upload_attacks.ENCODED, status=415, code="request.mediaType")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity", "x"])
def test_a_content_encoding_is_415(keeper, nothing_kept, coding):
    headers = {"Content-Type": upload_attacks.TYPE, "Content-Encoding": coding}
    keeper.post("/system/files",
                data=upload_attacks.ENCODED,
                headers=headers,
                status=415,
                code="request.mediaType")


def test_a_body_shorter_than_its_length_keeps_nothing(keeper, stack, nothing_kept):
    headers = [("Authorization", f"Bearer {keeper.token}"), ("Content-Type", upload_attacks.TYPE),
               ("Content-Length", str(len(upload_attacks.ENCODED) + 500))]
    received = raw.exchange(stack,
                            raw.request("POST", stack.prefix + "/system/files", headers,
                                        upload_attacks.ENCODED))
    for reply in raw.replies(received, ("POST", )):
        # mod_fcgid calls a client that fell silent an internal error; what counts is that nothing is kept.
        assert reply.status in ((400, 500) if stack.web_server == "apache-fcgid" else (400, ))
        check_error(reply.status, reply.headers, reply.body, "cut upload", edge=True)


def test_an_upload_that_breaks_off_keeps_nothing(keeper, stack, nothing_kept):
    mark = multipart.boundary()
    body = multipart.encode(files.form(samples.noise(3_000_000), "cut.bin"), mark)
    headers = [("Authorization", f"Bearer {keeper.token}"), ("Content-Type", multipart.content_type(mark)),
               ("Content-Length", str(len(body)))]
    for keep in (1000, 70_000, 2_000_000, len(body) - 1):
        data = raw.request("POST", stack.prefix + "/system/files", headers, body[:keep])
        received = raw.exchange(stack, data)
        assert b" 200 " not in received[:20]


def test_after_all_of_it_an_honest_upload_passes(keeper):
    data = samples.picture()
    record = files.upload(keeper, data, "honest.png", bucket="images", kind="image")
    assert files.download(keeper, record["id"], status=200).content == data
