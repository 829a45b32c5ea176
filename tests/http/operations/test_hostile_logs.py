# SPDX-License-Identifier: MIT
"""A thousand hostile texts through every place of a request: each leaves one valid line of the log, whatever it
holds. They are sent to a worker of the tests' own, without a web server that would soften them."""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid

from support.wire import fastcgi_client
import pytest

from operations import support_hostile as hostile
from support import multipart, settings
from support.multipart import Part
from support.programs import crash, system
from support.stack import wait_until

CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
ALWAYS = {"time", "level", "module", "pid", "message"}
REQUEST = ALWAYS | {"requestId", "operation", "userId", "organisationId", "method", "status", "outcome", "durationMs"}


@pytest.fixture(scope="module")
def texts():
    return hostile.texts()


@pytest.fixture()
def loud(administrator):
    """Everything is logged."""
    with settings.of(administrator, level="trace"):
        yield


@pytest.fixture()
def worker(stack, loud, tmp_path):
    assert loud is None
    path = str(tmp_path / "gatehouse.log")
    with system.worker(stack, log_destination="file", log_file=path, log_level="trace",
                       metrics_file=str(tmp_path / "metrics")) as started:
        started.path_of_log = path
        yield started


def strict(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return dict(pairs)


def refuse(word):
    raise AssertionError(f"{word} is not JSON")


def entries(path):
    """The log's lines, each checked to the letter."""
    with open(path, "rb") as file:
        data = file.read()
    assert data.endswith(b"\n")
    found = []
    for line in data.split(b"\n")[:-1]:
        assert len(line) < hostile.LINE and not CONTROL.search(line), line[:300]
        text = line.decode("utf-8", "strict")
        assert "\u2028" not in text and "\u2029" not in text and not re.search("[\x80-\x9f]", text)
        entry = json.loads(text, object_pairs_hook=strict, parse_constant=refuse)
        assert ALWAYS <= set(entry) and entry["message"] != "forged", text[:300]
        found.append(entry)
    return found


def ask(worker, parameters, body=b""):
    """One request with these parameters over the usual ones; it must be answered, and not with a 5xx."""
    values = fastcgi_client.environment("GET", "/system/version", body=body)
    values.update(parameters)
    with worker.connect() as connection:
        answer = connection.request(values, body)
    assert answer.ended and 200 <= answer.status < 500, (parameters, answer)
    return answer


def sendable(text):
    """As a parameter: a web server has none with a NUL, and the connection that brings one is dropped."""
    return text.replace(b"\0", b"%00")


def in_the_line(text, _):
    text = sendable(text)
    return {"REQUEST_URI": b"/" + text, "SCRIPT_NAME": b"/" + text, "DOCUMENT_URI": text, "QUERY_STRING": text}, b""


def in_the_headers(text, _):
    text = sendable(text)
    names = ("HTTP_X_REQUEST_ID", "HTTP_USER_AGENT", "HTTP_REFERER", "HTTP_X_FORWARDED_FOR", "HTTP_COOKIE",
             "HTTP_ORIGIN",
             "HTTP_IF_NONE_MATCH", "HTTP_ACCEPT", "HTTP_HOST", "CONTENT_TYPE", "REMOTE_USER", "REMOTE_ADDR")
    return {name: text for name in names}, b""


def in_the_token(text, _):
    return {"REQUEST_METHOD": "GET", "REQUEST_URI": "/customers/me",
            "HTTP_AUTHORIZATION": b"Bearer " + sendable(text)}, b""


def in_the_query(text, token):
    query = urllib.parse.urlencode([("name", text[:1000]), (text[:300], text[:300]), ("cursor", text[:300])])
    return {"REQUEST_URI": f"/system/files?{query}", "QUERY_STRING": query,
            "HTTP_AUTHORIZATION": f"Bearer {token}"}, b""


def in_the_document(text, token):
    """As it is, and as a program would escape it, in a value and in a name."""
    told = json.dumps(text.decode("latin-1")).encode()
    body = b'{"logging":{"level":' + told + b',"filter":' + told + b"}," + told + b':"' + text + b'"}'
    return {
        "REQUEST_METHOD": "PUT", "REQUEST_URI": "/system/settings", "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)), "HTTP_AUTHORIZATION": f"Bearer {token}", "HTTP_IF_MATCH": sendable(text)
    }, body


def in_the_names(text, token):
    """The names and fields of an upload."""
    mark = multipart.boundary()
    parts = [
        Part("bucket", "files"),
        Part("type", text[:100]),
        Part("file", b"bytes", text[:250]),
        Part("name", text[:250]),
        Part("tags", text[:64]),
        Part(text[:100], text[:100])
    ]
    body = multipart.encode(parts, mark)
    return {
        "REQUEST_METHOD": "POST", "REQUEST_URI": "/system/files", "CONTENT_TYPE": multipart.content_type(mark),
        "CONTENT_LENGTH": str(len(body)), "HTTP_AUTHORIZATION": f"Bearer {token}"
    }, body


def in_the_multipart_head(text, token):
    mark = multipart.boundary()
    body = multipart.encode([Part("x", b"y", headers=b"Content-Disposition: form-data; name=\"file\"; filename=\""
                                  + text)], mark)
    return {
        "REQUEST_METHOD": "POST", "REQUEST_URI": "/system/files", "CONTENT_TYPE": multipart.content_type(mark),
        "CONTENT_LENGTH": str(len(body)), "HTTP_AUTHORIZATION": f"Bearer {token}"
    }, body


PLACES = [in_the_line, in_the_headers, in_the_token, in_the_query, in_the_document, in_the_names, in_the_multipart_head]


@pytest.mark.parametrize("place", PLACES, ids=[place.__name__ for place in PLACES])
def test_a_thousand_hostile_texts_leave_a_thousand_valid_lines(worker, administrator, texts, place):
    token = administrator.token
    before = len([entry for entry in entries(worker.path_of_log) if entry["message"] == "request"])
    for text in texts:
        parameters, body = place(text, token)
        ask(worker, parameters, body)
    found = [entry for entry in entries(worker.path_of_log) if entry["message"] == "request"]
    assert len(found) - before == len(texts)
    assert all(REQUEST <= set(entry) for entry in found)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{8,128}", entry["requestId"]) for entry in found)


def test_hostile_names_at_the_login_stay_in_their_lines(worker, texts):
    """Fewer of them: each is checked at the cost of a password."""
    for text in texts[::20]:
        body = json.dumps({"username": text.decode("latin-1")[:254],
                           "password": text.decode("latin-1")[:1000]}).encode()
        ask(worker, {
            "REQUEST_METHOD": "POST", "REQUEST_URI": "/customers/login", "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body))
        }, body)
    assert len(entries(worker.path_of_log)) >= len(texts[::20])


# A mail server that puts every recipient off with the next hostile text, on as many lines as that has.
RELUCTANT_SERVER = r"""
import socket, sys
sys.path.insert(0, sys.argv[1])
import support_hostile as hostile
texts = iter(hostile.texts()[::7] * 100)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    with client, client.makefile("rb") as lines:
        client.sendall(b"220 ready\r\n")
        for line in lines:
            word = line[:4].upper()
            try:
                if word == b"RCPT":
                    client.sendall(b"450 " + next(texts).replace(b"\n", b"\r\n450 ") + b"\r\n")
                    break
                client.sendall(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            except OSError:
                break
"""


@pytest.fixture()
def reluctant():
    """The port of such a server."""
    server = subprocess.Popen([sys.executable, "-c", RELUCTANT_SERVER, os.path.dirname(__file__)],
                              stdout=subprocess.PIPE,
                              text=True)
    yield int(server.stdout.readline())
    server.kill()
    server.wait()


def test_what_a_hostile_mail_server_answers_stays_in_its_line(stack, accounts, members, database, loud, reluctant,
                                                              tmp_path):
    assert loud is None
    members.await_jobs()
    log = tmp_path / "jobs.log"
    environment = {
        **os.environ, "GATEHOUSE_MAIL_TRANSPORT": "smtp", "GATEHOUSE_MAIL_SMTP_TLS": "none",
        "GATEHOUSE_MAIL_SMTP_URL": f"smtp://127.0.0.1:{reluctant}", "GATEHOUSE_LOG_FILE": str(log),
        "GATEHOUSE_METRICS_FILE": str(tmp_path / "metrics")
    }
    with crash.paused_jobs(stack):
        people = [uuid.UUID(accounts.sign_up()["user"]["id"]).bytes for _ in range(6)]
        runner = subprocess.Popen([stack.ctl, "--config", stack.configuration, "jobs"], env=environment)
        try:

            def refused():
                """Each mail is tried again at once, as often as it takes."""
                for one in people:
                    database.run("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3), attempts = 0 WHERE user_id = %s"
                                 " AND kind = 'mail' AND status = 'waiting' AND attempts BETWEEN 1 AND 5", one)
                return log.exists() and log.read_bytes().count(b'"mail not sent"') >= 60

            wait_until(refused, 60, "sixty answers of the mail server in the log")
        finally:
            runner.terminate()
            runner.wait(60)
            for one in people:
                database.run("DELETE FROM outbox WHERE user_id = %s", one)
    found = [entry for entry in entries(log) if entry["message"] == "mail not sent"]
    assert len(found) >= 60 and all(entry["module"] == "mail" and entry["reason"] for entry in found)
