# SPDX-License-Identifier: MIT
"""Hosts whose clocks are 30 seconds apart: the second one is ahead of the others. What has a time is still right:
tokens, waits after wrong passwords, lists, links, and what job runners and uploads lease."""

import datetime
import itertools
import subprocess

import jwt
import pytest
from support import files, samples
from support.accounts import invitation
from support.database import key
from support_clock import APART, ahead
from support_workers import workers

AHEAD = 1
ALL = range(3)
PAIRS = list(itertools.product(ALL, ALL))
# Beyond the difference of the clocks: a busy machine may take so long between two steps.
PATIENCE = 20


def clock_of(host):
    """What starts a program with the host's clock."""
    return ahead(APART) if host == AHEAD else []


@pytest.fixture(scope="module")
def apart(cluster):
    """A worker on each host, with the host's clock."""
    with workers(cluster, fronts=[clock_of(host) for host in ALL]) as found:
        yield found


def body(account):
    return {"username": account.email, "password": account.password}


def test_tokens_of_each_host_are_good_on_every_host_and_end_there(apart, customer):
    issued = {}
    for maker, user in PAIRS:
        tokens = apart[maker].good("POST", "/customers/login", body(customer))["tokens"]
        issued[maker] = jwt.decode(tokens["accessToken"], options={"verify_signature": False})["iat"]
        apart[user].good("GET", "/customers/me", token=tokens["accessToken"])
        next_ones = apart[user].good("POST", "/customers/refresh", {"refreshToken": tokens["refreshToken"]})["tokens"]
        assert tokens["expiresIn"] == next_ones["expiresIn"] == 900
        apart[maker].good("GET", "/customers/me", token=next_ones["accessToken"])
        apart[user].good("POST", "/customers/logout", {}, token=next_ones["accessToken"])
        for token in (tokens, next_ones):
            status, reply, _ = apart[maker].ask("GET", "/customers/me", token=token["accessToken"])
            assert (status, reply["code"]) == (401, "auth.tokenRevoked"), (maker, user)
    # The last ones of the first and the second host were made one after the other: the clocks are really apart.
    assert issued[AHEAD] >= issued[0] + APART


def test_wrong_passwords_make_every_host_wait_equally_long(apart, customer, database):
    wrong = {**body(customer), "password": "not the password"}
    for host in itertools.islice(itertools.cycle(reversed(ALL)), 5):
        database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
        assert apart[host].ask("POST", "/customers/login", wrong)[1]["code"] == "auth.credentials"
    for counting in ALL:
        database.run("UPDATE throttle SET failures = 11, locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"
                     " WHERE scope = 'account'")
        assert apart[counting].ask("POST", "/customers/login", wrong)[0] == 401
        waits = []
        for host in ALL:
            status, reply, answer = apart[host].ask("POST", "/customers/login", body(customer))
            assert (status, reply["code"]) == (429, "rate.limited")
            waits.append(int(answer.headers["Retry-After"]))
        # Twelve failures in a row: 128 seconds.
        assert 128 - PATIENCE < min(waits) <= max(waits) <= 128, (counting, waits)
    database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE scope = 'account'")
    for host in ALL:
        apart[host].good("POST", "/customers/login", body(customer))


def pages(host, path, token):
    """All items of a list, five on a page."""
    items, cursor, mark = [], "", "&" if "?" in path else "?"
    while cursor is not None:
        page = host.good("GET", f"{path}{mark}limit=5{cursor and '&cursor='}{cursor}", token=token)
        items, cursor = items + page["items"], page["nextCursor"]
    return items


