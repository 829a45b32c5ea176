# SPDX-License-Identifier: MIT
"""How many uploads may be under way at a time, with one access token and from one address: nginx counts by itself, the
workers count for Apache."""

import contextlib
import json
import pathlib
import re
import socket
import time

import pytest

from support import files, samples
from support.client import check_error
from support.programs import system
from support.stack import wait_until
from support.wire import fastcgi_client
from uploads import support_spool as spool
from uploads.test_before_body import MIB, ask, head, question, reply_of

pytestmark = [pytest.mark.web_server, pytest.mark.upload_mode]
LIMITED = 10_000


def limits(stack):
    """How many uploads may be under way from one address and with one token: as nginx' site says, or by default."""
    if not stack.nginx:
        return {"gatehouse_upload_tokens": 128, "gatehouse_upload_addresses": 256}
    site = (pathlib.Path(stack.configuration).parent / "nginx" / "gatehouse.conf").read_text()
    words = [line.split() for line in site.splitlines() if line.split()[:1] == ["limit_conn"]]
    return {word[1]: int(word[2].rstrip(";")) for word in words}


def test_uploads_under_way_with_one_token_are_bounded(stack, keeper, owner):
    found = limits(stack)
    most = found["gatehouse_upload_tokens"]
    assert most < found["gatehouse_upload_addresses"]
    connections = []
    with contextlib.ExitStack() as opened:
        def begin():
            connection = opened.enter_context(socket.create_connection((stack.host, stack.port), 20))
            connection.sendall(head(stack, keeper.token, LIMITED) + b"--never\r\n")
            connections.append(connection)

        for _ in range(most + 4):
            begin()

        def is_refused():
            return refused(stack, keeper.token, patience=2) is not None

        # Our own question may hold the last place while the last uploads ask: all of them are refused, and another one
        # has to begin. A second question does not meet the place of the first. One that is let in may wait for a
        # worker, since the uploads hold those that take bodies as they come.
        wait_until(lambda: is_refused() and is_refused() or begin(), 20, "the uploads to be counted")
        with spool.Watch(stack) as watch:
            before = spool.spooled(stack)
            reply = refused(stack, keeper.token, MIB)
            wait_until(lambda: watch.looks > 3, 20, "the spool to be looked at")
        assert watch.most < before + MIB
        assert reply is not None
        status, headers, body = reply
        assert json.loads(body)["code"] == "rate.limited" and headers["Retry-After"] == "5"
        check_error(status, headers, body, "/system/files", edge=True)
        if not unbuffered(stack):  # where they hold all workers of uploads
            files.upload(owner, samples.noise(700), "meanwhile.bin")
        keeper.get("/customers/me", status=200)
        finish(connections)
    wait_until(lambda: not refused(stack, keeper.token), 20, "the uploads to end")
    files.upload(keeper, samples.noise(701), "afterwards.bin")


def test_uploads_that_have_come_are_no_longer_counted(stack, keeper):
    """Each leaves no note behind: far more than a token may have at a time."""
    most = limits(stack)["gatehouse_upload_tokens"]
    for _ in range(most + 10):
        assert refused(stack, keeper.token) is None
    files.upload(keeper, samples.noise(702), "many.bin")


def test_apaches_site_ends_a_body_when_it_is_no_longer_counted():
    """The numbers stand in three places: the site, the settings and the code."""
    root = pathlib.Path(__file__).resolve().parents[3]
    site = (root / "apache/gatehouse-site.conf.in").read_text(encoding="utf-8")
    limits_h = (root / "include/base/limits.h").read_text(encoding="utf-8")
    limit = dict(re.findall(r"^#define (LIMIT_UPLOAD_\w+) (\d+)$", limits_h, re.M))
    sample = (root / "conf/gatehouse.conf.in").read_text(encoding="utf-8")
    first, last, rate = re.search(r"^RequestReadTimeout .* body=(\d+)-(\d+),MinRate=(\d+)$", site, re.M).groups()
    assert int(limit["LIMIT_UPLOAD_START_SECONDS"]) >= int(first) + 10, "there is no time to reach a worker"
    assert rate == limit["LIMIT_UPLOAD_BYTES_PER_SECOND"]
    assert f"#upload_seconds = {last}\n" in sample


@contextlib.contextmanager
def counting(stack, folder, **settings):
    """Two workers on a socket that count for themselves: 3 uploads with a token, 5 from an address."""
    settings = {"limits_uploads_per_token": 3, "limits_uploads_per_address": 5} | settings
    with system.worker(stack, count=2, metrics_file=folder / "metrics", **settings) as worker:
        yield worker


def verdict(worker, stack, token, address="192.0.2.1", *, length=5, role=fastcgi_client.AUTHORIZER, scheme="Bearer",
            **more):
    """What an authoriser is answered about a body: the status, and the code and wait of a refusal."""
    values = question(stack, token=token, length=length)
    values |= {"REMOTE_ADDR": address, "HTTP_AUTHORIZATION": f"{scheme} {token}"}
    answer = ask(worker, stack, values | more, role)
    status = int(answer.headers["Variable-GATEHOUSE_STATUS"])
    if status != 429:
        return status
    assert json.loads(answer.headers["Variable-GATEHOUSE_BODY"])["code"] == "rate.limited"
    assert answer.headers["Variable-GATEHOUSE_RETRY_AFTER"] == "5"
    return status


