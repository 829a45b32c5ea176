# SPDX-License-Identifier: MIT
"""Fourteen secrets go through every flow of accounts and files while everything is logged: none of them is found in a
log, in the audit trail, in an error body, on a command line or in what the outbox keeps.

The flows run on a worker and a job runner of the tests' own, which know the database and a mail server by passwords."""

import base64
import contextlib
import ctypes
import ctypes.util
import hashlib
import hmac
import json
import os
import re
import subprocess
import uuid

import pytest

from support import mail, multipart, samples, settings
from support.accounts import fresh_email, fresh_password
from support.multipart import Part
from support.programs import crash, system
from support.stack import wait_until

DATABASE_USER = "gatehouse_canary"
SMTP_USER = "canary@mail.example"


class Scene:
    """The worker, what was found out on the way, and every error body."""

    def __init__(self, stack, worker, server, administrator, marker):
        self.stack, self.worker, self.server = stack, worker, server
        self.token, self.marker = administrator.token, marker
        self.secrets, self.codes, self.errors, self.calls = {}, {}, [], 0

    def call(self, method, path, body=None, token=None, status=200, content_type="application/json", **headers):
        """One request; the parsed body, or the bytes where it is none."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.worker.call(method,
                                  self.stack.prefix + path,
                                  token=token,
                                  body=data,
                                  content_type=content_type if data else None,
                                  headers=headers)
        assert answer.ended and answer.status == status, f"{method} {path}: {answer}"
        self.calls += 1
        if status >= 400:
            self.errors.append(answer.output)
        with contextlib.suppress(ValueError):
            return json.loads(answer.body)
        return answer.body

    def keep(self, name, text):
        """A secret that must be found nowhere."""
        assert len(text) >= 12, name
        self.secrets.setdefault(name, set()).add(text)
        return text

    def keep_tokens(self, tokens):
        for name in ("accessToken", "idToken", "refreshToken"):
            self.keep(name, tokens[name])
            # The signature alone identifies a token, however it is cut.
            self.keep(name, tokens[name].split(".")[-1])
        return tokens

    def keep_body(self, message):
        """The lines of a mail that say something."""
        for line in mail.lines(message):
            if len(line) > 30 and "://" not in line:
                self.keep("mail body", line)
        return message

    def keep_code(self, name, message):
        code = mail.code(self.keep_body(message))
        self.codes.setdefault(name, set()).add(code)
        return code


# ---- the flows -------------------------------------------------------------------------------------------


def wrong_ways(scene, username, password):
    """What people and programs do with a password in the wrong place."""
    login = "/customers/login"
    scene.call("POST", login, {"username": password[:254], "password": password}, status=401)
    scene.call("POST", login, {"username": username, "password": [password]}, status=400)
    scene.call("POST", login, b'{"username":"a","password":"' + password.encode() + b'"', status=400)
    scene.call("POST", login, f"username={username}&password={password}".encode(), status=415,
               content_type="application/x-www-form-urlencoded")
    quoted = password.replace(" ", "%20")
    scene.call("POST", f"{login}?password={quoted}", {"username": username, "password": password + "x"}, status=400)
    scene.call("GET", f"/customers/{quoted}", status=404)
    scene.call("GET", "/customers/me", status=401, Authorization=f"Basic {password}")
    scene.call("GET", "/customers/me", token=password, status=401)
    scene.call("GET", "/system/version", **{"X-Request-Id": quoted.replace("%20", "")[:100], "User-Agent": password,
                                            "Cookie": f"session={quoted}"})


def owner_flows(scene):
    """The owner's way in; returns the tokens and the address."""
    sent = {"organisation": {"name": f"Canary {scene.marker} Ltd"}, "email": fresh_email("canary"),
            "firstName": scene.marker, "lastName": "Owner"}
    scene.call("POST", "/customers/signup", sent, token=scene.token)
    scene.call("POST", "/customers/signup", sent, token=scene.token, status=409)
    first = scene.keep("temporary password", mail.temporary_password(scene.keep_body(scene.server.wait(sent["email"]))))
    scene.call("POST", "/customers/resend-confirmation", {"username": sent["email"]})
    second = mail.temporary_password(scene.keep_body(scene.server.wait(sent["email"], 2)))
    scene.keep("temporary password", second)
    login = {"username": sent["email"], "password": second}
    scene.call("POST", "/customers/login", {**login, "password": first}, status=401)
    scene.call("POST", "/customers/login", login, status=400)
    scene.call("POST", "/customers/login", {**login, "newPassword": second}, status=400)
    password = scene.keep("password", fresh_password("Canary one"))
    tokens = scene.call("POST", "/customers/login", {**login, "newPassword": password})["tokens"]
    wrong_ways(scene, sent["email"], password)
    scene.call("POST", "/customers/login", {**login, "password": password, "newPassword": password + "x"}, status=400)
    return scene.keep_tokens(tokens), sent["email"], password


