# SPDX-License-Identifier: MIT
"""Token, permission, announced length and quota of an upload are checked before a byte of its body is spooled, behind
each web server and in each way of handing uploads on."""

import contextlib
import http.client
import json
import select
import socket
import subprocess
import time
import uuid

import pytest

from edge.test_http2 import curl  # noqa: F401  # noqa: F401 # fixtures
from support import files, multipart, samples
from support.client import check_error
from support.programs import operator, system
from support.stack import wait_until
from support.wire import fastcgi_client
from uploads import support_spool as spool
from uploads import support_tus as tus

CONNECTIONS = 8
MIB = 1 << 20
LENGTH = 64 * MIB
INTERNAL = ("/_gatehouse_admission", "/_gatehouse_upload", "/_gatehouse_upload_unmeasured", "/_gatehouse_refused",
            "/_gatehouse_refusal", "/_gatehouse_upload_error")
CARRIED = ("WWW-Authenticate", "Retry-After", "Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
           "X-Api-Version", "Cache-Control", "X-Content-Type-Options")


def head(stack, token, length, *more, target="POST /system/files"):
    """The head of an upload; a length of None stands for chunks."""
    method, path = target.split()
    kind = "multipart/form-data; boundary=never" if target == "POST /system/files" else tus.TYPE["Content-Type"]
    lines = [f"{method} {stack.prefix}{path} HTTP/1.1", f"Host: {stack.host}", f"Content-Type: {kind}", *more,
             "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def pour(connections, chunked, seconds=3.0):
    """Sends on all connections for as long as they are taken: at most 6 MiB each."""
    block = b"x" * 65536
    if chunked:
        block = b"10000\r\n" + block + b"\r\n"
    left = {connection: 6 * MIB for connection in connections}
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        for connection in select.select([], list(left), [], 0.1)[1]:
            try:
                left[connection] -= connection.send(block)
            except OSError:
                left.pop(connection)
                continue
            if left[connection] <= 0:
                left.pop(connection)


def reply_of(connection, seconds=20):
    """The reply, whose body may be followed by a reset; None when there is none in time."""
    connection.settimeout(seconds)
    reply = http.client.HTTPResponse(connection)
    try:
        reply.begin()
        return reply.status, reply.headers, reply.read()
    except (OSError, http.client.HTTPException):
        return None


def attack(stack, token, length, status, **target):
    """Uploads on several connections at once, of each of which some MiB are sent. Nothing of them may be spooled."""
    with contextlib.ExitStack() as opened, spool.Watch(stack) as watch:
        connections = []
        for _ in range(CONNECTIONS):
            connection = opened.enter_context(socket.create_connection((stack.host, stack.port), 20))
            connection.sendall(head(stack, token, length, "Expect: 100-continue", **target))
            connections.append(connection)
        # Who waits to be asked for the body has the answer before anything of it has been sent.
        for connection in connections:
            assert select.select([connection], [], [], 60)[0], "there is no answer before the body"
        replies = [reply_of(connection) for connection in connections]
        pour(connections, length is None, 1.0)
        wait_until(lambda: watch.looks > 5, 20, "the spool to be looked at")
    assert watch.most == 0, f"{watch.most} bytes were spooled"
    for reply in replies:
        assert reply is not None and reply[0] == status, reply
        check_error(*reply, "/system/files", sent_token=token is not None, edge=True)
    return [json.loads(reply[2]) for reply in replies]


def flood(stack, token, length, _status=None, **target):
    """The same with the bodies sent at once, behind their heads."""
    with contextlib.ExitStack() as opened, spool.Watch(stack) as watch:
        connections = [opened.enter_context(socket.create_connection((stack.host, stack.port), 20))
                       for _ in range(CONNECTIONS)]
        for connection in connections:
            connection.sendall(head(stack, token, length, **target))
        pour(connections, length is None)
        wait_until(lambda: watch.looks > 5, 20, "the spool to be looked at")
    assert watch.most == 0, f"{watch.most} bytes were spooled"


@pytest.fixture(scope="module")
def full(accounts, stack):
    """The owner of a customer whose quota of files is used up."""
    account = accounts.customer()
    files.upload(account, samples.noise(1000))
    identity = account.get("/customers/me", status=200).json()["organisation"]["id"]
    operator.run(stack, "organisation", "set", identity, "--quota-files", "1")
    return account


@pytest.fixture(scope="module")
def narrow(accounts, stack):
    """The owner of a customer whose quota has room for 4 MiB."""
    account = accounts.customer()
    identity = account.get("/customers/me", status=200).json()["organisation"]["id"]
    operator.run(stack, "organisation", "set", identity, "--quota-bytes", str(4 * MIB))
    return account


@pytest.fixture()
def nothing_spooled(stack):
    """The spool is empty before the test, whatever others have left to the web server."""
    wait_until(lambda: spool.spooled(stack) == 0, 30, "the spool to be empty")


@pytest.mark.parametrize("length", [LENGTH, None], ids=["announced", "chunked"])
@pytest.mark.parametrize("way", [attack, flood], ids=["head first", "at once"])
@pytest.mark.parametrize("who, status, code", [
    ("anonymous", 401, "auth.tokenMissing"), ("false token", 401, "auth.tokenInvalid"),
    ("nobody", 403, "auth.permission"), ("full", 409, "quota.exceeded")])
@pytest.mark.usefixtures("nothing_spooled")
def test_who_may_not_upload_leaves_nothing_on_the_disk(request, stack, who, status, code, way, length):
    tokens = {"anonymous": None, "false token": "a.b.c"}
    token = tokens[who] if who in tokens else request.getfixturevalue(who).token
    kept = stack.blob_files().keys()
    for body in way(stack, token, length, status) or ():
        assert body["code"] == code, body
        if status == 403:
            assert body["body"]["required"] == "cus:file:w"
    assert stack.blob_files().keys() == kept, "bytes were left behind in the blob directory"


PIECE = "PATCH /system/uploads/01890000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("length", [LENGTH, None], ids=["announced", "chunked"])
@pytest.mark.parametrize("who, status, target, way", [
    ("anonymous", 401, PIECE, attack), ("anonymous", 401, PIECE, flood), ("nobody", 403, PIECE, attack),
    ("anonymous", 401, "POST /system/uploads", attack)], ids=["anonymous", "anonymous, at once", "nobody", "creation"])
@pytest.mark.usefixtures("nothing_spooled")
def test_who_may_not_upload_leaves_nothing_of_a_piece_on_the_disk(request, stack, who, status, target, way, length):
    token = None if who == "anonymous" else request.getfixturevalue(who).token
    way(stack, token, length, status, target=target)


@pytest.mark.parametrize("length", [LENGTH, None], ids=["announced", "chunked"])
@pytest.mark.parametrize("method, path", [
    ("PUT", "/system/files"), ("GET", "/system/files"), ("OPTIONS", "/system/files"), ("POST", "/system/files/"),
    ("POST", "/system//files"), ("POST", "/system/%66iles"), ("POST", "/system/files;x"), ("POST", "/SYSTEM/FILES"),
    ("POST", "/system/uploads/x"), ("PUT", "/system/uploads"), ("POST", "/system//uploads"),
    ("POST", "/system/%75ploads"), ("PATCH", "/system/%75ploads/x"), ("POST", "/customers/login"), ("POST", "/"),
    ("POST", "/_gatehouse_refused")])
@pytest.mark.usefixtures("nothing_spooled")
def test_what_is_no_upload_is_not_spooled_beyond_a_small_bound(stack, method, path, length):
    """Whoever it is, and whatever they call it."""
    first = head(stack, None, length).replace(f"POST {stack.prefix}/system/files ".encode(),
                                              f"{method} {stack.prefix}{path} ".encode(), 1)
    with spool.Watch(stack) as watch, socket.create_connection((stack.host, stack.port), 20) as connection:
        connection.sendall(first)
        pour([connection], length is None, 1.0)
        wait_until(lambda: watch.looks > 5, 20, "the spool to be looked at")
    assert watch.most <= 2 * MIB + 65536, f"{watch.most} bytes were spooled"


@pytest.mark.usefixtures("nothing_spooled")
def test_what_is_too_long_or_beyond_the_quota_leaves_nothing_on_the_disk(stack, keeper, narrow):
    for body in attack(stack, keeper.token, 6 << 30, 413):
        assert body["code"] == "request.tooLarge"
    for body in attack(stack, narrow.token, LENGTH, 409):
        assert body["code"] == "quota.exceeded"
    record = files.upload(narrow, samples.noise(3 * MIB))
    assert record["info"]["size"] == 3 * MIB
    assert files.send(narrow, files.form(samples.noise(3 * MIB), "more.bin"),
                      status=409).json()["code"] == "quota.exceeded"


def test_the_measure_sees_the_body_of_an_upload_that_is_allowed(stack, keeper):
    """Else the tests above would prove nothing. Unbuffered uploads are spooled only when they have no length."""
    connection = socket.create_connection((stack.host, stack.port), 20)
    with connection:
        connection.sendall(head(stack, keeper.token, None))
        pour([connection], True, 20.0)
        wait_until(lambda: spool.spooled(stack) > MIB, 20, "the web server to spool the body")
    wait_until(lambda: spool.spooled(stack) == 0, 60, "the web server to remove it")


def test_a_client_that_waits_is_not_asked_for_a_body_that_is_refused(stack, keeper):
    for token, expected in ((None, b"HTTP/1.1 401 "), (keeper.token, b"HTTP/1.1 100 ")):
        with socket.create_connection((stack.host, stack.port), 20) as connection:
            connection.sendall(head(stack, token, 3 * MIB, "Expect: 100-continue"))
            assert connection.recv(65536).startswith(expected)


@pytest.mark.parametrize("path", INTERNAL)
@pytest.mark.parametrize("method", ["get", "post"])
def test_the_internal_paths_are_unknown_outside(api, method, path):
    for way in (path, path + "?x=1", path + "/"):
        getattr(api, method)(way, status=404, code="route.unknown")


@pytest.mark.parametrize("name, value", [
    ("Gatehouse-Admission", "1"), ("GATEHOUSE_ADMISSION", "1"), ("Variable-GATEHOUSE_STATUS", "200"),
    ("GATEHOUSE_STATUS", "200"), ("Gatehouse-Announced-Length", "1"), ("Redirect-Gatehouse-Status", "409"),
    ("X-Gatehouse-Body-File", "/etc/passwd")])
def test_no_header_of_a_client_takes_the_part_of_the_web_server(stack, keeper, name, value):
    for token, status in ((None, 401), (keeper.token, 200)):
        data, mark = samples.noise(2000), multipart.boundary()
        connection = http.client.HTTPConnection(stack.host, stack.port, timeout=30)
        headers = {"Content-Type": multipart.content_type(mark), name: value}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request("POST", stack.prefix + "/system/files",
                           multipart.encode(files.form(data, "header.bin"), mark), headers)
        reply = connection.getresponse()
        body = json.loads(reply.read())
        connection.close()
        assert reply.status == status, body
        assert not [header for header in reply.headers if header.lower().startswith(("variable-", "gatehouse"))]
        if status == 200:
            assert body["info"]["hash"] == files.sha256(data)


def directly(stack, token, origin):
    """What a worker answers when it is asked without a web server."""
    headers = {"X-Request-Id": "asked-directly"} | ({"Authorization": f"Bearer {token}"} if token else {})
    headers |= {"Origin": origin} if origin else {}
    values = fastcgi_client.environment("POST", stack.prefix + "/system/files",
                                        content_type="multipart/form-data; boundary=x",
                                        content_length=5, headers=headers)
    with system.worker(stack) as worker, worker.connect(30) as connection:
        return connection.request(values, b"--x--")


def test_a_refusal_is_the_workers_own_reply_to_the_letter(stack, nobody, owner):
    """Body and headers, with and without an origin that may see them."""
    for token in (None, "a.b.c", nobody.token):
        for origin in (None, stack.cors_origins[0]):
            expected = directly(stack, token, origin)
            with socket.create_connection((stack.host, stack.port), 20) as connection:
                more = ["X-Request-Id: asked-directly"] + ([f"Origin: {origin}"] if origin else [])
                connection.sendall(head(stack, token, 5, *more) + b"--x--")
                status, headers, body = reply_of(connection)
            assert (status, body) == (expected.status, expected.body)
            assert headers["X-Request-Id"] == "asked-directly"
            assert headers["Content-Type"] == expected.headers["Content-Type"]
            for name in CARRIED:
                assert headers.get_all(name) == expected.headers.get_all(name), name


def test_a_refusal_stands_once_in_the_audit_trail_and_an_upload_once_in_the_log(stack, database, logs, nobody, keeper):
    mark, refusal, upload = logs.mark(), f"refused-{uuid.uuid4()}", f"let-in-{uuid.uuid4()}"
    with socket.create_connection((stack.host, stack.port), 20) as connection:
        connection.sendall(head(stack, nobody.token, LENGTH, f"X-Request-Id: {refusal}", "Expect: 100-continue"))
        assert reply_of(connection)[0] == 403
    rows = database.run("SELECT action, outcome, details FROM audit WHERE request_id = %s", refusal)
    assert [row[:2] for row in rows] == [("access.denied", "failure")]
    assert json.loads(rows[0][2])["operation"] == "uploadFiles"
    boundary = multipart.boundary()
    keeper.post("/system/files", data=multipart.encode(files.form(samples.noise(500), "once.bin"), boundary),
                headers={"Content-Type": multipart.content_type(boundary), "X-Request-Id": upload}, status=200)
    wait_until(lambda: logs.find(mark, upload), 10, "the log line")
    lines = [line for line in logs.find(mark, upload) if "permission" in str(line)]
    assert len(lines) == 1, lines


@pytest.mark.parametrize("size", [1, 300, 1_000_000, 9_000_000])
@pytest.mark.parametrize("way", ["with its length", "chunked"])
def test_an_honest_upload_arrives_whole(stack, keeper, size, way):
    data, mark = samples.noise(size), multipart.boundary()
    body = multipart.encode(files.form(data, f"honest-{size}-{len(way)}.bin"), mark)
    connection = http.client.HTTPConnection(stack.host, stack.port, timeout=60)
    sent = body if way == "with its length" else iter([body[at:at + 70_000] for at in range(0, len(body), 70_000)])
    connection.request("POST", stack.prefix + "/system/files", sent,
                       {"Authorization": f"Bearer {keeper.token}", "Content-Type": multipart.content_type(mark)},
                       encode_chunked=way == "chunked")
    reply = connection.getresponse()
    record = json.loads(reply.read())
    connection.close()
    assert reply.status == 200, record
    assert record["info"]["hash"] == files.sha256(data)


@pytest.mark.parametrize("way", ["with its length", "as it comes"])
def test_over_http_2_an_upload_is_checked_before_its_body(stack, curl, logs, keeper, nobody, way):  # noqa: F811
    """curl may take the end of a stream that it is still sending on for a failure, so the log tells what was
    answered."""
    options = ["--data-binary", "@-"] if way == "with its length" else ["-X", "POST", "-T", "-"]
    for token, expected in ((None, 401), (nobody.token, 403), (keeper.token, 200)):
        boundary, request_id, mark = multipart.boundary(), f"http2-{uuid.uuid4()}", logs.mark()
        body = multipart.encode(files.form(samples.noise(5_000_000), f"http2-{len(way)}.bin"), boundary)
        more = ["-H", f"Authorization: Bearer {token}"] if token else []
        with spool.Watch(stack) as watch, contextlib.suppress(subprocess.CalledProcessError):
            curl("/system/files", *more, *options, "-H", f"X-Request-Id: {request_id}", "-H",
                 f"Content-Type: {multipart.content_type(boundary)}", body=body)
        found = wait_until(lambda: logs.requests(mark, request_id), 20, "the request to be answered")
        assert [line["status"] for line in found] == [expected], found
        assert expected == 200 or watch.most == 0


# ---- the question itself, asked without a web server ---------------------------------------------------

def ask(worker, stack, parameters, role=fastcgi_client.AUTHORIZER, keep=False, took=None):
    """A question. An authoriser is sent no standard input at all, a responder an empty one. The list gets its time."""
    end = b"" if role == fastcgi_client.AUTHORIZER else fastcgi_client.record(fastcgi_client.STDIN)
    with worker.connect(20) as connection:
        connection.send(fastcgi_client.begin(keep=keep, role=role)
                        + fastcgi_client.stream(fastcgi_client.PARAMS, fastcgi_client.pairs(parameters)) + end)
        started = time.monotonic()
        answer = connection.answer()
        assert connection.socket.recv(1) == b"", "the connection is kept"
        if took is not None:
            took.append(time.monotonic() - started)
    return answer


def question(stack, method="POST", path="/system/files", token=None, length=None):
    """The parameters of a question."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    values = fastcgi_client.environment(method, stack.prefix + path, headers=headers)
    values |= {"GATEHOUSE_ANNOUNCED_LENGTH": str(length)} if length is not None else {}
    return values


def test_an_authoriser_answers_in_variables(stack, keeper, nobody, full):
    with system.worker(stack, service_max_file_bytes=1000) as worker:
        for keep in (False, True):
            took = []
            for token, length, status, code in (
                    (None, 5, 401, "auth.tokenMissing"), ("a.b.c", 5, 401, "auth.tokenInvalid"),
                    (nobody.token, 5, 403, "auth.permission"), (keeper.token, 1000 + MIB, 200, None),
                    (keeper.token, 1001 + MIB, 413, "request.tooLarge"), (keeper.token, None, 200, None),
                    (full.token, 5, 409, "quota.exceeded"), (full.token, None, 409, "quota.exceeded")):
                answer = ask(worker, stack, question(stack, token=token, length=length), keep=keep, took=took)
                assert answer.status == 200 and answer.ended and answer.body == b"", answer
                assert answer.headers["Variable-GATEHOUSE_STATUS"] == str(status), answer
                if code:
                    assert json.loads(answer.headers["Variable-GATEHOUSE_BODY"])["code"] == code
                else:
                    assert answer.headers["Variable-GATEHOUSE_USER"] == keeper.id
            # The fastest, since a busy machine only adds to it.
            assert min(took) < 1.5, "the worker waited for a body that nobody sends"


def test_an_authoriser_is_asked_about_bodies_and_about_nothing_else(stack, keeper):
    with system.worker(stack) as worker:
        for method, path in (("GET", "/system/files"), ("GET", "/customers/me"), ("POST", "/customers/logout"),
                             ("GET", "/system/version"), ("POST", "/customers/login"), ("PUT", "/system/settings")):
            answer = ask(worker, stack, question(stack, method, path, keeper.token))
            assert answer.status == 404 and b"organisation" not in answer.body, answer
        keeper.get("/customers/me", status=200)
        answer = ask(worker, stack, question(stack, path="/system/f%69les", token=keeper.token))
        assert answer.headers["Variable-GATEHOUSE_STATUS"] == "404", answer


def test_a_question_stores_nothing_whatever_follows_it(stack, keeper, nothing_kept):
    """The body of an upload behind a question, in both roles."""
    mark = multipart.boundary()
    body = multipart.encode(files.form(samples.noise(100), "question.bin"), mark)
    values = question(stack, token=keeper.token, length=len(body)) | {
        "CONTENT_TYPE": multipart.content_type(mark), "CONTENT_LENGTH": str(len(body)), "GATEHOUSE_ADMISSION": "1"}
    with system.worker(stack) as worker:
        for role in (fastcgi_client.RESPONDER, fastcgi_client.AUTHORIZER):
            with worker.connect(20) as connection:
                connection.send(fastcgi_client.begin(role=role)
                                + fastcgi_client.stream(fastcgi_client.PARAMS, fastcgi_client.pairs(values))
                                + fastcgi_client.stream(fastcgi_client.STDIN, body))
                answer = connection.answer()
            assert answer.status == 200 and answer.headers["Variable-GATEHOUSE_STATUS"] == "200" and not answer.body
        assert worker.process.poll() is None
