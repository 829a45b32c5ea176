# SPDX-License-Identifier: MIT
"""GET /system/stats: what each host did in each minute. A host of the tests' own, with minutes of a few seconds, shows
what is counted; rows put into the table show the list."""

import contextlib
import datetime
import os
import subprocess

import pytest

from support.programs import system
from support.stack import wait_until

PATH = "/system/stats"
# A minute of the tests' own host. One whose end is noticed more than half of it late is not written.
MINUTE_SECONDS = 6
MEMBERS = [
    "host", "minute", "requests", "errors", "p50Ms", "p99Ms", "logins", "loginFailures", "uploads", "uploadBytes",
    "outboxDepth", "freeBytes"
]


def stats(account, **parameters):
    return account.get(PATH, params=parameters, status=200).json()["items"]


def ago(**how):
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**how)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@contextlib.contextmanager
def host_of(stack, folder, name):
    """A worker and a job runner that count together, with minutes of their own."""
    more = {"metrics_host": name, "metrics_file": folder / "metrics", "testing_stats_seconds": MINUTE_SECONDS,
            "cache_file": folder / "cache", "log_destination": "stderr"}
    environment = {**os.environ, **{f"GATEHOUSE_{key.upper()}": str(value) for key, value in more.items()}}
    with system.worker(stack, **more) as worker, open(folder / "jobs.err", "wb") as errors:
        command = [stack.ctl, "--config", stack.configuration, "jobs"]
        runner = subprocess.Popen(command, env=environment, stderr=errors)
        try:
            yield worker
        finally:
            runner.terminate()
            runner.wait(60)


@pytest.fixture()
def rows(database):
    """Minutes of hosts that there are not."""
    made = []
    # Minutes that are given apart are those of one time, whatever the clock says meanwhile.
    now = database.run("SELECT UTC_TIMESTAMP()")[0][0]

    def add(host, minutes_ago, requests=1):
        database.run(
            "INSERT INTO host_minute (minute, host, requests, errors, p50_microseconds, p99_microseconds, logins,"
            " login_failures, uploads, upload_bytes, outbox_depth, free_bytes) VALUES (DATE_FORMAT(%s -"
            " INTERVAL %s MINUTE, '%%Y-%%m-%%d %%H:%%i:00'), %s, %s, 1, 400, 12345678, 2, 3, 4, 5, 6, 7)",
            now, minutes_ago, host, requests)
        made.append(host)

    yield add
    for host in set(made):
        database.run("DELETE FROM host_minute WHERE host = %s", host)


def test_it_takes_the_permission_and_names_what_is_wrong(api, administrator, owner, nobody):
    api.get(PATH, status=401, code="auth.tokenMissing")
    for account in (owner, nobody):
        reply = account.get(PATH, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "sys:stats:a"
    for bad in ({"since": "yesterday"}, {"since": "2026-13-01T00:00:00Z"}, {"limit": 5}, {"cursor": "x"},
                {"since": "2026-13-01T00:00:00Z", "limit": 5}):
        administrator.get(PATH, params=bad, status=400, code="request.invalid", paths=set(bad))


def test_minutes_come_the_oldest_first_by_host_from_since_on(administrator, rows):
    for minutes, host in ((50, "b-host"), (50, "a-host"), (10, "a-host"), (90, "a-host")):
        rows(host, minutes, requests=minutes)
    found = [item for item in stats(administrator) if item["host"] in ("a-host", "b-host")]
    assert [(item["host"], item["requests"]) for item in found] == [("a-host", 50), ("b-host", 50), ("a-host", 10)]
    assert list(found[0]) == MEMBERS
    assert {name: value for name, value in found[0].items() if name not in ("host", "minute", "requests")} == {
        "errors": 1, "p50Ms": 0.4, "p99Ms": 12345.678, "logins": 2, "loginFailures": 3, "uploads": 4, "uploadBytes": 5,
        "outboxDepth": 6, "freeBytes": 7
    }
    assert found[0]["minute"].endswith(":00.000Z")
    older = [item["requests"] for item in stats(administrator, since=ago(hours=2)) if item["host"] == "a-host"]
    assert older == [90, 50, 10]
    assert not [item for item in stats(administrator, since=ago(minutes=5)) if item["host"] == "a-host"]
    assert stats(administrator, since="2100-01-01T00:00:00+02:00") == []


def test_a_host_counts_what_its_workers_did(administrator, owner, stack, database, tmp_path):
    name = f"host-{os.getpid()}"
    try:
        with host_of(stack, tmp_path, name) as worker:
            login = b'{"username": "%s", "password": "wrong"}' % owner.email.encode()
            good = b'{"username": "%s", "password": "%s"}' % (owner.email.encode(), owner.password.encode())

            def told():
                return [item for item in stats(administrator) if item["host"] == name]

            wait_until(told, 60, "the first minute of the host")
            for body in (login, good):
                worker.call("POST", stack.prefix + "/customers/login", body=body, content_type="application/json")
            for _ in range(10):
                worker.call("GET", stack.prefix + "/system/version")
            wait_until(lambda: sum(item["requests"] for item in told()) >= 12, 60, "the requests to be written")
            found = told()
        assert sum(item["logins"] for item in found) == 1 and sum(item["loginFailures"] for item in found) == 1
        assert all(item["errors"] == 0 and item["freeBytes"] > 0 for item in found)
        busy = [item for item in found if item["requests"]]
        assert all(0 < item["p50Ms"] <= item["p99Ms"] for item in busy)
        assert all(item["p50Ms"] is None for item in found if not item["requests"])
        assert len({item["minute"] for item in found}) == len(found)
    finally:
        database.run("DELETE FROM host_minute WHERE host = %s", name)
