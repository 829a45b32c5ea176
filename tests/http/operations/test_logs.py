# SPDX-License-Identifier: MIT
"""Every request leaves one JSON line in the log folder, whatever the request holds."""

import json
import os
import re
import uuid

import pytest

from support import files, samples
from support.accounts import fresh_password, invitation
from support.programs import system
from support.stack import wait_until
from support.wire import raw

pytestmark = pytest.mark.web_server

MEMBERS = {
    "time", "level", "module", "message", "requestId", "operation", "method", "permission", "status", "outcome", "code",
    "durationMs", "pid", "userId", "organisationId", "clientAddress"
}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
HOSTILE = [
    "a\r\nb", "\u001b[31mred\u001b[0m", '"}\n{"level":"fatal"}', "\\\"", "\u2028\u2029", "\u202eevil",
    "\x7f\x80", "漢字🦊", "%s%n%x", "${jndi:ldap://x}", "x" * 5000, '","userId":"admin","x":"', "\t\t\t",
    "\u0085"
]


def fresh():
    return f"test-log-{uuid.uuid4()}"


@pytest.fixture(scope="module")
def account(accounts):
    return accounts.customer()


def test_a_line_has_the_promised_members(api, stack, logs, account):
    mark, identity = logs.mark(), fresh()
    api.get("/customers/me", token=account.token, headers={"X-Request-Id": identity}, status=200)
    entry = logs.wait(mark, identity)
    assert MEMBERS <= set(entry)
    assert TIME.match(
        entry["time"]
    ) and entry["level"] == "info" and entry["status"] == 200 and entry["userId"] == account.id
    assert entry["durationMs"] >= 0 and isinstance(entry["module"], str) and isinstance(entry["message"], str)
    assert entry["pid"] in stack.workers()
    assert entry["organisationId"] == account.organisation["id"] and entry["operation"] == "getOwnUser"
    assert entry["outcome"] == "success" and entry["code"] is None and entry["permission"] is None
    assert entry["method"] == "GET" and entry["clientAddress"] == "127.0.0.1"


@pytest.mark.parametrize("method, path, status", [("GET", "/customers/me", 401),
                                                  ("POST", "/customers/login", 415), ("GET", "/nowhere", 404),
                                                  ("PUT", "/customers/login", 405),
                                                  ("GET", "/system/files?limit=0", 401),
                                                  ("GET", "/system/version", 200),
                                                  ("HEAD", "/system/version", 200)])
def test_every_outcome_is_logged_with_its_status(api, logs, method, path, status):
    mark, identity = logs.mark(), fresh()
    api.call(method, path, headers={"X-Request-Id": identity}, status=status)
    entry = logs.wait(mark, identity)
    assert entry["status"] == status and MEMBERS <= set(entry)
    assert entry["outcome"] == ("success" if status < 400 else "failure")
    assert entry["userId"] is None and entry["organisationId"] is None


def test_a_decision_is_logged_with_who_asked_and_what_was_needed(api, logs, account, nobody):
    """Each decision leaves a line, whatever it was."""
    for one, path, permission, status in ((account, "/system/files", "cus:file:r", 200),
                                          (nobody, "/system/files", "cus:file:r", 403),
                                          (account, "/system/settings", "sys:settings:a", 403),
                                          (nobody, "/system/audit", "sys:audit:a", 403)):
        mark, identity = logs.mark(), fresh()
        api.get(path, token=one.token, headers={"X-Request-Id": identity}, status=status)
        entry = logs.wait(mark, identity)
        assert entry["userId"] == one.id and entry["permission"] == permission and entry["status"] == status
        assert entry["code"] == (None if status == 200 else "auth.permission")


def test_who_proves_to_be_somebody_is_named(api, logs, members, account):
    """The lines of paths without a token name the user once a password, code or refresh token has proven it."""
    member = members.waiting(account)
    home = account.organisation["id"]

    def line(path, sent, status=200):
        mark, identity = logs.mark(), fresh()
        reply = api.post(path, json=sent, headers={"X-Request-Id": identity}, status=status)
        entry = logs.wait(mark, identity)
        assert (entry["userId"], entry["organisationId"]) == ((member.id, home) if status == 200
                                                              else (None, None)), entry
        return reply

    confirm = {"username": member.email, "confirmationCode": member.code()}
    line("/customers/confirm-signup", {**confirm, "confirmationCode": f"{(int(member.code()) + 1) % 1000000:06d}"}, 400)
    line("/customers/confirm-signup", confirm)
    login = {"username": member.email, "password": member.password}
    line("/customers/login", {**login, "password": "not the password"}, 401)
    tokens = line("/customers/login", login).json()["tokens"]
    line("/customers/refresh", {"refreshToken": tokens["refreshToken"] + "x"}, 401)
    line("/customers/refresh", {"refreshToken": tokens["refreshToken"]})
    reset = {"username": member.id, "confirmationCode": members.reset_code(member), "newPassword": fresh_password()}
    line("/customers/reset-password", {**reset, "newPassword": "short"}, 400)
    line("/customers/reset-password", reset)


