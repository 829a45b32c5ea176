# SPDX-License-Identifier: MIT
"""What the Python client makes of answers that a service seldom gives: they are written beforehand."""

import pytest

from gatehouse_client import ConflictError, GatehouseError, InvalidRequestError, RateLimitedError, UnavailableError
from support_script import Script, UPLOAD, file_record

PATH = f"/system/uploads/{UPLOAD}"
DATA = b"twelve bytes"
HALF = len(DATA) // 2
BEGUN = ("POST", 201, {"Location": f"https://gatehouse.example.org{PATH}", "Upload-Offset": "0"}, b"")
HALF_SAFE = ("PATCH", 204, {"Upload-Offset": str(HALF)}, b"")
HALF_TOLD = ("HEAD", 200, {"Upload-Offset": str(HALF), "Upload-Length": str(len(DATA))}, b"")
WHOLE = ("PATCH", 200, {"Content-Type": "application/json", "Upload-Offset": str(len(DATA))}, file_record())


def busy(method, seconds, status=429):
    return (method, status, {"Retry-After": str(seconds)}, b"" if method == "HEAD" else b'{"code": "rate.limited"}')


def send_in_halves(script, **more):
    return script.client().upload(DATA, bucket="files", type="misc", name="a.txt", piece_bytes=HALF, **more)


@pytest.fixture(name="waited")
def fixture_waited(monkeypatch):
    """The waits, which take no time."""
    seconds = []
    monkeypatch.setattr("gatehouse_client.uploads.time.sleep", seconds.append)
    return seconds


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
@pytest.mark.parametrize("status, kind", [(413, InvalidRequestError), (429, RateLimitedError),
                                          (503, UnavailableError)])
def test_an_answer_with_retry_after_is_an_error_of_its_status(method, status, kind):
    with Script((method, status, {"Retry-After": "7"}, b"")) as script, pytest.raises(kind) as caught:
        script.client()._transport.send(method, "/system/version", {}, None)
    assert (caught.value.status, caught.value.code, caught.value.retry_after) == (status, f"http.{status}", 7.0)
    assert script.asked == [(method, "/system/version")]


def test_a_redirection_is_an_error_of_its_status():
    with Script(("GET", 302, {"Location": "/elsewhere"}, b"")) as script, pytest.raises(GatehouseError) as caught:
        script.client().service.get_version()
    assert caught.value.code == "http.302" and len(script.asked) == 1


@pytest.mark.parametrize("broken", [[busy("PATCH", 7), HALF_TOLD],
                                    [("PATCH", 503, {"Retry-After": "7"}, b""), HALF_TOLD],
                                    [busy("PATCH", 7), busy("HEAD", 60), HALF_TOLD]],
                         ids=["piece", "service away", "piece and question"])
def test_an_upload_waits_as_long_as_it_is_told_and_goes_on(waited, broken):
    told = []
    with Script(BEGUN, HALF_SAFE, *broken, WHOLE) as script:
        record = send_in_halves(script, progress=lambda safe, _: told.append(safe))
    assert record.id == UPLOAD and script.answers == []
    assert waited == [7.0, 60.0][:len(broken) - 1]
    assert told == [0, HALF, HALF, len(DATA)]


@pytest.mark.parametrize("status", [429, 503])
def test_an_upload_waits_before_it_has_begun_and_goes_on(waited, status):
    begun = []
    with Script(busy("POST", 7, status), busy("POST", 1), BEGUN, HALF_SAFE, WHOLE) as script:
        record = send_in_halves(script, on_begin=begun.append)
    assert record.id == UPLOAD and script.answers == [] and begun == [UPLOAD]
    assert waited == [7.0, 1.0]


def test_an_upload_that_is_never_to_begin_ends(waited):
    with Script(*[busy("POST", 60)] * 7) as script, pytest.raises(RateLimitedError):
        send_in_halves(script)
    assert waited == [60.0] * 6 and script.answers == []


@pytest.mark.parametrize("answer, kind", [(busy("POST", 61), RateLimitedError),
                                          (("POST", 429, {}, b""), RateLimitedError),
                                          (("POST", 502, {}, b""), UnavailableError),
                                          (("POST", 409, {"Retry-After": "1"}, b""), ConflictError)],
                         ids=["too long", "no word of a wait", "no answer of the service", "a conflict"])
def test_an_upload_that_could_not_begin_is_begun_again_only_where_the_service_says_when(waited, answer, kind):
    with Script(answer) as script, pytest.raises(kind):
        send_in_halves(script)
    assert waited == [] and len(script.asked) == 1


def test_an_upload_whose_beginning_was_not_answered_is_not_begun_again(waited):
    """It may have been made."""
    with Script() as script:
        client = script.client()
    with pytest.raises(UnavailableError, match="cannot be reached"):
        client.upload(DATA, bucket="files", type="misc", name="a.txt")
    assert waited == []


def test_an_upload_that_is_to_wait_too_long_ends(waited):
    with Script(BEGUN, busy("PATCH", 61)) as script, pytest.raises(RateLimitedError) as caught:
        send_in_halves(script)
    assert caught.value.retry_after == 61 and waited == [] and len(script.asked) == 2


def test_an_upload_that_is_refused_again_and_again_ends(waited):
    refusals = [answer for _ in range(7) for answer in (HALF_TOLD, busy("PATCH", 1))]
    with Script(*refusals) as script, pytest.raises(RateLimitedError):
        send_in_halves(script, resume=UPLOAD)
    assert waited == [1.0, 1.0, 2.0, 4.0, 8.0, 16.0] and script.answers == []


@pytest.mark.parametrize("reached", [0, HALF])
def test_an_upload_whose_offset_does_not_grow_ends(waited, reached):
    stays = ("PATCH", 204, {"Upload-Offset": str(reached), "X-Request-Id": "request-8"}, b"")
    with Script(HALF_TOLD, stays) as script, pytest.raises(GatehouseError) as caught:
        send_in_halves(script, resume=UPLOAD)
    assert (caught.value.code, caught.value.request_id) == ("upload.stopped", "request-8")
    assert f"at {HALF} of {len(DATA)}, and the service is at {reached}" in caught.value.message
    assert len(script.asked) == 2 and waited == []
