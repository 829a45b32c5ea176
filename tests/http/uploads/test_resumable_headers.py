# SPDX-License-Identifier: MIT
"""What tus 1.0.0 says of headers and methods whatever becomes of an upload: versions, times, other ways to say a
method, lengths that nobody announces, and browsers of other origins."""

import pytest

from support import files, samples
from support.programs import crash
from uploads import support_tus as tus

pytestmark = pytest.mark.web_server

DATA = samples.noise(5000)
EXTENSIONS = {"creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum", "termination"}
UNKNOWN = "/system/uploads/01890000-0000-7000-8000-000000000000"
PIECE = {**tus.TYPE, "Upload-Offset": "0"}


@pytest.fixture()
def uploader(accounts):
    """Somebody of an organisation of their own."""
    return accounts.customer()


@pytest.fixture()
def origin(stack):
    return stack.cors_origins[0]


# ---- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [None, "1.0.0", "0.2.2"])
def test_the_service_says_what_it_takes_whatever_the_version_asked_in(api, version):
    reply = api.call("OPTIONS", "/system/uploads", headers={"Tus-Resumable": version} if version else {}, status=204)
    assert reply.headers["Tus-Version"] == reply.headers["Tus-Resumable"] == "1.0.0"
    assert set(reply.headers["Tus-Extension"].split(",")) == EXTENSIONS
    assert reply.headers["Tus-Checksum-Algorithm"] == "sha256" and int(reply.headers["Tus-Max-Size"]) > 0


@pytest.mark.parametrize("method,headers", [("HEAD", {}), ("PATCH", PIECE), ("DELETE", {})])
def test_a_request_in_another_version_does_nothing(uploader, api, method, headers):
    path = tus.begin(uploader, 5000)
    reply = api.call(method, path, token=uploader.token, headers={**headers, "Tus-Resumable": "0.2.2"},
                     data=DATA if method == "PATCH" else None, status=412)
    assert reply.headers["Tus-Version"] == "1.0.0" and "Upload-Offset" not in reply.headers
    assert tus.head(uploader, path)["Upload-Offset"] == "0"


def test_the_largest_file_that_is_announced_may_be_begun_and_no_larger_one(uploader, api):
    most = int(api.call("OPTIONS", "/system/uploads", status=204).headers["Tus-Max-Size"])
    tus.create(uploader, most + 1, status=413, code="request.tooLarge", paths={"Upload-Length"})
    path = tus.begin(uploader, most)
    assert tus.head(uploader, path)["Upload-Length"] == str(most)
    late = tus.begin(uploader, None)
    tus.patch(uploader, late, 0, b"", headers={"Upload-Length": str(most + 1)}, status=413, code="request.tooLarge")
    for one in (path, late):
        tus.end(uploader, one)


@pytest.mark.parametrize("headers,paths", [
    ({"Upload-Length": "five", "Upload-Metadata": "filename !"}, {"Upload-Length", "Upload-Metadata"}),
    ({"Upload-Length": "0", "Upload-Metadata": tus.metadata(bucket="elsewhere")}, {"Upload-Length", "bucket"}),
    ({"Upload-Length": None, "Upload-Metadata": tus.metadata(type="none", bucket="none")},
     {"Upload-Length", "type", "bucket"}),
    ({"Upload-Defer-Length": "2", "Upload-Length": "-5", "Upload-Metadata": ""},
     {"Upload-Length", "Upload-Defer-Length", "bucket", "type", "file[0]"}),
])
def test_every_bad_header_of_a_new_upload_is_named_at_once(uploader, headers, paths):
    tus.create(uploader, 5000, headers=headers, status=400, code="request.invalid", paths=paths)