def test_a_rotated_file_is_made_anew_and_no_line_is_lost(stack, account, tmp_path):
    """What logrotate does, with every worker at it: no line is lost, and none is written twice."""
    path = tmp_path / "gatehouse.log"
    places = {"log_destination": "file", "log_file": path, "metrics_file": tmp_path / "metrics"}
    sent = []

    def call(worker):
        sent.append(fresh())
        answer = worker.call("GET", "/customers/me", token=account.token, headers={"X-Request-Id": sent[-1]})
        assert answer.status == 200
        return path.exists() and sent[-1] in path.read_text()

    with system.worker(stack, **places) as one, system.worker(stack, **places) as two:
        for number in range(3):
            for worker in (one, two, one):
                assert call(worker)
            os.rename(path, tmp_path / f"gatehouse.log.{number}")
            if number == 1:
                path.touch(0o640)
            # A process looks at the path at its first line of a second.
            for worker in (one, two):
                wait_until(lambda worker=worker: call(worker), 60, "the worker's line in the new file")
    lines = [json.loads(line) for file in tmp_path.glob("gatehouse.log*") for line in file.read_text().splitlines()]
    ours = [line["requestId"] for line in lines if "durationMs" in line and line["requestId"].startswith("test-log-")]
    assert sorted(ours) == sorted(sent)


def test_the_operation_is_the_one_of_openapi(api, document, logs, account):
    for method, path in (("GET", "/customers/me"), ("GET", "/system/files"), ("POST", "/customers/logout"),
                         ("GET", "/system/files/01890000-0000-7000-8000-000000000000/info")):
        mark, identity = logs.mark(), fresh()
        token = account.session()["accessToken"]
        api.call(method,
                 path,
                 token=token,
                 headers={"X-Request-Id": identity},
                 **({"json": {}} if method == "POST" else {}))
        assert logs.wait(mark, identity)["operation"] == document.operation(method, path)["operationId"]


def test_login_is_logged_without_the_password(api, logs, account):
    mark, identity = logs.mark(), fresh()
    api.post("/customers/login",
             json={"username": account.email, "password": account.password},
             headers={"X-Request-Id": identity},
             status=200)
    assert logs.wait(mark, identity)["status"] == 200
    assert not logs.find(mark, account.password)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_stays_one_valid_line(api, logs, account, administrator, text):
    mark = logs.mark()
    calls = []

    def call(method, path, **arguments):
        identity = fresh()
        headers = {"X-Request-Id": identity, **arguments.pop("headers", {})}
        calls.append((identity, api.call(method, path, headers=headers, **arguments).status_code))

    call("POST", "/customers/login", json={"username": text, "password": text})
    call("POST", "/customers/signup", token=administrator.token, json=invitation(firstName=text, email=text))
    call("GET", "/system/files", token=account.token, params={"name": text[:200], text[:50]: "x"})
    # What a web server may refuse in a header is sent by hand below.
    safe = "".join(letter for letter in text if letter.isprintable() or letter == "\u202e").strip() or "x"
    call("GET",
         "/customers/me",
         token=account.token,
         headers={
             "User-Agent": safe.encode()[:1000], "X-Hostile": safe.encode()[:1000],
             "Referer": safe.encode()[:1000]
         })
    parts = files.form(samples.text(), text[:200], tags=[text[:40]])
    files.send(account, parts)
    for identity, status in calls:
        assert logs.wait(mark, identity)["status"] == status
    check_lines(logs, mark)


def test_a_hostile_request_line_stays_one_valid_line(api, stack, logs):
    mark, identity = logs.mark(), fresh()
    api.get("/system/version", headers={"X-Request-Id": identity}, status=200)
    for path in (b"/%0d%0a%00", b"/\xff\xfe", b"/%1b%5b31m", b'/"}%0a{"level":"fatal"}', b"/" + b"%22" * 600,
                 b"/x?%0a=%0d&\xff=\xfe"):
        raw.exchange(stack,
                     b"GET " + path +
                     b" HTTP/1.1\r\nHost: localhost\r\nUser-Agent: \x1b[31m\xff\r\nConnection: close\r\n\r\n")
    logs.wait(mark, identity)
    check_lines(logs, mark)


def check_lines(logs, mark):
    """Every new line of a file of JSON lines is one JSON object in strict JSON, of at most 8 KiB."""
    seen = 0
    for path, data in logs.since(mark).items():
        if not data.lstrip().startswith(b"{"):
            continue
        for line in data.split(b"\n")[:-1]:
            entry = json.loads(line.decode("utf-8"))
            assert isinstance(
                entry,
                dict) and {"time", "level", "module", "message"} <= set(entry), f"{path}: {line!r:.300}"
            assert len(line) <= 8192 and not re.search(rb"[\x00-\x1f\x7f]", line), f"{path}: {line!r:.300}"
            seen += 1
    assert seen, "no JSON lines were written"


def test_a_log_line_never_names_where_a_file_lies(api, stack, logs, account):
    mark = logs.mark()
    record = files.upload(account, samples.text(), "a.txt")
    files.download(account, record["id"], status=200)
    assert not logs.find(mark, "X-Accel-Redirect")