def password_flows(scene, tokens, address, password):
    """Every way to change a password; returns the tokens that are left."""
    access, newer = tokens["accessToken"], scene.keep("new password", fresh_password("Canary two"))
    change = "/customers/change-password"
    scene.call("POST", change, {"password": password + "x", "newPassword": newer}, token=access, status=400)
    scene.call("POST", change, {"password": password, "newPassword": "short"}, token=access, status=400)
    scene.call("POST", change, {"password": password, "newPassword": newer}, token=access)
    scene.keep_body(wait_until(lambda: scene.server.messages(address)[2:3], mail.PATIENCE_SECONDS,
                               "word of the change")[0])
    scene.call("POST", "/customers/forgotten-password", {"username": address})
    code = scene.keep_code("reset code", scene.server.wait(address, 4))
    reset = {"username": address, "confirmationCode": code, "newPassword": scene.keep("new password",
                                                                                      fresh_password("Third"))}
    scene.call("POST", "/customers/reset-password", {**reset, "confirmationCode": other(code)}, status=400)
    scene.call("POST", "/customers/reset-password", {**reset, "newPassword": "short"}, status=400)
    scene.call("POST", "/customers/reset-password", reset)
    scene.call("GET", "/customers/me", token=access, status=401)
    login = {"username": address, "password": reset["newPassword"]}
    tokens = scene.keep_tokens(scene.call("POST", "/customers/login", login)["tokens"])
    renewed = scene.call("POST", "/customers/refresh", {"refreshToken": tokens["refreshToken"]})["tokens"]
    scene.call("POST", "/customers/refresh", {"refreshToken": renewed["refreshToken"] + "x"}, status=401)
    scene.call("POST", "/customers/refresh", {"refreshToken": renewed["accessToken"]}, status=401)
    scene.call("GET", f"/customers/me?access_token={renewed['accessToken']}", status=401)
    scene.call("GET", "/customers/me", token=renewed["idToken"], status=401)
    return scene.keep_tokens(renewed)


def other(code):
    return f"{(int(code) + 1) % 1000000:06d}"


def member_flows(scene, tokens):
    """Team members: made, confirmed, changed, given passwords by an administrator, signed out."""
    access, users = tokens["accessToken"], "/customers/organisations/users"
    password = scene.keep("password", fresh_password("Canary member"))
    sent = {"email": fresh_email("canary"), "password": password, "firstName": scene.marker, "lastName": "Member"}
    user = scene.call("POST", users, sent, token=access)["user"]
    code = scene.keep_code("confirmation code", scene.server.wait(sent["email"]))
    scene.call("POST", "/customers/resend-confirmation", {"username": user["id"]})
    newer = scene.keep_code("confirmation code", scene.server.wait(sent["email"], 2))
    confirm = {"username": user["id"], "confirmationCode": newer}
    if code != newer:
        scene.call("POST", "/customers/confirm-signup", {**confirm, "confirmationCode": code}, status=400)
    scene.call("POST", "/customers/confirm-signup", confirm)
    scene.call("POST", "/customers/confirm-signup", confirm, status=400)
    login = {"username": user["id"], "password": password}
    theirs = scene.keep_tokens(scene.call("POST", "/customers/login", login)["tokens"])
    scene.call("POST", "/customers/signup", {}, token=theirs["accessToken"], status=403)
    scene.call("POST", "/customers/logout", {}, token=theirs["accessToken"])
    scene.call("POST", "/customers/logout", {}, token=theirs["accessToken"], status=401)
    for permanent in (False, True):
        given = scene.keep("password", fresh_password("Canary given"))
        scene.call("POST", "/customers/admin-set-password",
                   {"username": user["id"], "password": given, "permanent": permanent}, token=scene.token)
    scene.call("POST", "/customers/admin-set-password", {"username": user["id"], "password": "password"},
               token=scene.token, status=400)
    scene.call("PATCH", f"{users}/{user['id']}", {"lastName": "Renamed", "permissions": ["cus:file:r"]}, token=access)
    scene.call("PATCH", f"{users}/{user['id']}", {"status": "disabled"}, token=access)
    scene.call("POST", "/customers/login", {**login, "password": given}, status=401)
    scene.call("GET", users, token=access)
    scene.call("POST", "/customers/authorise", {"permission": "cus:file:r", "userId": user["id"]}, token=scene.token)