def test_every_bad_header_is_named_beside_bytes(uploader):
    tus.create(uploader, 5000, data=DATA, headers={"Upload-Length": "x", "Upload-Checksum": "sha1 x"}, status=400,
               code="request.invalid", paths={"Upload-Length", "Upload-Checksum"})
    path = tus.begin(uploader, 5000)
    tus.patch(uploader, path, 0, DATA, status=400, code="request.invalid",
              headers={"Upload-Offset": "x", "Upload-Length": "y", "Upload-Checksum": "sha256 z"},
              paths={"Upload-Offset", "Upload-Length", "Upload-Checksum"})
    assert tus.head(uploader, path)["Upload-Offset"] == "0"
    tus.end(uploader, path)


# ---- what a reply holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410])
def test_who_finds_no_upload_is_told_no_offset(uploader, stack, database, status):
    path = tus.begin(uploader, 5000) if status == 410 else UNKNOWN
    # The job runner would take away what has expired.
    with crash.paused_jobs(stack):
        database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) WHERE id = UNHEX(%s)",
                     path.rsplit("/", 1)[1].replace("-", ""))
        told = tus.head(uploader, path, status=status)
    assert "Upload-Offset" not in told and told["Cache-Control"] == "no-store"


def test_each_piece_is_told_until_when_the_next_may_come(uploader):
    begun = tus.create(uploader, 5000)
    path = "/system/uploads/" + begun.headers["Location"].rsplit("/", 1)[1]
    for at in (0, 1000, 2000):
        told = tus.patch(uploader, path, at, DATA[at:at + 1000]).headers
        assert told["Upload-Expires"] == begun.headers["Upload-Expires"]
    assert "Upload-Expires" not in tus.patch(uploader, path, 3000, DATA[3000:]).headers


def test_a_length_that_was_said_late_is_said_once(uploader):
    path = tus.begin(uploader, None)
    tus.patch(uploader, path, 0, DATA[:100], headers={"Upload-Length": "5000"})
    told = tus.head(uploader, path)
    assert told["Upload-Length"] == "5000" and "Upload-Defer-Length" not in told
    tus.patch(uploader, path, 100, DATA[100:], headers={"Upload-Length": "5001"}, status=400, code="request.invalid",
              paths={"Upload-Length"})
    finished = tus.patch(uploader, path, 100, DATA[100:], headers={"Upload-Length": "5000"})
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == DATA


# ---- methods and bodies ---------------------------------------------------------------------------------------------


def override(account, path, method, **arguments):
    """POST that says another method."""
    headers = {**tus.VERSION, **arguments.pop("headers", {}), "X-HTTP-Method-Override": method}
    return account.post(path, headers=headers, edge=True, **arguments)


def test_a_client_that_can_only_post_asks_sends_and_ends(uploader):
    path, other = tus.begin(uploader, 5000), tus.begin(uploader, 5000)
    override(uploader, path, "PATCH", headers=PIECE, data=DATA[:1000], status=204)
    assert override(uploader, path, "HEAD", status=200).headers["Upload-Offset"] == "1000"
    override(uploader, other, "DELETE", status=204)
    tus.head(uploader, other, status=404)


@pytest.mark.parametrize("method,path,right", [("PATCH", "/system/uploads", "POST"), ("POST", UNKNOWN, "PATCH"),
                                               ("PUT", UNKNOWN, "PATCH")])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_wrong_method_is_told_the_right_ones_whatever_the_body(api, method, path, right, chunked):
    reply = api.call(method, path, data=pieces(DATA) if chunked else DATA, status=405, code="route.method")
    allowed = set(reply.headers["Allow"].split(", "))
    assert right in allowed and method not in allowed and reply.headers["Tus-Resumable"] == "1.0.0"


@pytest.mark.parametrize("method", ["GET", "PUT", "patch", ""])
def test_a_method_that_no_upload_has_is_refused_in_whatever_way_it_is_said(uploader, method):
    path = tus.begin(uploader, 5000)
    override(uploader, path, method, headers=PIECE, data=DATA, status=405, code="route.method")
    assert tus.head(uploader, path)["Upload-Offset"] == "0"


def pieces(data):
    """A body whose length nobody says."""
    yield data[:1]
    yield data[1:]


