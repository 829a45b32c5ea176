# SPDX-License-Identifier: MIT
"""Which permissions people have not used: noted by the workers of every host, written outside of requests, and listed
by gatehousectl permissions unused."""

import datetime
import json
import time
import uuid

import pytest

from support.database import key
from support.programs import operator, system
from support.stack import wait_until
from support.wire import fastcgi_client

FILES, PEOPLE = "/system/files", "/customers/organisations/users"
PATIENCE_SECONDS = 30


def today():
    """The day by the clock that all processes of this machine have."""
    return datetime.datetime.now(datetime.timezone.utc).date()


def uses(database, identity):
    """What is stored of a person: the last day of each permission."""
    return dict(database.run("SELECT permission, last_day FROM permission_use WHERE user_id = %s", key(identity)))


def wait_for(database, identity, *permissions):
    return wait_until(lambda: set(permissions) <= set(uses(database, identity)), PATIENCE_SECONDS,
                      f"the use of {permissions} to be written", 0.02)


def unused(stack, *options, about):
    """What the operator is told of a person: the lines by permission."""
    answer = json.loads(operator.run(stack, "permissions", "unused", *options, "--json"))
    return {one["permission"]: one for one in answer["items"] if one["userId"] == about}


@pytest.fixture()
def member(members, customer):
    return members.holding(customer, "cus:file:r cus:user:r log:*:w")


def host(stack, folder, name, **settings):
    """A worker of another host: it shares nothing with the others but the database."""
    return system.worker(stack, metrics_file=f"{folder}/{name}", cache_size_mib=0, **settings)


@pytest.mark.usefixtures("one_day")
def test_the_workers_of_several_hosts_note_what_let_somebody_in(stack, database, member, tmp_path):
    with host(stack, tmp_path, "one", testing_use_seconds=1) as one, \
            host(stack, tmp_path, "two", testing_use_seconds=1) as two:
        assert one.call("GET", stack.prefix + FILES, token=member.token).status == 200
        assert two.call("GET", stack.prefix + PEOPLE, token=member.token).status == 200
        # What was refused, and what asks for no permission, is no use.
        assert two.call("GET", stack.prefix + "/system/audit", token=member.token).status == 403
        assert two.call("GET", stack.prefix + "/customers/me", token=member.token).status == 200
        # Nobody calls any more: both write while they wait.
        wait_for(database, member.id, "cus:file:r", "cus:user:r")
        # The same person at the other host: nothing is counted twice.
        assert two.call("GET", stack.prefix + FILES, token=member.token).status == 200
    assert uses(database, member.id) == {"cus:file:r": today(), "cus:user:r": today()}


@pytest.mark.usefixtures("one_day")
def test_a_new_day_takes_the_place_of_the_old_one_and_never_the_other_way(stack, database, member, tmp_path):
    yesterday, tomorrow = today() - datetime.timedelta(1), today() + datetime.timedelta(1)
    for permission, day in (("cus:file:r", yesterday), ("cus:user:r", tomorrow)):
        database.run("INSERT INTO permission_use VALUES (%s, %s, %s)", key(member.id), permission, day)
    with host(stack, tmp_path, "one") as one:
        for path in (FILES, PEOPLE):
            assert one.call("GET", stack.prefix + path, token=member.token).status == 200
        assert uses(database, member.id)["cus:file:r"] == yesterday
    # It has ended in good order, and so has written what it had noted.
    assert uses(database, member.id) == {"cus:file:r": today(), "cus:user:r": tomorrow}


def test_a_worker_that_is_killed_loses_what_it_has_not_written_and_no_more(stack, database, member, tmp_path):
    with host(stack, tmp_path, "one", testing_use_seconds=1) as one:
        started = time.monotonic()
        assert one.call("GET", stack.prefix + FILES, token=member.token).status == 200
        wait_for(database, member.id, "cus:file:r")
        assert time.monotonic() - started < PATIENCE_SECONDS
        assert one.call("GET", stack.prefix + PEOPLE, token=member.token).status == 200
        one.process.kill()
        one.process.wait()
    assert set(uses(database, member.id)) - {"cus:user:r"} == {"cus:file:r"}
    with host(stack, tmp_path, "two", testing_use_seconds=1) as two:
        assert two.call("GET", stack.prefix + PEOPLE, token=member.token).status == 200
        wait_for(database, member.id, "cus:user:r")


