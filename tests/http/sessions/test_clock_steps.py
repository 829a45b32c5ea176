# SPDX-License-Identifier: MIT
"""Sets the clock of a host an hour forward and back while its worker serves. The times in a token alone decide whether
it is accepted, waits become neither longer nor shorter, and the worker goes on."""

import json
import os
import pathlib
import tempfile

import pytest

from support.programs import crash, system

HOUR = 3600
GOOD, EXPIRED, INVALID = (200, None), (401, "auth.tokenExpired"), (401, "auth.tokenInvalid")


def set_clock(clock, seconds):
    """From now on the clock is apart from the real one by so much; the monotonic clock goes on as it was."""
    # Replaced at once, so that nobody reads half of it.
    new = clock.with_suffix(".new")
    new.write_text(f"{seconds:+d}s\n")
    new.chmod(0o644)
    new.replace(clock)


class Host:
    """A worker, and the clock that it sees."""

    def __init__(self, worker, clock, prefix):
        self.worker, self.clock, self.prefix = worker, clock, prefix

    def step(self, seconds):
        set_clock(self.clock, seconds)

    def send(self, method, path, body=None, token=None):
        text = json.dumps(body).encode() if body else b""
        return self.worker.call(method, self.prefix + path, token=token, body=text,
                                content_type="application/json" if body else None)

    def login(self, account, password=None):
        return self.send("POST", "/customers/login",
                         {"username": account.email, "password": password or account.password})

    def refresh(self, tokens):
        return self.send("POST", "/customers/refresh", {"refreshToken": tokens["refreshToken"]})

    def me(self, tokens):
        """The status and code of what an access token opens."""
        return outcome(self.send("GET", "/customers/me", token=tokens["accessToken"]))


def outcome(reply):
    return reply.status, json.loads(reply.body).get("code")


def tokens_of(reply):
    assert reply.status == 200, reply.body
    return json.loads(reply.body)["tokens"]


@pytest.fixture(scope="module")
def host(stack):
    if crash.sanitized(stack):
        pytest.skip("a worker with sanitizers takes no preloaded library")
    found = list(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    assert found, "libfaketime is not installed: tests/http/packages.txt names it"
    # The worker's user reads the file, and pytest's own folders are its user's alone.
    with tempfile.TemporaryDirectory(prefix="gatehouse-clock-") as folder, pytest.MonkeyPatch.context() as patch:
        os.chmod(folder, 0o755)
        clock = pathlib.Path(folder) / "clock"
        for name, value in {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1",
                            "FAKETIME_DONT_FAKE_MONOTONIC": "1"}.items():
            patch.setenv(name, str(value))
        set_clock(clock, 0)
        # The sandbox would keep the file from it.
        with system.worker(stack, service_sandbox="false") as worker:
            patch.undo()
            yield Host(worker, clock, stack.prefix)
            assert worker.process.poll() is None


@pytest.fixture(autouse=True)
def set_right(host):
    yield
    host.step(0)


def test_a_token_is_good_for_its_time_whichever_way_the_clock_is_set(host, customer):
    tokens = tokens_of(host.login(customer))
    # The clock is really set: a token of fifteen minutes is over, and was not issued yet.
    for seconds, wanted in ((HOUR, EXPIRED), (0, GOOD), (-HOUR, INVALID), (0, GOOD)):
        host.step(seconds)
        assert host.me(tokens) == wanted, seconds


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_token_that_a_wrong_clock_issued_ends_with_it(host, customer, seconds):
    """It is refused as one of another time once the clock is right, and the session refreshes it."""
    host.step(seconds)
    tokens = tokens_of(host.login(customer))
    assert host.me(tokens) == GOOD
    host.step(0)
    assert host.me(tokens) == (INVALID if seconds > 0 else EXPIRED)
    assert host.me(tokens_of(host.refresh(tokens))) == GOOD


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_an_end_holds_whatever_the_clock_says(host, customer, seconds):
    tokens = tokens_of(host.login(customer))
    assert host.send("POST", "/customers/logout", {"everywhere": True}, tokens["accessToken"]).status == 200
    for moment in (seconds, 0):
        host.step(moment)
        assert host.me(tokens)[0] == 401, moment
        assert host.refresh(tokens).status == 401, moment


def test_a_wait_is_as_long_whatever_the_clock_says(host, customer, database):
    for _ in range(5):
        assert outcome(host.login(customer, "not the password")) == (401, "auth.credentials")
    # After 14 failures it is 512 seconds.
    database.run("UPDATE throttle SET failures = 14, locked_until = UTC_TIMESTAMP(3) + INTERVAL 512 SECOND"
                 " WHERE locked_until IS NOT NULL")
    for seconds in (HOUR, -HOUR, 0):
        host.step(seconds)
        reply = host.login(customer)
        assert reply.status == 429 and 400 < int(reply.headers["Retry-After"]) <= 512, seconds
    host.step(HOUR)
    database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"
                 " WHERE locked_until IS NOT NULL")
    assert host.login(customer).status == 200
