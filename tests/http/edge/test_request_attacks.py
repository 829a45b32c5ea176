# SPDX-License-Identifier: MIT
"""What the web server answers itself is the same error body; nothing that is badly framed becomes a second
request."""

import time

import pytest

from edge import request_attacks
from support.client import REQUEST_ID, check_error, check_headers
from support.wire import raw

pytestmark = pytest.mark.web_server

FLOOR = 24


def test_the_table_is_as_long_as_promised_and_names_are_unique():
    names = [row[0] for row in request_attacks.ROWS]
    assert len(names) == len(set(names)) >= FLOOR


@pytest.mark.parametrize("data, statuses", [row[1:] for row in request_attacks.ROWS],
                         ids=[row[0] for row in request_attacks.ROWS])
def test_a_bad_request_is_refused_in_our_words_and_hides_nothing(stack, logs, data, statuses):
    mark = logs.mark()
    received = raw.exchange(stack, data)
    found = raw.replies(received, ("GET", ))
    if not found:
        assert request_attacks.SILENCE in statuses, "closed without a reply"
        return
    reply = found[0]
    assert reply.status in statuses, reply
    check_headers(reply.headers, "edge", reply.status, edge=True)
    if reply.status != 200:
        check_error(reply.status, reply.headers, reply.body, "edge", edge=True)
    assert b"<html" not in received.lower()
    assert len(found) == 1, f"the rest was taken for another request: {found[1:]}"
    time.sleep(0.02)
    assert not logs.requests(mark, request_attacks.MARK), "a hidden request ran"
    if stack.nginx:
        assert REQUEST_ID.match(reply.headers["X-Request-Id"])


def test_the_hidden_request_would_be_seen_if_it_ran(stack, logs):
    """The detector works: sent openly, the very same request is in the log."""
    mark = logs.mark()
    assert raw.one(stack, request_attacks.HIDDEN).status == 200
    logs.wait(mark, request_attacks.MARK)


def test_http_0_9_gets_no_answer_of_the_service(stack):
    received = raw.exchange(stack, b"GET /system/version\r\n\r\n")
    assert b"1.0.0" not in received.split(b"\r\n\r\n")[-1] or received.startswith(
        b"HTTP/1.1 400"), received[:300]


def test_pipelined_requests_are_answered_in_order(stack):
    one = b"GET /system/version HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: pipelined-%d\r\n\r\n"
    received = raw.exchange(stack, b"".join(one % number for number in range(1, 6)))
    assert [reply.headers["X-Request-Id"]
            for reply in raw.replies(received)] == [f"pipelined-{number}" for number in range(1, 6)]


def test_line_feeds_alone_end_no_headers_differently(stack, logs):
    """Whichever way the server takes bare line feeds, there is one request and one reply."""
    mark = logs.mark()
    data = (b"GET /system/version HTTP/1.1\nHost: localhost\n"
            b"X-Request-Id: bare-line-feeds\nConnection: close\n\n")
    found = raw.replies(raw.exchange(stack, data))
    assert len(found) == 1 and found[0].status in (200, 400)
    if found[0].status == 200:
        logs.wait(mark, "bare-line-feeds")


def test_an_absolute_address_is_the_same_path(stack):
    reply = raw.one(stack, raw.request("GET", f"http://localhost{stack.prefix}/system/version"))
    assert reply.status in (200, 400)


def test_a_request_after_a_refused_body_on_one_connection_is_checked_alone(stack):
    """A body that a 401 left unread does not become the next request's beginning."""
    body = b"x" * 30000
    first = raw.request("POST",
                        stack.prefix + "/system/files", [("Content-Length", str(len(body))),
                                                         ("Content-Type", "text/plain")],
                        body,
                        close=False)
    second = raw.request("GET", stack.prefix + "/system/version", [("X-Request-Id", "second-in-line")])
    found = raw.replies(raw.exchange(stack, first + second), ("POST", "GET"))
    assert found[0].status == 401
    assert len(found) == 1 or (len(found) == 2 and found[1].status == 200
                               and found[1].headers["X-Request-Id"] == "second-in-line")


def test_expect_100_continue_is_honoured_or_answered(stack):
    head = raw.request("POST", stack.prefix + "/customers/login", [("Content-Type", "application/json"),
                                                                   ("Content-Length", "2"),
                                                                   ("Expect", "100-continue")])
    found = raw.replies(raw.exchange(stack, [head, b"{}"]), ("POST", ))
    assert [reply.status for reply in found if reply.status != 100] == [400]