def test_what_was_noted_is_written_before_the_body_of_an_upload_comes(stack, database, members, customer, tmp_path):
    uploader = members.holding(customer, "cus:file:w")
    values = fastcgi_client.environment("POST", stack.prefix + FILES, content_length=1000,
                                        content_type="multipart/form-data; boundary=x",
                                        headers={"Authorization": f"Bearer {uploader.token}"})
    head = fastcgi_client.begin() + fastcgi_client.stream(fastcgi_client.PARAMS, fastcgi_client.pairs(values))
    with host(stack, tmp_path, "one") as one, one.connect() as connection:
        assert connection.send(head)
        wait_for(database, uploader.id, "cus:file:w")
        one.process.kill()


@pytest.mark.usefixtures("one_day")
def test_the_operator_lists_what_nobody_has_used(stack, database, member):
    database.set_roles(member.id, ["inv-manage"])
    day = today()
    database.run("INSERT INTO permission_use VALUES (%s, 'cus:user:r', %s), (%s, 'cus:file:r', %s)",
                 key(member.id), day, key(member.id), day - datetime.timedelta(90))
    told = unused(stack, about=member.id)
    assert {name: (one["sources"], one["lastUsedAt"]) for name, one in told.items()} == {
        "cus:file:r": (["user"], f"{day - datetime.timedelta(90)}T00:00:00.000Z"),
        "log:*:w": (["user"], None),
        "inv:*:w": (["role:inv-manage"], None),
    }
    assert told["log:*:w"]["email"] == member.email
    assert told["log:*:w"]["organisationId"] == member.organisation["id"]
    # Ninety days end today: what was used ninety days ago was used on the day before them.
    assert set(unused(stack, "--days", "91", about=member.id)) == {"log:*:w", "inv:*:w"}
    assert set(unused(stack, "--days", "1", about=member.id)) == {"log:*:w", "inv:*:w", "cus:file:r"}
    database.run("UPDATE permission_use SET last_day = %s WHERE user_id = %s", day - datetime.timedelta(1),
                 key(member.id))
    assert set(unused(stack, "--days", "1", about=member.id)) == \
        {"log:*:w", "inv:*:w", "cus:file:r", "cus:user:r", "cus:*:w"}
    assert set(unused(stack, "--days", "2", about=member.id)) == {"log:*:w", "inv:*:w"}
    table = operator.lines_about(operator.run(stack, "permissions", "unused"), member.id)
    assert [line.split()[2:] for line in table] == [["log:*:w", "user", "never"],
                                                    ["inv:*:w", "role:inv-manage", "never"]]


def test_every_person_is_gone_over(stack, database):
    """Several pages of people, each with what they hold."""
    answer = json.loads(operator.run(stack, "permissions", "unused", "--json"))
    assert answer["days"] == 90 and answer["countedSince"].endswith("T00:00:00.000Z")
    holders = database.run("SELECT u.id FROM user u WHERE u.status <> 'provisioning'"
                           " AND u.permissions REGEXP '^[a-z]+:[a-z]+:[arw]$'"
                           " AND NOT EXISTS (SELECT 1 FROM permission_use p WHERE p.user_id = u.id)")
    assert {str(uuid.UUID(bytes=row[0])) for row in holders} <= {one["userId"] for one in answer["items"]}


def test_the_number_of_days_has_bounds(stack):
    for days in ("0", "366", "ninety"):
        done = operator.run(stack, "permissions", "unused", "--days", days, status=None)
        assert done.returncode == 2 and "--days" in done.stderr, days


@pytest.mark.usefixtures("one_day")
def test_the_job_runner_removes_what_is_older_than_a_year(stack, database, member):
    day = today()
    for permission, age in (("cus:file:r", 364), ("cus:user:r", 365)):
        database.run("INSERT INTO permission_use VALUES (%s, %s, %s)", key(member.id), permission,
                     day - datetime.timedelta(age))
    operator.run(stack, "jobs", "--once")
    assert set(uses(database, member.id)) == {"cus:file:r"}
