# SPDX-License-Identifier: MIT
"""A database node that dies, is cut off, or is written to beside the others: nothing acknowledged is lost, nothing
stale is served."""

import itertools
import time

import pymysql
import pytest
from support.stack import wait_until
from support_calm import AWAY, calmly, faults
from support_load import Load

PEOPLE = 12
FAILED_MOST = 10
PERMISSION = "cus:user:r"
LIST = "/customers/organisations/users"


@pytest.fixture(scope="module")
def people(accounts):
    """Who reads and writes while something breaks."""
    return [accounts.customer() for _ in range(PEOPLE)]


@pytest.mark.parametrize("way", ["killed", "cut off"])
def test_the_loss_of_the_node_in_use_loses_nothing_and_is_over_soon(stack, cluster, people, figures, way):
    def lose_one():
        with Load(stack, people) as load:
            load.await_more(200)
            if way == "killed":
                cluster.kill("db1")
            else:
                cluster.cut_off("db1")
            load.await_more(600)
        figures.note(f"database node in use {way}", load.figures())
        assert not load.wrong, load.wrong[:3]
        if way == "cut off":
            assert cluster.state("db1").get("wsrep_ready") == "OFF"
            cluster.heal()
        cluster.await_whole()
        lost = load.verify()
        assert not lost, lost[:3]
        failed = [answer.code for answer in load.failed()]
        return failed if len(failed) > FAILED_MOST else []

    failed = calmly(cluster, lose_one, own=2)
    assert not failed, failed


def test_without_a_majority_nothing_old_is_told_and_nothing_is_taken(accounts, cluster, hosts, full, figures):
    """Two of three nodes die just after somebody has lost a permission. What still tells of it has the loss, and once
    the last node has noticed there is no other answer than 500. The two come back, and so does everything."""
    if not full:
        pytest.skip("half a minute of waits for deadlines")
    subject = accounts.user_with(PERMISSION)
    token, seen, written = subject.token, [], set()

    def look():
        return [host.get(LIST, token=token).status_code for host in hosts]

    assert look() == [200] * 3
    cluster.hold("db2", "db3")
    cluster.databases[0].set_permissions(subject.id, "")
    cluster.kill("db2", "db3")
    wait_until(lambda: seen.append(look()) or seen[-1] == [500] * 3, 60, "the loss of the majority to be noticed")
    for host in hosts:
        reply = host.patch("/customers/me", token=token, json={"firstName": "Nobody"})
        written.add((reply.status_code, reply.json()["code"]))
        seen.append([host.get(LIST, token=token).status_code])
    assert written == {(500, "database.unavailable")}
    cluster.release("db2", "db3")
    began = time.monotonic()
    wait_until(lambda: seen.append(look()) or seen[-1] == [403] * 3, 60, "answers once there is a majority again")
    cluster.await_whole()
    told = [status for statuses in seen for status in statuses]
    figures.note("two of three database nodes killed, then back",
                 f"{told.count(500)} of {len(told)} requests answered 500, {told.count(200)} with what was old, "
                 f"answers again {time.monotonic() - began:.0f} s after the start of the nodes")
    assert set(told) == {403, 500}
    assert subject.get("/customers/me", status=200).json()["user"]["firstName"] != "Nobody"


def typed(database, user_id, text):
    """Whether the change could be typed at this node. Who types waits as well, in the same session: a node that does
    not know the last change yet takes the same text for no change."""
    try:
        database.run("SET SESSION wsrep_sync_wait = 7")
        session = database.connection
        database.set_permissions(user_id, text)
        return database.connection is session
    except pymysql.err.OperationalError:
        return False


def check_rounds(cluster, figures, what, rounds, turn):
    """In each round turn(held) gives the permission or takes it away, and asks at once. It returns the replies, the
    last of which has to know of the change; None where the change could not be typed."""

    def change():
        stale, failed = [], []
        for number in range(rounds):
            held = number % 2 == 0
            replies = turn(held)
            failed += [AWAY] if replies is None else faults(replies)
            if replies and replies[-1].status_code not in (200 if held else 403, 500):
                stale.append((number, replies[-1].request.url, replies[-1].status_code))
        figures.note(what, f"{len(stale)} stale and {len(failed)} failed of {rounds}")
        assert not stale, stale[:5]
        return failed

    failed = calmly(cluster, change)
    assert not failed, failed


def test_a_change_on_one_host_holds_on_every_other_at_once(accounts, cluster, hosts, full, figures):
    """Through another host, and typed at any node."""
    subject = accounts.user_with("")
    token, turns = subject.token, itertools.cycle(itertools.product(range(3), range(3)))

    def turn(held):
        node, host = next(turns)
        if not typed(cluster.databases[node], subject.id, PERMISSION if held else ""):
            return None
        return [hosts[host].get(LIST, token=token)]

    check_rounds(cluster, figures, "permission changed by SQL on any node, request on any host at once",
                 2000 if full else 500, turn)


def test_a_change_through_one_host_holds_at_the_next_request_on_another(members, customer, cluster, hosts, full,
                                                                        figures):
    owner, subject = customer, members.holding(customer, "")
    token, turns = subject.token, itertools.cycle([(0, 1), (1, 2), (2, 0)])

    def turn(held):
        writer, reader = next(turns)
        written = hosts[writer].patch(f"{LIST}/{subject.id}", token=owner.token, status={200, 500},
                                      json={"permissions": [PERMISSION] if held else []})
        return [written] if written.status_code == 500 else [written, hosts[reader].get(LIST, token=token)]

    check_rounds(cluster, figures, "permission changed on one host, request on another at once",
                 2000 if full else 500, turn)
