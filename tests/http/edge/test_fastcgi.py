# SPDX-License-Identifier: MIT
"""The worker's own socket: no peer makes the worker run a request that nobody sent, borrow an identity, or
keep others waiting."""

import concurrent.futures
import contextlib
import json
import socket
import threading
import time
import uuid

import pytest

from edge import fastcgi_attacks
from support import samples
from support.client import check_error
from support.programs import system
from support.stack import wait_until
from support.wire import fastcgi_client, raw
from support.wire.fastcgi_client import PARAMS, STDIN, begin, environment, pairs, record, stream

FLOOR = 34
ROWS = fastcgi_attacks.build("")
BOUNDARY = 8192
# For so long a busy machine may delay an answer. A worker that is held is so for its io_timeout, 60 s.
STALL_SECONDS = 25


@pytest.fixture(scope="module", autouse=True)
def has_socket(stack):
    if not stack.socket:
        pytest.skip("this web server starts the workers itself; there is no socket to talk to")


def honest(api, seconds):
    """An honest request through the web server is answered; deadlines of the workers' own may take the given time."""
    started = time.monotonic()
    reply = api.get("/system/version", status=200, timeout=60)
    taken = time.monotonic() - started
    assert taken <= seconds + STALL_SECONDS, f"an honest request waited {taken:.1f} s"
    return reply


def test_the_client_speaks_fastcgi(stack, keeper):
    with fastcgi_client.Connection(stack.socket) as connection:
        answer = connection.request(
            environment("GET",
                        stack.prefix + "/customers/me",
                        headers={"Authorization": f"Bearer {keeper.token}"}))
    assert answer.status == 200 and answer.ended and answer.protocol_status == 0 and keeper.id.encode(
    ) in answer.body


@pytest.mark.parametrize("path", ["/system/version", "/system/openapi.json"])
@pytest.mark.parametrize("padding", [0, 9000, 20000], ids=lambda size: f"head{size}")
def test_an_answer_is_whole_although_the_worker_closes_at_once(stack, path, padding):
    """Requests without a body: the end of the connection follows the last record, and nothing is reset before it."""
    values = environment("GET", stack.prefix + path, headers={"X-Padding": "x" * padding})
    for end in (stream(STDIN, b""), stream(STDIN, b"") + record(STDIN, b"more"), b""):
        for _ in range(20 if end else 1):
            with fastcgi_client.Connection(stack.socket) as connection:
                connection.send(begin() + stream(PARAMS, pairs(values)) + end)
                answer = connection.answer()
                assert answer.status == 200 and answer.ended and json.loads(answer.body), answer
                if end == stream(STDIN, b""):
                    assert connection.socket.recv(1) == b""


def test_the_table_is_as_long_as_promised_and_names_are_unique():
    names = [name for name, _ in ROWS]
    assert len(names) == len(set(names)) >= FLOOR


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[name for name, _ in ROWS])
def test_a_raw_attack_gains_nothing_and_delays_nobody(stack, api, number):
    _, chunks = fastcgi_attacks.build(stack.prefix)[number]
    with fastcgi_client.Connection(stack.socket, 10.0) as connection:
        for chunk in chunks:
            if not connection.send(chunk):
                break
        answers = connection.drain(0.25)
    output = b"".join(content for kind, _, content in answers if kind == fastcgi_client.STDOUT)
    assert b"Status: 200" not in output and b'"organisation"' not in output, output[:300]
    assert b"\r\nX-Injected" not in output and b"\nX-Injected" not in output
    honest(api, 0)


def test_after_all_attacks_every_worker_serves(stack, api, keeper):
    for _ in range(24):
        keeper.get("/customers/me", status=200)
    assert len(stack.workers()) >= 2


def test_one_worker_survives_every_attack(stack):
    """Its process is the same one before and after each row; it is not started anew by a supervisor."""
    with system.worker(stack, service_requests_per_worker=100000) as worker:
        for name, chunks in fastcgi_attacks.build(stack.prefix):
            with worker.connect(10) as connection:
                for chunk in chunks:
                    if not connection.send(chunk):
                        break
                connection.end()
                connection.drain(5)
            assert worker.process.poll() is None, f"the worker ended at: {name}"
        assert worker.call("GET", stack.prefix + "/system/version", timeout=30).status == 200
        assert worker.process.poll() is None