def upload(scene, token, data, name, status=200, **fields):
    mark = multipart.boundary()
    parts = [Part("bucket", "files"), Part("type", "misc"), Part("file", data, name)]
    body = multipart.encode(parts + [Part(key, value) for key, value in fields.items()], mark)
    return scene.call("POST", "/system/files", body, token=token, status=status,
                      content_type=multipart.content_type(mark))


def file_flows(scene, tokens):
    """A file's whole life, and links to it."""
    access, data = tokens["accessToken"], samples.text()
    record = upload(scene, access, data, "canary.txt")
    upload(scene, access, data, "canary.txt", status=409)
    upload(scene, access, b"", "empty.txt", status=400)
    upload(scene, access, data, "other.txt", status=400, password=next(iter(scene.secrets["password"])))
    path = f"/system/files/{record['id']}"
    scene.call("GET", path, token=access)
    scene.call("GET", f"{path}/info", token=access)
    scene.call("PATCH", path, {"tags": ["canary"]}, token=access)
    link = scene.call("POST", f"{path}/link", {"expiresIn": 600}, token=access)["url"]
    secret = scene.keep("link token", link.rsplit("/", 1)[1])
    scene.call("GET", f"/system/links/{secret}")
    scene.call("GET", f"/system/links/{secret[:-1] + ('A' if secret[-1] != 'A' else 'B')}", status=403)
    scene.call("GET", f"/system/links/{secret}/more", status=404)
    scene.call("DELETE", path, token=access)
    scene.call("GET", f"/system/links/{secret}", status=403)
    scene.call("POST", f"{path}/restore", token=access)
    scene.call("GET", "/system/files", token=access)


def service_flows(scene):
    for path in ("/system/version", "/system/health/live", "/system/health/ready", "/.well-known/jwks.json",
                 "/system/openapi.json"):
        scene.call("GET", path)
    scene.call("GET", "/system/audit", token=scene.token)
    scene.call("GET", "/system/settings", token=scene.token)
    scene.call("PUT", "/system/settings", {"logging": {"filter": next(iter(scene.secrets["password"]))}},
               token=scene.token, status=400)
    scene.call("PUT", "/system/settings", {"logging": {"level": "trace"}}, token=scene.token)


# ---- the stage -------------------------------------------------------------------------------------------


def unseal(master, purpose, sealed):
    """What src/codec/seal.c has sealed."""
    key = hmac.new(master, f"gatehouse seal 1:{purpose}".encode(), hashlib.sha256).digest()
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
    opened, size = ctypes.create_string_buffer(len(sealed)), ctypes.c_ulonglong()
    wrong = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(opened, ctypes.byref(size), None, sealed[25:],
                                                              ctypes.c_ulonglong(len(sealed) - 25), purpose.encode(),
                                                              ctypes.c_ulonglong(len(purpose)), sealed[1:25], key)
    assert wrong == 0, "the signing key does not open with the secret file"
    return opened.raw[:size.value]