def test_a_piece_may_come_without_its_length(uploader):
    path = tus.begin(uploader, 5000)
    assert tus.patch(uploader, path, 0, pieces(DATA[:3000])).headers["Upload-Offset"] == "3000"
    tus.patch(uploader, path, 3000, pieces(DATA[3000:] + b"x"), status=413, code="request.tooLarge")
    at = int(tus.head(uploader, path)["Upload-Offset"])
    assert 3000 <= at < 5000
    finished = tus.patch(uploader, path, at, pieces(DATA[at:]))
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == DATA


def test_the_bytes_of_a_creation_may_come_without_their_length(uploader):
    begun = tus.create(uploader, 5000, data=pieces(DATA[:3000]))
    assert begun.headers["Upload-Offset"] == "3000"
    path = "/system/uploads/" + begun.headers["Location"].rsplit("/", 1)[1]
    finished = tus.patch(uploader, path, 3000, DATA[3000:])
    assert files.download(uploader, finished.headers["Upload-File-Id"], status=200).content == DATA


# ---- browsers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/system/uploads", UNKNOWN])
@pytest.mark.parametrize("method", ["POST", "HEAD", "PATCH", "DELETE"])
def test_a_browser_of_a_configured_origin_may_ask(api, origin, path, method):
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    reply = api.call("OPTIONS", path, headers=asked, status={200, 204})
    assert reply.headers["Access-Control-Allow-Origin"] == origin
    methods = {"POST", "OPTIONS"} if path != UNKNOWN else {"HEAD", "PATCH", "DELETE"}
    assert methods <= set(reply.headers["Access-Control-Allow-Methods"].split(", "))
    allowed = reply.headers["Access-Control-Allow-Headers"].lower()
    for header in ("tus-resumable", "upload-length", "upload-offset", "upload-metadata", "upload-checksum",
                   "upload-defer-length", "authorization", "content-type", "x-http-method-override"):
        assert header in allowed


@pytest.mark.parametrize("path", ["/system/uploads", UNKNOWN])
def test_a_browser_of_another_origin_may_not(api, path):
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "PATCH"}
    reply = api.call("OPTIONS", path, headers=asked)
    assert not [name for name in reply.headers if name.startswith("Access-Control-Allow-")]


REPLIES = {"begun": 201, "told": 200, "received": 204, "wrong offset": 409, "wrong version": 412, "unknown": 404,
           "nobody": 401, "ended": 204}


@pytest.mark.parametrize("which", list(REPLIES))
def test_a_page_of_a_configured_origin_may_read_each_reply(uploader, api, origin, which):
    path = tus.begin(uploader, 5000)
    method, target, headers, data = {
        "begun": ("POST", "/system/uploads", {"Upload-Length": "5", "Upload-Metadata": tus.metadata()}, None),
        "told": ("HEAD", path, {}, None), "received": ("PATCH", path, PIECE, DATA[:10]),
        "wrong offset": ("PATCH", path, {**PIECE, "Upload-Offset": "9"}, DATA[:10]),
        "wrong version": ("PATCH", path, {**PIECE, "Tus-Resumable": "2"}, DATA[:10]),
        "unknown": ("PATCH", UNKNOWN, PIECE, DATA[:10]), "nobody": ("PATCH", path, PIECE, DATA[:10]),
        "ended": ("DELETE", path, {}, None)}[which]
    for own in (origin, "https://elsewhere.example"):
        reply = api.call(method, target, token=None if which == "nobody" else uploader.token,
                         headers={**tus.VERSION, **headers, "Origin": own}, data=data)
        if own == origin:
            assert reply.status_code == REPLIES[which]
            assert reply.headers["Access-Control-Allow-Origin"] == origin
            exposed = reply.headers["Access-Control-Expose-Headers"].split(", ")
            assert which == "nobody" or {"Location", "Upload-Offset", "Upload-Expires", "Upload-File-Id",
                                         "Tus-Resumable"} <= set(exposed)
        else:
            assert not [name for name in reply.headers if name.startswith("Access-Control-")]