@pytest.mark.parametrize("asked, answer", [
    (["FCGI_MAX_CONNS", "FCGI_MAX_REQS", "FCGI_MPXS_CONNS"],
     [("FCGI_MAX_CONNS", "1"), ("FCGI_MAX_REQS", "1"), ("FCGI_MPXS_CONNS", "0")]),
    (["FCGI_MPXS_CONNS"] * 28, [("FCGI_MPXS_CONNS", "0")]), (["X"], []),
], ids=["each", "one often", "unknown"])
def test_the_process_says_how_many_requests_it_takes(stack, asked, answer):
    """FCGI_GET_VALUES: each value once, and a request may follow."""
    question = record(fastcgi_client.GET_VALUES, b"".join(fastcgi_client.pair(name, "") for name in asked), request=0)
    values = environment("GET", stack.prefix + "/system/version")
    with fastcgi_client.Connection(stack.socket) as connection:
        connection.send(question + begin() + stream(PARAMS, pairs(values)) + stream(STDIN, b""))
        found = connection.drain(30)
    assert found[0] == (10, 0, pairs(answer)), found[0]
    assert b"".join(content for kind, _, content in found if kind == fastcgi_client.STDOUT).startswith(b"Status: 200")


def test_the_answer_to_who_may_not_ask_does_not_wait_for_the_body(stack, nobody):
    """Nothing of the announced gigabyte is sent, and the answer comes all the same."""
    cases = [("/system/files", "multipart/form-data; boundary=x", None, 401),
             ("/system/files", "multipart/form-data; boundary=x", nobody.token, 403),
             ("/customers/signup", "application/json", nobody.token, 403),
             ("/customers/login", "application/json", None, 413),
             ("/customers/login", "text/plain", None, 415), ("/nowhere", "text/plain", None, 404)]
    for path, kind, token, status in cases:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        values = environment("POST",
                             stack.prefix + path,
                             content_type=kind,
                             content_length=1 << 30,
                             headers=headers)
        with fastcgi_client.Connection(stack.socket, 30.0) as connection:
            connection.send(begin() + stream(PARAMS, pairs(values)))
            answer = connection.answer()
        assert answer.status == status, f"{path}: {answer}"
        check_error(status,
                    answer.headers,
                    answer.body,
                    path,
                    sent_token="invalid_token" in answer.headers.get("WWW-Authenticate", ""))


# Request forgery through an unread body. libfcgi reads a connection in blocks of 8,192 bytes; when a request
# ends with its body unread and the connection stays, what follows the block is parsed as new records. A body
# that holds records at the next block's beginning would so become a request of its own, with parameters of
# the attacker's choice.


def forged(marker, prefix, period=0):
    """The records of a request that nobody sent, padded to the period."""
    values = {
        "REQUEST_METHOD": "GET", "REQUEST_URI": prefix + "/system/version", "QUERY_STRING": "",
        "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_X_REQUEST_ID": marker
    }
    data = begin(keep=True) + record(PARAMS, pairs(values),
                                     padding=-len(pairs(values)) % 8) + record(PARAMS) + record(STDIN)
    assert not period or len(data) <= period
    return data + b"x" * (period - len(data) if period else 0)


def endpoints(nobody, owner):
    """Requests that are answered before their body has been read: (method, path, content type, token,
    status)."""
    form = "multipart/form-data; boundary=never"
    return {
        "401": ("POST", "/system/files", form, None, 401), "false token": ("POST", "/system/files", form,
                                                                           "a.b.c", 401),
        "403": ("POST", "/system/files", form, nobody.token, 403), "413": ("POST", "/customers/login",
                                                                           "application/json", None, 413),
        "415": ("POST", "/customers/login", "text/plain", None, 415),
        "404": ("POST", "/nowhere", "text/plain", None, 404), "405": ("PUT", "/customers/login",
                                                                      "application/json", None, 405),
        "400 by its content": ("POST", "/system/files", form, owner.token,
                               400), "a GET with a body": ("GET", "/system/version", "text/plain", None, 200),
        "400 by its query": ("POST", "/system/files?x=1", form, owner.token, 400)
    }