def configured(stack, name):
    """A value of gatehouse.conf."""
    with open(stack.configuration, encoding="utf-8") as file:
        return re.search(rf"^{name} = (.*)$", file.read(), re.MULTILINE)[1]


def keep_keys(scene, stack, database):
    """The service's own secrets."""
    with open(configured(stack, "secret_file"), encoding="ascii") as file:
        master = scene.keep("master secret", file.read().strip())
    raw = bytes.fromhex(master)
    scene.keep("master secret", base64.b64encode(raw).decode())
    for kid, sealed in database.run("SELECT kid, private_key_sealed FROM identity_signing_key"):
        lines = unseal(raw, f"signing-key:{kid}", sealed).decode().split("\n")
        assert "PRIVATE KEY" in lines[0]
        for line in lines[1:]:
            if len(line) == 64:
                scene.keep("signing key", line)


@pytest.fixture(scope="module")
def scene(stack, administrator, database, members, tmp_path_factory):
    """Everything has happened."""
    from security import support_smtp as smtp
    folder = tmp_path_factory.mktemp("canaries")
    passwords = {name: f"canary-{name}-{uuid.uuid4().hex}" for name in ("database", "smtp")}
    for name, text in passwords.items():
        (folder / name).write_text(text + "\n")
    database.run(f"CREATE OR REPLACE USER {DATABASE_USER}@localhost IDENTIFIED BY '{passwords['database']}'")
    database.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON `{stack.database['name']}`.* TO {DATABASE_USER}@localhost")
    members.await_jobs()
    with smtp.Server() as server, settings.of(administrator, level="trace"), crash.paused_jobs(stack):
        more = {
            "database_user": DATABASE_USER, "database_password_file": folder / "database", "mail_transport": "smtp",
            "mail_smtp_url": f"smtp://127.0.0.1:{server.port}", "mail_smtp_user": SMTP_USER, "mail_smtp_tls": "none",
            "mail_smtp_password_file": folder / "smtp", "log_destination": "file", "log_file": folder / "gatehouse.log",
            "log_level": "trace", "metrics_file": folder / "metrics"
        }
        environment = {**os.environ, **{f"GATEHOUSE_{name.upper()}": str(value) for name, value in more.items()}}
        with open(folder / "jobs.err", "wb") as errors:
            runner = subprocess.Popen([stack.ctl, "--config", stack.configuration, "jobs"], env=environment,
                                      stderr=errors)
        try:
            with system.worker(stack, **more) as worker:
                scene = Scene(stack, worker, server, administrator, f"Canary{uuid.uuid4().hex[:12]}")
                try:
                    played = play(scene, folder, passwords, database, runner)
                except AssertionError as late:
                    raise AssertionError(f"{late}; {state_of_jobs(folder, database, runner)}") from late
                yield played
        finally:
            runner.terminate()
            runner.wait(60)
            database.run(f"DROP USER {DATABASE_USER}@localhost")


def state_of_jobs(folder, database, runner):
    """What a failure must tell: whether the test's own job runner lives, its last log lines, and the last jobs."""
    lines = [line for line in (folder / "gatehouse.log").read_text(encoding="utf-8").splitlines()
             if f'"pid":{runner.pid},' in line]
    jobs = database.run("SELECT id, kind, status, attempts, next_attempt_at, last_error"
                        " FROM outbox ORDER BY id DESC LIMIT 6")
    return "\n".join([f"the job runner's exit status: {runner.poll()}; its standard error:",
                      (folder / "jobs.err").read_text(encoding="utf-8"), *lines[-60:], "the last jobs:",
                      *map(str, jobs)])


def play(scene, folder, passwords, database, runner):
    scene.began = database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]
    scene.folder, scene.runner = folder, runner
    scene.keep("database password", passwords["database"])
    scene.keep("smtp password", passwords["smtp"])
    keep_keys(scene, scene.stack, database)
    scene.keep("mail body", scene.marker)
    tokens, address, password = owner_flows(scene)
    tokens = password_flows(scene, tokens, address, password)
    member_flows(scene, tokens)
    file_flows(scene, tokens)
    service_flows(scene)
    scene.call("POST", "/customers/logout", {"everywhere": True}, token=tokens["accessToken"])
    wait_until(lambda: not database.run("SELECT 1 FROM outbox WHERE status = 'waiting'"), 60, "the outbox to be empty")
    return scene


