# SPDX-License-Identifier: MIT
"""A host, HAProxy's choice, or an address of the store that dies; and each part renewed in turn while people work."""

import signal
import time

import pytest
from support.stack import wait_until
from support_calm import calmly
from support_load import Load

PEOPLE = 12


@pytest.fixture(scope="module")
def people(accounts):
    """Who reads and writes while something breaks."""
    return [accounts.customer() for _ in range(PEOPLE)]


def check_load(cluster, load, what, figures):
    """Nobody may have seen anything wrong, and nothing may be lost."""
    figures.note(what, load.figures())
    assert not load.wrong, load.wrong[:3]
    cluster.await_whole()
    lost = load.verify()
    assert not lost, lost[:3]


def chosen_host(cluster):
    """The host with the most requests under way: the one that is busiest now."""
    return max(cluster.stat().items(), key=lambda item: int(item[1]["stot"]))[0]


@pytest.mark.parametrize("which", ["a host", "the host that HAProxy has given most requests",
                                   "an address of the store"])
def test_what_dies_takes_at_most_the_requests_under_way_with_it(stack, cluster, people, full, figures, which):
    names = {"a host": lambda: cluster.of_host("h3"), "an address of the store": lambda: ["store1"],
             "the host that HAProxy has given most requests": lambda: cluster.of_host(chosen_host(cluster))}[which]
    requests = 5000 if full else 1000

    def kill_one():
        with Load(stack, people) as load:
            load.await_more(requests // 3)
            dying = names()
            cluster.hold(*dying)
            cluster.kill(*dying)
            killed = time.monotonic()
            load.await_more(requests // 3)
            cluster.release()
            load.await_more(requests // 3)
        check_load(cluster, load, f"kill -9 of {which}", figures)
        # What writes and was under way there may fail, since it must not be sent twice.
        return [answer.code for answer in load.failed()
                if answer.began > killed or answer.kind == "read" or which == "an address of the store"]

    failed = calmly(cluster, kill_one)
    assert not failed, failed


def renew_host(cluster, host):
    """As the guide to scaling says: out of HAProxy, then the workers, the job runner and nginx, then in again."""
    cluster.take_out(host)
    for part, number in (("workers", signal.SIGTERM), ("login", signal.SIGTERM), ("uploads", signal.SIGTERM),
                         ("jobs", signal.SIGTERM), ("nginx", signal.SIGQUIT)):
        cluster.renew(f"{host}-{part}", number)
    wait_until(lambda: cluster.is_ready(host), 60, f"{host} to be ready")
    cluster.bring_back(host)


def roll(stack, cluster, people, share):
    """Renews three hosts and three database nodes while people work; returns their load."""
    with Load(stack, people) as load:
        for host in ("h1", "h2", "h3"):
            load.await_more(share)
            renew_host(cluster, host)
        for node in ("db3", "db2", "db1"):
            load.await_more(share)
            cluster.renew_node(node)
        load.await_more(share)
    return load


def test_a_rolling_upgrade_fails_no_request(stack, cluster, people, full, figures):
    def upgrade():
        load = roll(stack, cluster, people, 20000 // 6 if full else 150)
        check_load(cluster, load, "rolling upgrade: three hosts, then three database nodes", figures)
        return [answer.code for answer in load.failed()]

    failed = calmly(cluster, upgrade, own=6)
    assert not failed, failed


def test_hosts_see_the_clients_own_address_and_keep_its_request_id(accounts, cluster, database):
    reply = accounts.api.get("/system/version",
                             headers={"X-Request-Id": "front-to-back-1", "X-Forwarded-For": "192.0.2.99"})
    assert reply.headers["X-Request-Id"] == "front-to-back-1"
    owner = accounts.customer()
    owner.session()
    rows = database.run("SELECT client_address FROM audit WHERE action = 'user.login' ORDER BY id DESC LIMIT 1")
    assert str(rows[0][0]) == "127.0.0.1", rows


def test_the_front_answers_in_the_services_form_when_no_host_is_there(accounts, cluster):
    everything = [name for host in cluster.hosts for name in cluster.of_host(host.name)]
    cluster.hold(*everything)
    cluster.kill(*everything)
    wait_until(lambda: set(cluster.servers().values()) == {"DOWN"}, 60, "HAProxy to notice")
    reply = accounts.api.get("/system/version", edge=True, status=503, code="service.unavailable",
                             headers={"X-Request-Id": "my-own-request-id"})
    assert reply.headers["X-Request-Id"] == reply.json()["body"]["requestId"] == "my-own-request-id"
    assert reply.headers["Retry-After"] == "5"