@pytest.mark.parametrize("keep", [True, False], ids=["kept connection", "closed connection"])
@pytest.mark.parametrize("case", [
    "401", "false token", "403", "413", "415", "404", "405", "400 by its content", "400 by its query",
    "a GET with a body"
])
def test_an_unread_body_never_becomes_a_request_on_the_socket(stack, logs, nobody, owner, case, keep):
    method, path, kind, token, status = endpoints(nobody, owner)[case]
    mark = logs.mark()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for size, single in ((70_000, True), (200_000, True), (200_000, False)):
        marker = f"forged-{uuid.uuid4()}"
        values = environment(method,
                             stack.prefix + path,
                             content_type=kind,
                             content_length=size,
                             headers=headers)
        head = begin(keep) + stream(PARAMS, pairs(values))
        data = bytearray(head + stream(STDIN, b"x" * size, chunk=65528 if single else 8000))
        block = forged(marker, stack.prefix)
        for at in range(BOUNDARY, len(data) - len(block) - 8, BOUNDARY):
            # Heads of the body's own records stay whole: a block that would cover one is left out.
            if all(byte == ord("x") for byte in data[at:at + len(block)]):
                data[at:at + len(block)] = block
        assert block in data, "no room for a forged block"
        with fastcgi_client.Connection(stack.socket, 30.0) as connection:
            connection.send(bytes(data))
            first = connection.answer()
            rest = connection.drain(0.3)
        assert first.status == status, first
        assert not [content for what, _, content in rest if what == fastcgi_client.STDOUT
                    ], f"a forged request was answered: {rest}"
        assert not logs.find(mark, marker), "a forged request ran"


@pytest.mark.web_server
@pytest.mark.parametrize("case", ["401", "403", "413", "415", "400 by its query"])
def test_an_unread_body_never_becomes_a_request_through_the_web_server(stack, logs, nobody, owner, case):
    """The alignment behind a web server is not known, so the forged records lie close together and are
    shifted by eight bytes."""
    method, path, kind, token, status = endpoints(nobody, owner)[case]
    mark, period = logs.mark(), 256
    markers = []
    for shift in range(0, period, 8):
        marker = f"forged-{uuid.uuid4()}"
        markers.append(marker)
        body = b"x" * shift + forged(marker, stack.prefix, period) * 384
        headers = [("Content-Type", kind), ("Content-Length", str(len(body)))
                   ] + ([("Authorization", f"Bearer {token}")] if token else [])
        received = raw.exchange(stack, raw.request(method, stack.prefix + path, headers, body))
        found = raw.replies(received, (method, ))
        assert [reply.status for reply in found] == [status], found
    for marker in markers:
        assert not logs.find(mark, marker), "a forged request ran"


def test_the_detector_sees_a_request_that_does_run(stack, logs):
    """The very records of the forgery, sent openly, run and are found in the log."""
    mark, marker = logs.mark(), f"forged-{uuid.uuid4()}"
    with fastcgi_client.Connection(stack.socket, 30.0) as connection:
        connection.send(forged(marker, stack.prefix))
        assert connection.answer().status == 200
    logs.wait(mark, marker)


# Silent peers.


def silent_peers(path, count, opening):
    """That many connections that have sent no more than the opening."""
    found = []
    for _ in range(count):
        connection = fastcgi_client.Connection(path, 30.0)
        connection.send(opening)
        found.append(connection)
    return found


OPENINGS = {
    "nothing": b"", "half a head": begin()[:4], "a begin": begin(),
    "half of the parameters": (begin() + stream(PARAMS, pairs(environment("GET", "/system/version"))))[:60],
    "a body that never comes": begin() + stream(
        PARAMS,
        pairs(environment("POST", "/customers/login", content_type="application/json", content_length=100)))
}


def begin_all(work, cases):
    """{case: what work(case) comes to}; they wait side by side, each on a worker of its own."""
    pool = concurrent.futures.ThreadPoolExecutor(len(cases))
    begun = {case: pool.submit(work, case) for case in cases}
    pool.shutdown(wait=False)
    return begun


@pytest.fixture(scope="module")
def silences(stack):
    return begin_all(lambda what: silent_peer_is_cut_off(stack, what), list(OPENINGS))


def silent_peer_is_cut_off(stack, what):
    """The only worker is free again after the deadline: 2 s for the head of a request, 5 s within a body."""
    with system.worker(stack, service_io_timeout_seconds=1) as worker, contextlib.ExitStack() as opened:
        for connection in silent_peers(worker.path, 1, OPENINGS[what]):
            opened.callback(connection.close)
        started = time.monotonic()
        assert worker.call("GET", stack.prefix + "/system/version", timeout=60).status == 200
        assert time.monotonic() - started < 25


@pytest.mark.parametrize("what", list(OPENINGS))
def test_a_silent_peer_is_cut_off(silences, what):
    silences[what].result()