def test_lists_have_each_row_once_in_the_order_of_the_time_that_they_show(apart, customer):
    """Rows of hosts whose clocks are apart are mixed: the order is that of the times, the same on every host. What a
    host knows of the database's clock is as exact as one answer took, so rows that are closer may stand the other
    way."""
    token, made = customer.token, []
    for number in range(12):
        mark = files.multipart.boundary()
        parts = files.multipart.encode(files.form(samples.noise(200), f"{number}.bin"), mark)
        answer = apart[number % 3].worker.call("POST", apart[0].prefix + "/system/files", token=token, body=parts,
                                               content_type=files.multipart.content_type(mark))
        assert answer.status == 200, answer.body
    lists = {"/system/files": ("createdAt", True), "/system/files?sort=oldest": ("createdAt", False),
             "/customers/organisation/audit": ("at", True)}
    for path, (name, newest_first) in lists.items():
        found = [pages(host, path, token) for host in apart]
        made = [[row["id"] for row in rows] for rows in found]
        assert made[0] == made[1] == made[2], path
        assert len(set(made[0])) == len(made[0]) >= 12, path
        times = [datetime.datetime.fromisoformat(row[name].replace("Z", "+00:00")) for row in found[0]]
        if newest_first:
            times.reverse()
        back = max(earlier - later for earlier, later in itertools.pairwise(times))
        assert back < datetime.timedelta(seconds=PATIENCE), f"{path}: {back}"


def test_a_link_of_each_host_opens_on_every_host(apart, customer):
    token, record = customer.token, files.upload(customer, samples.noise(200))
    for maker, opener in PAIRS:
        link = apart[maker].good("POST", f"/system/files/{record['id']}/link", {"expiresIn": 60 + APART}, token=token)
        path = link["url"].partition("/system/links/")[2]
        answer = apart[opener].worker.call("GET", f"{apart[opener].prefix}/system/links/{path}")
        assert answer.status == 200, (maker, opener, answer.body)


def run_jobs(cluster, host):
    """The job runner of that host, once."""
    subprocess.run([*clock_of(host), cluster.stack.ctl, "--config", cluster.hosts[host].configuration, "jobs",
                    "--once"], check=True, timeout=120)


def test_what_a_job_runner_has_leased_is_not_taken_by_one_whose_clock_is_ahead(apart, accounts, cluster, database):
    runners = [f"{host.name}-jobs" for host in cluster.hosts]
    cluster.hold(*runners)
    cluster.kill(*runners)
    sent = invitation()
    apart[0].good("POST", "/customers/signup", sent, token=accounts.administrator.token)
    leased = "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL %s SECOND WHERE status = 'waiting'"
    # As long as the clocks are apart: by its own clock the runner could take it.
    database.run(leased, APART)
    run_jobs(cluster, AHEAD)
    assert accounts.mailbox.messages(sent["email"]) == []
    database.run(leased, 0)
    for host in (AHEAD, 0):
        run_jobs(cluster, host)
    assert len(accounts.mailbox.messages(sent["email"])) == 1


def test_an_upload_that_one_host_writes_is_locked_on_one_whose_clock_is_ahead(apart, customer, database):
    token, tus = customer.token, {"Tus-Resumable": "1.0.0"}
    named = "bucket ZmlsZXM=,type bWlzYw==,filename YS5iaW4="
    call, prefix = apart[0].worker.call, apart[0].prefix
    made = call("POST", f"{prefix}/system/uploads", token=token,
                headers={**tus, "Upload-Length": "8", "Upload-Metadata": named})
    assert made.status == 201, made.body
    identity = made.headers["Location"].rpartition("/")[2]
    chunk = {"headers": {**tus, "Upload-Offset": "0"}, "body": b"12345678",
             "content_type": "application/offset+octet-stream"}
    held = "UPDATE file_upload SET holder = id, held_until = UTC_TIMESTAMP(3) + INTERVAL %s SECOND WHERE id = %s"
    path = f"{prefix}/system/uploads/{identity}"
    database.run(held, APART, key(identity))
    assert apart[AHEAD].worker.call("PATCH", path, token=token, **chunk).status == 423
    database.run(held, 0, key(identity))
    assert apart[AHEAD].worker.call("PATCH", path, token=token, **chunk).status == 204
