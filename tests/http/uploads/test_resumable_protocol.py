# SPDX-License-Identifier: MIT
"""Tests tus 1.0.0 at /system/uploads, case by case: statuses, headers, and what is stored afterwards."""

import itertools

import pytest

from support import files, samples
from support.programs import crash
from uploads import support_tus as tus

pytestmark = pytest.mark.web_server

DATA = samples.noise(5000)
NUMBER = itertools.count()


@pytest.fixture()
def uploader(accounts):
    """Somebody of an organisation of their own."""
    return accounts.customer()


def name():
    """No two uploads of a test are the same file."""
    return f"piece-{next(NUMBER)}.bin"


def fresh():
    """Bytes that nobody has sent."""
    return samples.noise(5000)


# ---- beginning ------------------------------------------------------------------------------------------------------

# name, headers that differ (None takes one away), status, code, failing paths
CREATIONS = [
    ("no version", {"Tus-Resumable": None}, 412, "upload.version", None),
    ("version 0.2.2", {"Tus-Resumable": "0.2.2"}, 412, "upload.version", None),
    ("version 1.0", {"Tus-Resumable": "1.0"}, 412, "upload.version", None),
    ("version 2.0.0", {"Tus-Resumable": "2.0.0"}, 412, "upload.version", None),
    ("no length", {"Upload-Length": None}, 400, "request.invalid", {"Upload-Length"}),
    ("length and deferred", {"Upload-Defer-Length": "1"}, 400, "request.invalid", {"Upload-Defer-Length"}),
    ("deferred 0", {"Upload-Length": None, "Upload-Defer-Length": "0"}, 400, "request.invalid",
     {"Upload-Defer-Length"}),
    ("deferred 2", {"Upload-Length": None, "Upload-Defer-Length": "2"}, 400, "request.invalid",
     {"Upload-Defer-Length"}),
    ("deferred yes", {"Upload-Length": None, "Upload-Defer-Length": "yes"}, 400, "request.invalid",
     {"Upload-Defer-Length"}),
    ("nothing", {"Upload-Length": "0"}, 400, "request.invalid", {"Upload-Length"}),
    ("a negative length", {"Upload-Length": "-1"}, 400, "request.invalid", {"Upload-Length"}),
    ("a plus", {"Upload-Length": "+5"}, 400, "request.invalid", {"Upload-Length"}),
    ("a fraction", {"Upload-Length": "5.0"}, 400, "request.invalid", {"Upload-Length"}),
    ("an exponent", {"Upload-Length": "5e3"}, 400, "request.invalid", {"Upload-Length"}),
    ("hexadecimal", {"Upload-Length": "0x10"}, 400, "request.invalid", {"Upload-Length"}),
    ("two lengths", {"Upload-Length": "5, 5"}, 400, "request.invalid", {"Upload-Length"}),
    ("zeros in front", {"Upload-Length": "0005000"}, 400, "request.invalid", {"Upload-Length"}),
    ("a word", {"Upload-Length": "many"}, 400, "request.invalid", {"Upload-Length"}),
    ("2^63", {"Upload-Length": "9223372036854775808"}, 400, "request.invalid", {"Upload-Length"}),
    ("2^64 and 5", {"Upload-Length": "18446744073709551621"}, 400, "request.invalid", {"Upload-Length"}),
    ("too large", {"Upload-Length": "9223372036854775807"}, 413, "request.tooLarge", {"Upload-Length"}),
    ("no metadata", {"Upload-Metadata": None}, 400, "request.invalid", {"bucket", "type", "file[0]"}),
    ("no bucket", {"Upload-Metadata": tus.metadata(bucket=None)}, 400, "request.invalid", {"bucket"}),
    ("no type", {"Upload-Metadata": tus.metadata(type=None)}, 400, "request.invalid", {"type"}),
    ("no name", {"Upload-Metadata": tus.metadata(None)}, 400, "request.invalid", {"file[0]"}),
    ("an unknown bucket", {"Upload-Metadata": tus.metadata(bucket="barrels")}, 400, "request.invalid", {"bucket"}),
    ("an unknown type", {"Upload-Metadata": tus.metadata(type="MISC")}, 400, "request.invalid", {"type"}),
    ("an unknown key", {"Upload-Metadata": tus.metadata(colour="red")}, 400, "request.invalid", {"colour"}),
    ("a key like the file", {"Upload-Metadata": tus.metadata(file="x")}, 400, "request.invalid", {"file"}),
    ("a path for a name", {"Upload-Metadata": tus.metadata("..")}, 400, "request.invalid", {"file[0]"}),
    ("a long name", {"Upload-Metadata": tus.metadata("n" * 256 + ".bin")}, 400, "request.invalid", {"file[0]"}),
    ("a name for the file", {"Upload-Metadata": tus.metadata(name="/")}, 400, "request.invalid", {"name"}),
    ("17 tags", {"Upload-Metadata": tus.metadata(tags="\n".join(f"t{i}" for i in range(17)))}, 400,
     "request.invalid", {"tags"}),
    ("the same tag twice", {"Upload-Metadata": tus.metadata(tags="a\na")}, 400, "request.invalid", {"tags[1]"}),
    ("a key twice", {"Upload-Metadata": tus.metadata() + ",type bWlzYw=="}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("no base64", {"Upload-Metadata": tus.metadata() + ",name ???"}, 400, "request.invalid", {"Upload-Metadata"}),
    ("base64 of URLs", {"Upload-Metadata": tus.metadata() + ",name _-__"}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("base64 without padding", {"Upload-Metadata": tus.metadata() + ",name YQ"}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("an empty pair", {"Upload-Metadata": tus.metadata() + ",,name YQ=="}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("a last comma", {"Upload-Metadata": tus.metadata() + ","}, 400, "request.invalid", {"Upload-Metadata"}),
    ("a NUL", {"Upload-Metadata": tus.metadata() + ",name " + tus.encoded(b"a\0b")}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("no UTF-8", {"Upload-Metadata": tus.metadata() + ",name " + tus.encoded(b"\xff\xfe")}, 400,
     "request.invalid", {"Upload-Metadata"}),
    ("17 keys", {"Upload-Metadata": ",".join(f"k{i} YQ==" for i in range(17))}, 400, "request.invalid",
     {"Upload-Metadata"}),
    ("long metadata", {"Upload-Metadata": "k " + "YWFh" * 2050}, 400, "request.invalid", {"Upload-Metadata"}),
    ("a part of a file", {"Upload-Concat": "partial"}, 400, "request.invalid", {"Upload-Concat"}),
    ("parts to be joined", {"Upload-Concat": "final;/a /b", "Upload-Length": None}, 400, "request.invalid",
     {"Upload-Concat"}),
]


@pytest.mark.parametrize("headers,status,code,paths", [case[1:] for case in CREATIONS],
                         ids=[case[0] for case in CREATIONS])
def test_what_is_no_upload_is_not_begun(uploader, headers, status, code, paths):
    reply = tus.create(uploader, 5000, headers=headers, status=status, code=code, paths=paths)
    assert reply.headers["Tus-Resumable"] == "1.0.0" and "Location" not in reply.headers
    assert status != 412 or reply.headers["Tus-Version"] == "1.0.0"
    assert used(uploader) == (0, 0)


def used(account):
    organisation = account.get("/customers/organisation", status=200).json()["organisation"]
    return organisation["usedBytes"], organisation["usedFiles"]


BEGINNINGS = [
    ("the least", {}),
    ("with a media type", {"Upload-Metadata": tus.metadata(filetype="application/octet-stream")}),
    ("an empty media type", {"Upload-Metadata": tus.metadata(filetype="").rstrip()}),
    ("as Uppy sends it", {"Upload-Metadata": tus.metadata(relativePath="null")}),
    ("a key without a value", {"Upload-Metadata": tus.metadata() + ",name"}),
    ("an empty value", {"Upload-Metadata": "name ," + tus.metadata()}),
    ("with a name", {"Upload-Metadata": tus.metadata(name="other.bin")}),
    ("a name for all", {"Upload-Metadata": tus.metadata(None, name="only.bin")}),
    ("letters of the world", {"Upload-Metadata": tus.metadata("Lieferung Grün 日本.bin")}),
    ("with tags", {"Upload-Metadata": tus.metadata(tags="one\ntwo words\n, three")}),
    ("blanks after commas", {"Upload-Metadata": tus.metadata().replace(",", ", ")}),
]


@pytest.mark.parametrize("headers", [case[1] for case in BEGINNINGS], ids=[case[0] for case in BEGINNINGS])
def test_an_upload_begins_and_tells_of_itself(uploader, stack, headers):
    reply = tus.create(uploader, 5000, headers=headers)
    assert reply.headers["Location"].startswith(stack.url("/system/uploads/")) and not reply.content
    assert reply.headers["Upload-Offset"] == "0" and reply.headers["Upload-Expires"].endswith(" GMT")
    told = tus.head(uploader, "/system/uploads/" + reply.headers["Location"].rsplit("/", 1)[1])
    assert (told["Upload-Offset"], told["Upload-Length"]) == ("0", "5000")
    assert told["Upload-Metadata"] == headers.get("Upload-Metadata", tus.metadata())
    assert told["Cache-Control"] == "no-store" and told["Upload-Expires"] == reply.headers["Upload-Expires"]
    assert "Upload-Defer-Length" not in told and "Upload-File-Id" not in told
    assert used(uploader) == (5000, 1)


# ---- pieces ---------------------------------------------------------------------------------------------------------

# name, offset, bytes, headers that differ, status, code, failing paths; 2000 of 5000 bytes are there
PIECES = [
    ("no version", 2000, DATA[2000:], {"Tus-Resumable": None}, 412, "upload.version", None),
    ("another version", 2000, DATA[2000:], {"Tus-Resumable": "1.0.1"}, 412, "upload.version", None),
    ("no offset", 2000, DATA[2000:], {"Upload-Offset": None}, 400, "request.invalid", {"Upload-Offset"}),
    ("an offset of words", "x", DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("a negative offset", -1, DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("a fraction", "2000.0", DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("an offset with a plus", "+2000", DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("zeros in front", "002000", DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("two offsets", "2000, 2000", DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("2^64 and 2000", 2**64 + 2000, DATA[2000:], {}, 400, "request.invalid", {"Upload-Offset"}),
    ("from the start", 0, DATA, {}, 409, "upload.offset", None),
    ("one byte before", 1999, DATA[1999:], {}, 409, "upload.offset", None),
    ("one byte behind", 2001, DATA[2001:], {}, 409, "upload.offset", None),
    ("the end", 5000, b"", {}, 409, "upload.offset", None),
    ("behind the end", 10**12, b"x", {}, 409, "upload.offset", None),
    ("no type", 2000, DATA[2000:], {"Content-Type": None}, 415, "request.mediaType", None),
    ("bytes of another type", 2000, DATA[2000:], {"Content-Type": "application/octet-stream"}, 415,
     "request.mediaType", None),
    ("a form", 2000, DATA[2000:], {"Content-Type": "multipart/form-data; boundary=x"}, 415, "request.mediaType",
     None),
    ("packed", 2000, DATA[2000:], {"Content-Encoding": "gzip"}, 415, "request.mediaType", None),
    ("one byte too many", 2000, DATA[2000:] + b"x", {}, 413, "request.tooLarge", None),
    ("another length", 2000, DATA[2000:], {"Upload-Length": "6000"}, 400, "request.invalid", {"Upload-Length"}),
    ("a length of words", 2000, DATA[2000:], {"Upload-Length": "x"}, 400, "request.invalid", {"Upload-Length"}),
    ("a wrong checksum", 2000, DATA[2000:], {"Upload-Checksum": tus.checksum(b"other")}, 460, "upload.checksum",
     None),
    ("the checksum of the whole", 2000, DATA[2000:], {"Upload-Checksum": tus.checksum(DATA)}, 460,
     "upload.checksum", None),
    ("a wrong checksum in the middle", 2000, DATA[2000:3000], {"Upload-Checksum": tus.checksum(b"")}, 460,
     "upload.checksum", None),
    ("sha1", 2000, DATA[2000:], {"Upload-Checksum": "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="}, 400, "request.invalid",
     {"Upload-Checksum"}),
    ("SHA256", 2000, DATA[2000:], {"Upload-Checksum": tus.checksum(DATA[2000:]).upper()}, 400, "request.invalid",
     {"Upload-Checksum"}),
    ("a checksum without its algorithm", 2000, DATA[2000:], {"Upload-Checksum": tus.checksum(b"").split()[1]}, 400,
     "request.invalid", {"Upload-Checksum"}),
    ("a short checksum", 2000, DATA[2000:], {"Upload-Checksum": "sha256 YWJj"}, 400, "request.invalid",
     {"Upload-Checksum"}),
    ("a checksum of no base64", 2000, DATA[2000:], {"Upload-Checksum": "sha256 *"}, 400, "request.invalid",
     {"Upload-Checksum"}),
]


@pytest.mark.parametrize("offset,data,headers,status,code,paths", [case[1:] for case in PIECES],
                         ids=[case[0] for case in PIECES])
def test_a_piece_that_does_not_fit_changes_nothing(uploader, offset, data, headers, status, code, paths):
    path = tus.begin(uploader, 5000)
    tus.patch(uploader, path, 0, DATA[:2000])
    reply = tus.patch(uploader, path, offset, data, headers=headers, status=status, code=code, paths=paths)
    assert reply.headers["Tus-Resumable"] == "1.0.0"
    assert code != "upload.offset" or reply.json()["body"]["offset"] == "2000"
    assert tus.head(uploader, path)["Upload-Offset"] == "2000" and used(uploader) == (5000, 1)
    finished = tus.patch(uploader, path, 2000, DATA[2000:])
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == DATA


def cut(*lengths):
    return list(lengths)


WHOLES = [
    ("one piece", cut(5000), {}), ("two", cut(2500, 2500), {}), ("single bytes", cut(1, 1, 1, 4997), {}),
    ("around a block of the digest", cut(63, 1, 1, 64, 4871), {}), ("nothing first", cut(0, 5000), {}),
    ("nothing between", cut(100, 0, 0, 4900), {}), ("the last byte alone", cut(4999, 1), {}),
    ("with checksums", cut(2000, 3000), {"checksum": True}),
    ("a checksum of nothing", cut(2000, 0, 3000), {"checksum": True}),
    ("with the length again", cut(2000, 3000), {"Upload-Length": "5000"}),
    ("by POST", cut(2000, 3000), {"X-HTTP-Method-Override": "PATCH"}),
    ("a type with a parameter", cut(2000, 3000), {"Content-Type": "application/offset+octet-stream; charset=x"}),
    ("a type in capitals", cut(5000), {"Content-Type": "Application/Offset+Octet-Stream"}),
]


@pytest.mark.parametrize("pieces,more", [case[1:] for case in WHOLES], ids=[case[0] for case in WHOLES])
def test_pieces_become_the_file(uploader, pieces, more):
    data, at, filename = fresh(), 0, name()
    path = tus.begin(uploader, 5000, meta=tus.metadata(filename, tags="a\nb c"))
    for length in pieces:
        piece = data[at:at + length]
        headers = {key: value for key, value in more.items() if key != "checksum"}
        if "checksum" in more:
            headers["Upload-Checksum"] = tus.checksum(piece)
        if "X-HTTP-Method-Override" in headers:
            reply = uploader.post(path, data=piece, headers={**tus.VERSION, **tus.TYPE, "Upload-Offset": str(at),
                                                             **headers}, edge=True, status=204)
        else:
            reply = tus.patch(uploader, path, at, piece, headers=headers)
        at += length
        assert reply.headers["Upload-Offset"] == str(at)
        assert ("Upload-File-Id" in reply.headers) == (at == 5000)
    told = tus.head(uploader, path)
    identity = told["Upload-File-Id"]
    assert told["Upload-Offset"] == told["Upload-Length"] == "5000" and "Upload-Expires" not in told
    info = files.info(uploader, identity)
    assert (info["name"], info["size"], info["hash"]) == (filename, 5000, files.sha256(data))
    assert files.download(uploader, identity, status=200).content == data and used(uploader) == (5000, 1)
    assert [record["tags"] for record in files.listed(uploader)] == [["a", "b c"]]
    actions = uploader.get("/customers/organisation/audit", status=200).json()["items"]
    assert {"upload.create", "file.upload"} <= {row["action"] for row in actions}


def test_who_asks_for_json_is_given_the_record(uploader):
    data = fresh()
    path = tus.begin(uploader, 5000)
    tus.patch(uploader, path, 0, data[:100], headers={"Accept": "application/json"}, status=204)
    reply = tus.patch(uploader, path, 100, data[100:], headers={"Accept": "application/json"}, status=200)
    assert reply.json()["id"] == reply.headers["Upload-File-Id"]
    assert reply.json()["info"]["hash"] == files.sha256(data)


def test_the_first_bytes_may_come_with_the_creation(uploader):
    data = fresh()
    reply = tus.create(uploader, 5000, data=data[:1234])
    assert reply.headers["Upload-Offset"] == "1234"
    path = "/system/uploads/" + reply.headers["Location"].rsplit("/", 1)[1]
    assert tus.head(uploader, path)["Upload-Offset"] == "1234"
    finished = tus.patch(uploader, path, 1234, data[1234:])
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == data


def test_all_bytes_may_come_with_the_creation(uploader):
    data = fresh()
    reply = tus.create(uploader, 5000, data=data, headers={"Upload-Checksum": tus.checksum(data)})
    assert files.download(uploader, reply.headers["Upload-File-Id"], status=200).content == data


@pytest.mark.parametrize("headers,data,status", [
    ({"Content-Type": "text/plain"}, DATA, 415),
    ({"Upload-Checksum": tus.checksum(b"other")}, DATA, 460),
    ({}, DATA + b"x", 413),
    ({"Upload-Checksum": "md5 YWJj"}, DATA, 400),
], ids=["type", "checksum", "length", "algorithm"])
def test_a_creation_whose_bytes_are_refused_leaves_nothing(uploader, headers, data, status):
    tus.create(uploader, 5000, data=data, headers=headers, status=status)
    assert used(uploader) == (0, 0) and not files.listed(uploader)


# ---- a length that comes later --------------------------------------------------------------------------------------


def test_the_length_may_come_with_any_piece(uploader):
    data = fresh()
    path = tus.begin(uploader, None)
    told = tus.head(uploader, path)
    assert told["Upload-Defer-Length"] == "1" and "Upload-Length" not in told
    assert used(uploader) == (0, 1)
    tus.patch(uploader, path, 0, data[:3000])
    assert used(uploader)[0] >= 3000
    tus.patch(uploader, path, 3000, b"", headers={"Upload-Length": "5000"})
    assert used(uploader) == (5000, 1) and tus.head(uploader, path)["Upload-Length"] == "5000"
    finished = tus.patch(uploader, path, 3000, data[3000:])
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == data
    assert used(uploader) == (5000, 1)


def test_the_length_may_be_what_has_come(uploader):
    data = fresh()
    path = tus.begin(uploader, None)
    tus.patch(uploader, path, 0, data)
    finished = tus.patch(uploader, path, 5000, b"", headers={"Upload-Length": "5000"})
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == data


@pytest.mark.parametrize("length", ["2999", "0", "-1", "x"])
def test_a_length_that_cannot_be_is_refused(uploader, length):
    path = tus.begin(uploader, None)
    tus.patch(uploader, path, 0, DATA[:3000])
    tus.patch(uploader, path, 3000, b"", headers={"Upload-Length": length}, status=400, code="request.invalid",
              paths={"Upload-Length"})
    assert tus.head(uploader, path)["Upload-Defer-Length"] == "1"


# ---- who, and how it ends -------------------------------------------------------------------------------------------

REQUESTS = {"HEAD": {}, "PATCH": {**tus.TYPE, "Upload-Offset": "0"}, "DELETE": {}}


@pytest.mark.parametrize("method", list(REQUESTS))
def test_nobody_else_finds_an_upload(accounts, uploader, api, method):
    path = tus.begin(uploader, 5000)
    colleague = accounts.user_with("cus:file:a", uploader.organisation["id"])
    for other in (colleague, accounts.customer()):
        api.call(method, path, token=other.token, headers={**tus.VERSION, **REQUESTS[method]}, status=404)
    api.call(method, path, headers={**tus.VERSION, **REQUESTS[method]}, status=401)
    unknown = "/system/uploads/01890000-0000-7000-8000-000000000000"
    api.call(method, unknown, token=uploader.token, headers={**tus.VERSION, **REQUESTS[method]}, status=404)
    api.call(method, "/system/uploads/x", token=uploader.token, headers={**tus.VERSION, **REQUESTS[method]},
             status=400)
    assert tus.head(uploader, path)["Upload-Offset"] == "0"


@pytest.mark.parametrize("sent", [0, 3000])
def test_a_terminated_upload_is_gone(uploader, sent):
    path = tus.begin(uploader, 5000)
    tus.patch(uploader, path, 0, DATA[:sent])
    tus.end(uploader, path)
    assert used(uploader) == (0, 0)
    tus.head(uploader, path, status=404)
    tus.end(uploader, path, status=404)
    tus.patch(uploader, path, sent, DATA[sent:], status=404, code="upload.unknown")


def test_the_end_of_a_finished_upload_leaves_the_file(uploader):
    path = tus.begin(uploader, 5000)
    identity = tus.patch(uploader, path, 0, DATA).headers["Upload-File-Id"]
    tus.end(uploader, path)
    tus.head(uploader, path, status=404)
    assert files.download(uploader, identity, status=200).content == DATA and used(uploader) == (5000, 1)


def test_a_finished_upload_takes_the_last_piece_again(uploader):
    path = tus.begin(uploader, 5000)
    identity = tus.patch(uploader, path, 0, DATA).headers["Upload-File-Id"]
    assert tus.patch(uploader, path, 5000, b"").headers["Upload-File-Id"] == identity
    tus.patch(uploader, path, 0, DATA, status=409, code="upload.offset")


def test_an_upload_whose_time_is_over_has_gone(uploader, stack, database):
    path = tus.begin(uploader, 5000)
    # The job runner would take it away.
    with crash.paused_jobs(stack):
        database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = UNHEX(%s)",
                     path.rsplit("/", 1)[1].replace("-", ""))
        tus.head(uploader, path, status=410)
        tus.patch(uploader, path, 0, DATA, status=410, code="upload.expired")
        tus.end(uploader, path, status=410)


@pytest.mark.parametrize("method,path", [("GET", "/system/uploads"), ("PUT", "/system/uploads"),
                                         ("PATCH", "/system/uploads"),
                                         ("GET", "/system/uploads/01890000-0000-7000-8000-000000000000"),
                                         ("PUT", "/system/uploads/01890000-0000-7000-8000-000000000000")])
def test_other_methods_are_refused(uploader, api, method, path):
    reply = api.call(method, path, token=uploader.token, status=405, code="route.method")
    assert reply.headers["Allow"] and reply.headers["Tus-Resumable"] == "1.0.0"


# ---- the rules of an upload -----------------------------------------------------------------------------------------


def test_the_bytes_decide_in_the_end(uploader):
    program = b"\x7fELF\x02\x01\x01" + b"\0" * 4993
    path = tus.begin(uploader, 5000)
    tus.patch(uploader, path, 0, program, status=400, code="request.invalid", paths={"file[0]"})
    tus.head(uploader, path, status=404)
    assert used(uploader) == (0, 0) and not files.listed(uploader)


def test_what_is_no_picture_does_not_become_one(uploader):
    path = tus.begin(uploader, 5000, meta=tus.metadata("x.png", bucket="images", type="image"))
    reply = tus.patch(uploader, path, 0, DATA, status=400, code="request.invalid", paths={"file[0]"})
    assert reply.json()["validation"][0]["code"] == "contentType" and used(uploader) == (0, 0)


def test_the_same_file_twice_is_a_duplicate(uploader):
    identity = files.upload(uploader, DATA, "twice.bin")["id"]
    path = tus.begin(uploader, 5000, meta=tus.metadata("twice.bin"))
    reply = tus.patch(uploader, path, 0, DATA, status=409, code="file.duplicate")
    assert reply.json()["body"]["id"] == identity
    tus.head(uploader, path, status=404)
    assert used(uploader) == (5000, 1)


def test_the_quota_is_reserved_at_the_beginning(uploader, database):
    database.run("UPDATE organisation SET quota_bytes = 12000 WHERE id = UNHEX(%s)",
                 uploader.organisation["id"].replace("-", ""))
    first, _ = tus.begin(uploader, 5000), tus.begin(uploader, 5000)
    tus.create(uploader, 5000, status=409, code="quota.exceeded")
    tus.end(uploader, first)
    tus.begin(uploader, 5000)
    files.send(uploader, files.form(samples.noise(3000), "x.bin"), status=409, code="quota.exceeded")