@pytest.mark.web_server
@pytest.mark.parametrize("what", ["nothing", "half of the parameters"])
def test_silent_peers_do_not_block_honest_clients(stack, api, what):
    """Twice as many silent peers as the pool has workers, and clients of the web server are served all the same."""
    pool = stack.workers_of("workers") or stack.workers()
    assert pool
    with contextlib.ExitStack() as opened:
        for connection in silent_peers(stack.socket, 2 * len(pool), OPENINGS[what]):
            opened.callback(connection.close)
        honest(api, 4)


def test_a_peer_that_does_not_read_does_not_keep_the_worker(stack):
    """It asks for a long answer, takes none of it, and keeps the connection open."""
    with system.worker(stack, service_io_timeout_seconds=1) as worker, contextlib.ExitStack() as opened:
        for _ in range(2):
            connection = worker.connect()
            opened.callback(connection.close)
            connection.send(begin() +
                            stream(PARAMS, pairs(environment("GET", stack.prefix + "/system/openapi.json"))) +
                            stream(STDIN, b""))
        started = time.monotonic()
        assert worker.call("GET", stack.prefix + "/system/version", timeout=30).status == 200
        assert time.monotonic() - started < 15


# Dripping peers: a byte now and then, never a silence.


class Drips:
    """Connections that get one more byte of what they have to say every 0.1 s, from a thread of its own."""

    def __init__(self, path, count, opening, rest):
        self.rest = rest
        self.open = {fastcgi_client.Connection(path, 30.0): 0 for _ in range(count)}
        self.cut = []
        self.started = time.monotonic()
        for connection in self.open:
            connection.send(opening)
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        for connection in self.open:
            connection.close()

    def run(self):
        while not self.ending.wait(0.1):
            for connection, at in list(self.open.items()):
                if connection.send(self.rest[at % len(self.rest):][:1]):
                    self.open[connection] = at + 1
                else:
                    self.cut.append(time.monotonic() - self.started)
                    del self.open[connection]
                    connection.close()

    def wait_until_cut(self, seconds):
        """Every one of them is cut off within the time."""
        wait_until(lambda: not self.open, seconds, "all dripping peers to be cut off")


def drips(prefix):
    """What may come by drops: (what is sent at once, what follows byte by byte)."""
    head = begin() + stream(PARAMS, pairs(environment("GET", prefix + "/system/version")))
    long_head = begin() + stream(PARAMS, pairs({**environment("GET", prefix + "/system/version"),
                                                "HTTP_X": "x" * 9000}))
    login = begin() + stream(
        PARAMS, pairs(environment("POST", prefix + "/customers/login", content_type="application/json",
                                  content_length=9000)))
    return {
        "the begin": (b"", head), "the parameters": (begin(), long_head[16:]),
        "padding of a begin": (record(fastcgi_client.BEGIN_REQUEST, bytes([0, 1, 0, 0, 0, 0, 0, 0]), padding=255)[:16],
                               bytes(255)),
        "values asked for": (b"", record(fastcgi_client.GET_VALUES, b"", request=0)),
        "a body": (login + record(STDIN, b"", length=9000), b"{" + b" " * 8999),
        "a body in records of a byte": (login, record(STDIN, b" ")),
        "what follows the body": (head + stream(STDIN, b""), b"x"),
    }


@pytest.fixture(scope="module")
def drippings(stack):
    return begin_all(lambda what: dripping_peer_is_cut_off(stack, what), list(drips("")))


def dripping_peer_is_cut_off(stack, what):
    """Each byte comes in time; all of them together do not."""
    opening, rest = drips(stack.prefix)[what]
    with system.worker(stack, service_io_timeout_seconds=2) as worker, Drips(worker.path, 1, opening, rest) as dripping:
        started = time.monotonic()
        assert worker.call("GET", stack.prefix + "/system/version", timeout=60).status == 200
        assert time.monotonic() - started < 25
        dripping.wait_until_cut(25)


@pytest.mark.parametrize("what", list(drips("")))
def test_a_dripping_peer_is_cut_off(drippings, what):
    drippings[what].result()


