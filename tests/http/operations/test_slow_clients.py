# SPDX-License-Identifier: MIT
"""Clients that send or read a few bytes a second keep nobody waiting, and get what they came for."""

import http.client
import json
import statistics
import time

import pytest

from support import files, multipart, samples
from support.runs import effort
from support.wire import raw
from support.wire.slow import Crowd, Kind

pytestmark = [pytest.mark.web_server, pytest.mark.slow]

# In a full run each round outlasts the web servers' patience with the head of a request.
SENDERS, READERS, SECONDS = (500, 500, 16) if effort.FULL else (40, 40, 1)
# Until what so many connections begin with is done: mod_fcgid lets a request for which it has no idle worker sleep for
# a second, again and again.
SETTLE_SECONDS = {"apache-fcgid": 3}
UPLOADS_MAX = 40  # more than 128 of one access token are answered with 429, and what Apache cuts counts for a minute
ROUNDS_LEAST, ROUNDS_MOST = 3, 15
READS_LEAST = 20  # in each round, which takes longer for them where need be
TIMES = 2
# client_header_timeout of nginx, RequestReadTimeout of Apache. Only the latter bounds a body that goes on coming.
HEAD_SECONDS, BODY_SECONDS = 15, 30
LARGE = 4 << 20  # fits into no buffer between a worker and a client
JSON_BODY = b'{"locale": "en"}'
SLOWLY = 400  # bytes of a body that come one by one, as far as the time allows
HEADS, BODIES, UPLOADS, DOWNLOADS = "heads", "bodies", "uploads", "downloads"


def beginning(stack, account, method, path, headers=()):
    """The head of a request, the empty line at its end included."""
    return raw.request(method, stack.prefix + path, [("Authorization", f"Bearer {account.token}"), *headers])


def upload_of(number, mark):
    """The multipart body of a small file, another one for each number and round, up to its last bytes, and the rest."""
    whole = multipart.encode(files.form(samples.noise(3000) + SLOWLY * b"x", f"slow-{number}.bin"), mark)
    place = whole.rindex(SLOWLY * b"x")
    return whole[:place], whole[place + SLOWLY:]


def senders(stack, account):
    """The kinds of slow senders: those whose head never ends, those of a body, those of a file."""
    uploads = min(SENDERS // 3, UPLOADS_MAX)
    bodies = SENDERS // 3
    mark = multipart.boundary()
    forms = [upload_of(number, mark) for number in range(uploads)]
    head = beginning(stack, account, "GET", "/customers/me")[:-2]
    patch = beginning(stack, account, "PATCH", "/customers/me", [
        ("Content-Type", "application/json"), ("Content-Length", str(SLOWLY + len(JSON_BODY)))])

    def upload(number):
        before, after = forms[number]
        return beginning(stack, account, "POST", "/system/files", [
            ("Content-Type", multipart.content_type(mark)),
            ("Content-Length", str(len(before) + SLOWLY + len(after)))]) + before

    return [
        Kind(HEADS, SENDERS - uploads - bodies, lambda _: head, b"X: y\r\n", lambda *_: b"\r\n"),
        Kind(BODIES, bodies, lambda _: patch, b" ",
             lambda _, drops: b" " * (SLOWLY - drops) + JSON_BODY),
        Kind(UPLOADS, uploads, upload, b"x", lambda number, drops: b"x" * (SLOWLY - drops) + forms[number][1]),
    ]


def others(stack, account, record):
    """The 99th percentile of the seconds of reads, each of which must be right."""
    connection = http.client.HTTPConnection(stack.host, stack.port, timeout=30)
    path = f"{stack.prefix}/system/files/{record['id']}/info"
    headers = {"Authorization": f"Bearer {account.token}"}
    seen, start = [], time.monotonic()
    while time.monotonic() < start + (SECONDS if len(seen) >= READS_LEAST else 60):
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        seen.append(time.perf_counter() - began)
        assert reply.status == 200, body
        assert json.loads(body)["hash"] == record["info"]["hash"]
    connection.close()
    assert len(seen) >= READS_LEAST
    return sorted(seen)[len(seen) * 99 // 100]


def given_up(stack, kind, end):
    """Whether the web server has lost patience with a request, as docs/installing.md says that it does."""
    if kind == HEADS:
        return end.status in (None, 408) and end.seconds > HEAD_SECONDS - 1
    if stack.nginx or kind == DOWNLOADS:
        return False
    if kind == UPLOADS and effort.FULL and end.status == 429:
        return True
    said = (408, 500) if stack.web_server == "apache-fcgid" else (408, )
    return end.status in said and end.seconds > BODY_SECONDS - 1


def all_came_through(stack, ends, digest):
    """Each has its whole answer, or has taken longer than the web server's patience lasts."""
    for kind, found in ends.items():
        wrong = [end for end in found if end.status != 200 and not given_up(stack, kind, end)]
        assert not wrong, (kind, wrong)
    assert {(end.length, end.digest) for end in ends[DOWNLOADS]} == {(LARGE, digest)}


def test_slow_clients_keep_nobody_waiting_and_get_their_answers(stack, customer):
    """There are several times as many slow clients of each kind as workers. So a worker that waited for one would soon
    be one of many, and the reads of others could not end while the slow clients are there, as they do.

    In a full run these reads are measured with and without slow clients in turn. Noise may spoil a round, so there may
    be fifteen; what slow clients cost shows in each. Other tests run beside an ordinary run, so nothing is measured."""
    record = files.upload(customer, samples.noise(LARGE), "slow.bin")
    download = beginning(stack, customer, "GET", f"/system/files/{record['id']}")

    def without():
        return others(stack, customer, record)

    def beside():
        kinds = [*senders(stack, customer), Kind(DOWNLOADS, READERS, lambda _: download)]
        with Crowd(stack.base_url, kinds) as crowd:
            time.sleep(SETTLE_SECONDS.get(stack.web_server, 0.5))
            seconds = others(stack, customer, record)
            all_came_through(stack, crowd.finish(), record["info"]["hash"])
        return seconds

    if effort.FULL:
        cost_little(without, beside)
    else:
        beside()


def cost_little(without, beside):
    """What beside() tells is at most twice as much as what without() tells."""
    ratios = []
    while len(ratios) < ROUNDS_MOST:
        order = [without, beside] if len(ratios) % 2 == 0 else [beside, without]
        seconds = {measure: measure() for measure in order}
        ratios.append(seconds[beside] / seconds[without])
        print(f"p99 in ms, beside slow clients and without: {1000 * seconds[beside]:.1f}, "
              f"{1000 * seconds[without]:.1f}")
        if len(ratios) >= ROUNDS_LEAST and len(ratios) % 2 and statistics.median(ratios) <= TIMES:
            return
    pytest.fail(f"p99 beside slow clients against p99 without: {ratios}")