def arrive(worker, stack, token, address="192.0.2.1"):
    """The body of an upload, which is no form."""
    values = fastcgi_client.environment("POST", stack.prefix + "/system/files", content_length=5,
                                        content_type="text/plain", headers={"Authorization": f"Bearer {token}"})
    values["REMOTE_ADDR"] = address
    with worker.connect(20) as connection:
        return connection.request(values, b"12345").status


def test_the_workers_of_a_host_count_for_apache(stack, tmp_path, keeper, owner, nobody):
    with counting(stack, tmp_path) as worker:
        def room(token, address="192.0.2.1"):
            count = 0
            while verdict(worker, stack, token, address) == 200:
                count += 1
            for _ in range(count):
                assert arrive(worker, stack, token, address) == 415
            return count

        assert room(keeper.token) == 3
        for _ in range(3):
            assert verdict(worker, stack, keeper.token) == 200
        assert verdict(worker, stack, keeper.token, "192.0.2.2") == 429
        for scheme in ("bearer", "BEARER", "Bearer  "):
            assert verdict(worker, stack, keeper.token, scheme=scheme) == 429
        # Who is refused for another reason is not counted, and does not learn of the others.
        for _ in range(9):
            assert verdict(worker, stack, nobody.token) == 403
            assert verdict(worker, stack, "a.b.c") == 401
        assert room(owner.token) == 2
        assert room(owner.token, "192.0.2.2") == 3
        # Of bodies that come, those of others take nobody's note away.
        for token, address in ((keeper.token, "192.0.2.2"), (owner.token, "192.0.2.1"), ("a.b.c", "192.0.2.1")):
            arrive(worker, stack, token, address)
        assert verdict(worker, stack, keeper.token) == 429
        assert arrive(worker, stack, keeper.token) == 415
        assert verdict(worker, stack, keeper.token) == 200
        assert verdict(worker, stack, keeper.token) == 429


def test_of_ipv6_the_network_is_an_address(stack, tmp_path, keeper, owner):
    with counting(stack, tmp_path) as worker:
        for number in range(5):
            token = (keeper if number % 2 else owner).token
            assert verdict(worker, stack, token, f"2001:db8:1:2::{number}") == 200
        assert verdict(worker, stack, keeper.token, "2001:db8:1:2:ffff::1") == 429
        assert verdict(worker, stack, keeper.token, "2001:db8:1:3::1") == 200


def test_who_asks_without_being_an_authoriser_counts_by_itself(stack, tmp_path, keeper):
    with counting(stack, tmp_path) as worker:
        for _ in range(9):
            assert verdict(worker, stack, keeper.token, role=fastcgi_client.RESPONDER, GATEHOUSE_ADMISSION="1") == 200
        assert verdict(worker, stack, keeper.token) == 200


@pytest.mark.parametrize("length, settings", [(5, {"limits_upload_seconds": 3}), (None, {"limits_upload_seconds": 3})],
                         ids=["announced", "chunked"])
def test_a_body_that_breaks_off_is_forgotten_in_time(stack, tmp_path, keeper, length, settings):
    with counting(stack, tmp_path, **settings) as worker:
        started = time.monotonic()
        for _ in range(3):
            assert verdict(worker, stack, keeper.token, length=length) == 200
        assert verdict(worker, stack, keeper.token) == 429 or time.monotonic() - started > 1.9
        wait_until(lambda: verdict(worker, stack, keeper.token) == 200, 10, "the bodies to be forgotten")
        assert time.monotonic() - started > 1.9


def test_a_worker_that_is_killed_leaves_nothing_that_holds_others_up(stack, tmp_path, keeper):
    with counting(stack, tmp_path) as worker:
        assert verdict(worker, stack, keeper.token) == 200
        worker.process.kill()
        worker.process.wait(60)
        assert [verdict(worker, stack, keeper.token) for _ in range(3)] == [200, 200, 429]
        assert arrive(worker, stack, keeper.token) == 415
        assert verdict(worker, stack, keeper.token) == 200


def finish(connections):
    """Sends the rest of bodies that go on, all of them before it waits; the web server may have refused some."""
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.sendall(b"x" * (LIMITED - len(b"--never\r\n")))
    for connection in connections:
        assert reply_of(connection) is not None


def unbuffered(stack):
    """Whether uploads are handed on as they come."""
    if not stack.nginx:
        return False
    site = (pathlib.Path(stack.configuration).parent / "nginx" / "gatehouse.conf").read_text()
    return "\n        fastcgi_request_buffering off;" in site


def refused(stack, token, length=9, patience=None):
    """The reply 429 to an upload, None when it is let in. With patience, also when no reply comes in so many seconds;
    else there has to be one."""
    with socket.create_connection((stack.host, stack.port), 20) as connection:
        connection.sendall(head(stack, token, length) + b"--never--")
        with contextlib.suppress(OSError):
            connection.sendall(b"x" * (length - 9))
        reply = reply_of(connection, patience or 20)
    assert reply is not None or patience, "there is no reply"
    return reply if reply is not None and reply[0] == 429 else None