@pytest.mark.parametrize("what", ["the begin", "the parameters", "a body"])
def test_twelve_dripping_peers_do_not_hold_the_workers(stack, api, what):
    """The pool as it is installed. Honest requests wait until those are cut that came before, and no longer."""
    opening, rest = drips(stack.prefix)[what]
    pool = len(stack.workers_of("workers") or stack.workers())
    each = 2 if what != "a body" else 8
    with Drips(stack.socket, 12, opening, rest) as dripping:
        for _ in range(3):
            honest(api, each * -(-12 // pool))
        dripping.wait_until_cut(each * -(-12 // pool) + STALL_SECONDS)


def test_a_kept_connection_has_the_time_of_a_head_for_its_next_one(stack):
    """The time that a body had does not go on to the next head."""
    uri = stack.prefix + "/customers/login"
    body = b'{"username": "x@example.org", "password": "' + b"x" * 20000 + b'"}'
    with system.worker(stack) as worker, worker.connect(30) as connection:
        values = environment("POST", uri, body=body, content_type="application/json")
        assert connection.request(values, body, keep=True).status in (400, 401, 413, 429)
        started = time.monotonic()
        assert worker.call("GET", stack.prefix + "/system/version", timeout=60).status == 200
        assert time.monotonic() - started < STALL_SECONDS


RATE = 16384


def upload_of(stack, account, seconds):
    """What the web server says of an upload, and the bytes of its body: so many seconds of them."""
    data = (samples.text() * RATE)[:seconds * RATE]
    form = (b'--x\r\nContent-Disposition: form-data; name="bucket"\r\n\r\nfiles\r\n'
            b'--x\r\nContent-Disposition: form-data; name="type"\r\n\r\nmisc\r\n'
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n' + data
            + b"\r\n--x--\r\n")
    return environment("POST", stack.prefix + "/system/files", content_type="multipart/form-data; boundary=x",
                       body=form, headers={"Authorization": f"Bearer {account.token}"}), form


def test_a_slow_but_honest_upload_comes_through(stack, keeper):
    """16 KiB a second, with silences, is far above the rate that is asked for, and takes longer than all patience."""
    values, form = upload_of(stack, keeper, 7)
    with system.worker(stack, service_io_timeout_seconds=5) as worker, worker.connect(60) as connection:
        started = time.monotonic()
        connection.send(begin() + stream(PARAMS, pairs(values)))
        for at in range(0, len(form), RATE):
            connection.send(record(STDIN, form[at:at + RATE]))
            time.sleep(1)
        connection.send(record(STDIN))
        answer = connection.answer()
        assert time.monotonic() - started > 6
    assert answer.status == 200, answer


@pytest.mark.parametrize("change, status, code", [({"status": "disabled"}, 401, "auth.tokenRevoked"),
                                                  ({"permissions": ["cus:file:r"]}, 403, "auth.permission"),
                                                  ({"permissions": ["cus:file:w"]}, 200, None)])
def test_whoever_may_not_upload_at_the_end_of_a_slow_body_stores_nothing(stack, accounts, database, change, status,
                                                                         code):
    """The worker has the bytes as they come."""
    owner = accounts.customer()
    person = accounts.user_with("cus:file:w", owner.organisation["id"])
    values, form = upload_of(stack, person, 2)
    with system.worker(stack) as worker, worker.connect(60) as connection:
        connection.send(begin() + stream(PARAMS, pairs(values)) + record(STDIN, form[:RATE]))
        time.sleep(3)
        owner.patch(f"/customers/organisations/users/{person.id}", json=change, status=200)
        connection.send(stream(STDIN, form[RATE:]))
        answer = connection.answer()
    assert answer.status == status, answer
    if code is not None:
        assert json.loads(answer.body)["code"] == code
    assert len(database.run("SELECT id FROM file WHERE organisation_id = UNHEX(REPLACE(%s, '-', ''))",
                            owner.organisation["id"])) == (status == 200)


def test_a_long_answer_reaches_who_reads_it_slowly(stack):
    """Longer than the time for the close; what is cut is what the peer sends, not what it gets."""
    values = environment("GET", stack.prefix + "/system/openapi.json")
    with system.worker(stack) as worker, worker.connect(60) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(begin() + stream(PARAMS, pairs(values)) + stream(STDIN, b""))
        time.sleep(4)
        answer = connection.answer()
    assert answer.status == 200 and answer.ended and json.loads(answer.body), answer


def test_an_upload_below_the_rate_is_cut(stack, keeper):
    values = environment("POST", stack.prefix + "/system/files", content_type="multipart/form-data; boundary=x",
                         content_length=1 << 30, headers={"Authorization": f"Bearer {keeper.token}"})
    opening = begin() + stream(PARAMS, pairs(values)) + record(STDIN, b"--x\r\n" + b"x" * 20000)
    with system.worker(stack, service_io_timeout_seconds=1) as worker, Drips(worker.path, 1, opening,
                                                                             record(STDIN, b"x")) as dripping:
        dripping.wait_until_cut(20)
        assert worker.call("GET", stack.prefix + "/system/version", timeout=30).status == 200