def leaks(scene, data, names=None):
    """The names of the secrets that the bytes hold."""
    found = {name for name, texts in scene.secrets.items() for text in texts if text.encode() in data}
    return found & names if names else found


def texts_of(value):
    """Every text of a parsed log line or audit row."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def code_leaks(scene, value):
    """The names of the codes that stand alone in a text. An id or a time may hold six digits that are none."""
    return {
        name for name, codes in scene.codes.items() for code in codes for text in texts_of(value)
        if re.search(rf"(?<![0-9A-Za-z.:-]){code}(?![0-9A-Za-z.:-])", text)
    }


# ---- what is found ---------------------------------------------------------------------------------------


def test_there_are_fourteen_secrets_and_they_were_used(scene):
    names = set(scene.secrets) | set(scene.codes)
    assert names == {
        "password", "new password", "temporary password", "confirmation code", "reset code", "accessToken", "idToken",
        "refreshToken", "link token", "database password", "smtp password", "master secret", "signing key", "mail body"
    }
    assert len(names) == 14
    assert (SMTP_USER, next(iter(scene.secrets["smtp password"]))) in scene.server.credentials
    assert scene.calls > 70 and len(scene.errors) > 25, (scene.calls, len(scene.errors))


def test_the_search_finds_what_is_there(scene):
    mails = b"".join(scene.server.received)
    assert {"temporary password", "mail body"} <= leaks(scene, mails.replace(b"=\r\n", b""))
    assert "smtp password" in leaks(scene, (scene.folder / "smtp").read_bytes())
    for name, codes in scene.codes.items():
        assert code_leaks(scene, {"detail": [f"the code {next(iter(codes))} is wrong"]}) == {name}


def test_none_is_in_the_log(scene):
    lines = 0
    for path in (scene.folder / "gatehouse.log", scene.folder / "jobs.err", scene.worker.log):
        data = open(path, "rb").read()
        assert not leaks(scene, data), path
        for line in data.splitlines():
            entry = json.loads(line)
            assert not code_leaks(scene, entry), line
            lines += 1
    assert lines > 100
    levels = {json.loads(line)["level"] for line in open(scene.folder / "gatehouse.log", "rb")}
    assert {"info", "debug"} <= levels, levels


def test_none_is_in_the_log_folder_of_the_stack(scene, logs):
    for path in logs.files():
        with open(path, "rb") as file:
            assert not leaks(scene, file.read()), path


def test_none_is_in_the_audit_trail(scene, database):
    rows = database.run("SELECT action, target_type, target_id, client_address, request_id, outcome, details FROM "
                        "audit")
    assert len(rows) > 30
    for row in rows:
        told = [value.decode() if isinstance(value, bytes) else value for value in row if value is not None]
        # The request id is what a client has sent in the header for it.
        assert not leaks(scene, "\n".join(told[:4] + told[-2:]).encode()), row[0]
        assert not code_leaks(scene, told), row[0]


def test_none_is_in_an_error_body(scene):
    for answer in scene.errors:
        assert not leaks(scene, answer), answer[:600]
        body = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert not code_leaks(scene, body), body


def test_none_is_on_a_command_line_or_in_an_environment(scene):
    seen = 0
    for pid in {*scene.stack.processes(), scene.worker.process.pid, scene.runner.pid}:
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
                assert not leaks(scene, file.read()), f"{pid} {name}"
                seen += 1
    assert seen >= 6


def test_none_is_left_in_the_outbox_or_in_the_open_in_a_table(scene, database):
    for payload, in database.run("SELECT payload FROM outbox WHERE id > %s AND status = 'done'", scene.began):
        assert payload in (b"", ""), "a payload is kept after the job is done"
    names = set(scene.secrets) - {"mail body"}
    for table in database.tables():
        for row in database.run(f"SELECT * FROM `{table}`"):
            data = b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in row)
            assert not leaks(scene, data, names), table
