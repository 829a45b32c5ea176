# SPDX-License-Identifier: MIT
"""The clock of the database node in use is 30 seconds ahead of the others', and the workers change from another node to
it and back: what has a time is still right, by whichever node's clock the time was taken."""

import contextlib
import datetime
import itertools
import re
import subprocess
import time

import pymysql
from support import files, samples
from support.accounts import invitation
from support.database import key
from support.stack import wait_until
from support_clock import APART, AheadNode
from uploads import support_tus as tus

NODE = "db1"
# A machine that is busy may take so long between two steps.
PATIENCE = 20
# By when the workers use the first node again, and a letter has gone whose time came by a clock that was ahead.
MOVED_SECONDS = 120
PIECE = 50_000
PHASES = ("another node", "the node ahead", "another node again", "the node with its own clock")
LOCK_SECONDS = 300
LINK_SECONDS = 3600


class Phase:
    """What was made while the workers used one node."""

    def __init__(self, tokens, records, link, letters):
        self.tokens, self.records, self.link, self.letters = tokens, records, link, letters


class Story:
    """One customer and what it does in each phase."""

    def __init__(self, accounts, hosts):
        self.accounts, self.hosts = accounts, hosts
        self.customer = accounts.customer()
        self.phases = []
        self.upload = tus.begin(self.customer, len(PHASES) * PIECE)
        self.bytes = samples.noise(len(PHASES) * PIECE)
        self.records = []

    def login(self, host):
        """Tokens of a new session, through that host."""
        sent = {"username": self.customer.email, "password": self.customer.password}
        return self.hosts[host].post("/customers/login", json=sent, status=200).json()["tokens"]

    def live(self):
        """A phase: sign in on each host, files, a link, an invitation, a piece of the upload."""
        at = len(self.phases)
        tokens = [self.login(host) for host in range(3)]
        records = [files.upload(self.customer, samples.noise(300), f"{at}-{number}.bin") for number in range(4)]
        link = self.customer.post(f"/system/files/{records[0]['id']}/link", json={"expiresIn": LINK_SECONDS},
                                  status=200).json()["url"]
        sent = invitation()
        self.hosts[at % 3].post("/customers/signup", json=sent, token=self.accounts.administrator.token, status=200)
        tus.patch(self.customer, self.upload, at * PIECE, self.bytes[at * PIECE:(at + 1) * PIECE])
        self.records += records
        self.phases.append(Phase(tokens, records, link, sent["email"]))

    def check_phases(self):
        """What earlier phases made is good now, on every host, and ends on every host."""
        for host, phase in itertools.product(self.hosts, self.phases):
            for tokens in phase.tokens:
                host.get("/customers/me", token=tokens["accessToken"], status=200)
        for number, phase in enumerate(self.phases):
            host = self.hosts[number % 3]
            renewed = host.post("/customers/refresh", json={"refreshToken": phase.tokens[0]["refreshToken"]},
                                status=200).json()["tokens"]
            self.hosts[(number + 1) % 3].post("/customers/logout", json={}, token=renewed["accessToken"], status=200)
            for other in self.hosts:
                other.get("/customers/me", token=phase.tokens[0]["accessToken"], status=401, code="auth.tokenRevoked")
            phase.tokens = phase.tokens[1:] + [self.login(number % 3)]
            self.accounts.api.get("/system/links/" + phase.link.partition("/system/links/")[2], status=200)
        self.check_lists()

    def pages(self, host, path):
        """All items of a list, five on a page."""
        found, cursor = [], None
        while True:
            page = host.get(path, token=self.customer.token, status=200,
                            params={"limit": 5, **({"cursor": cursor} if cursor else {})}).json()
            found, cursor = found + page["items"], page["nextCursor"]
            if cursor is None:
                return found

    def check_lists(self):
        """Each row once, the same on every host, in the order of the times that the lists show."""
        for path, name in (("/system/files", "createdAt"), ("/customers/organisation/audit", "at")):
            found = [self.pages(host, path) for host in self.hosts]
            made = [[row["id"] for row in rows] for rows in found]
            assert made[0] == made[1] == made[2], path
            assert len(set(made[0])) == len(made[0]) >= len(self.records)
            times = [datetime.datetime.fromisoformat(row[name].replace("Z", "+00:00")) for row in found[0]]
            back = max(later - earlier for earlier, later in itertools.pairwise(times))
            assert back < datetime.timedelta(seconds=PATIENCE), f"{path}: {back}"
        assert {row["id"] for row in self.records} <= {row["id"] for row in self.pages(self.hosts[0], "/system/files")}


def use(cluster, node):
    """Waits until every worker has moved to this node, and all hosts answer."""
    wait_until(lambda: in_use(cluster, node), MOVED_SECONDS, f"all workers to use {node}", pause=0.5)
    wait_until(lambda: all(cluster.is_ready(host.name) for host in cluster.hosts), MOVED_SECONDS, "all hosts")


def in_use(cluster, node):
    """Whether workers are connected to this node and to no other one. A worker looks for the first node again after
    half a minute, one without work at its next request; closing what they have to other nodes hastens that."""
    found = {}
    for name, database in zip(cluster.nodes, cluster.databases):
        found[name] = cluster.state(name) and database.run(
            "SELECT id FROM information_schema.processlist WHERE user LIKE 'gatehouse%%' AND user NOT LIKE '%%admin'"
            " AND command = 'Sleep'")
        for (identity, ) in (found[name] or ()) if name != node else ():
            with contextlib.suppress(pymysql.err.MySQLError):  # it may have ended by itself
                database.run("KILL %s", identity)
    return bool(found.pop(node)) and not any(found.values())


def wrong_passwords(story, database):
    """Fourteen failures in a row, counted by the node in use; the wait that is told."""
    sent = {"username": story.customer.email, "password": "not the password"}
    story.hosts[0].post("/customers/login", json=sent, status=401)
    # This node may not know yet what the one in use has counted.
    database.run("SET SESSION wsrep_sync_wait = 7")
    database.run("UPDATE throttle SET failures = 13, locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"
                 " WHERE scope = 'account'")
    story.hosts[0].post("/customers/login", json=sent, status=401)
    return wait_told(story)


def wait_told(story):
    """How long the next login has to wait, as every host says."""
    sent = {"username": story.customer.email, "password": story.customer.password}
    waits = [int(host.post("/customers/login", json=sent, status=429).headers["Retry-After"]) for host in story.hosts]
    assert max(waits) - min(waits) <= PATIENCE
    return min(waits)


def held_upload(story, database):
    """An upload that a worker holds for a while by the clock of this node; its path."""
    path = tus.begin(story.customer, 8)
    held = "UPDATE file_upload SET holder = id, held_until = UTC_TIMESTAMP(3) + INTERVAL %s SECOND WHERE id = %s"
    database.run(held, LOCK_SECONDS, key(path.rpartition("/")[2]))
    return path


def test_what_has_a_time_is_right_when_the_node_in_use_changes(accounts, cluster, hosts, figures):
    story, node, database = Story(accounts, hosts), AheadNode(cluster, NODE), cluster.databases[1]
    try:
        node.take_down()
        use(cluster, "db2")
        story.live()
        story.check_phases()
        node.start()
        use(cluster, NODE)
        clocks = [float(one.run("SELECT UNIX_TIMESTAMP(SYSDATE(3))")[0][0]) for one in cluster.databases[:2]]
        assert clocks[0] - clocks[1] > APART - PATIENCE, clocks
        told = cluster.check()
        assert len(re.findall(r"Its clock is \d+ s ahead of this machine's", told)) == 1, told
        story.live()
        story.check_phases()
        began = time.monotonic()
        told = wrong_passwords(story, database)
        held = held_upload(story, cluster.databases[0])
        sent = {"offset": 0, "data": b"12345678"}
        tus.patch(story.customer, held, **sent, status=423)
        node.kill()
        use(cluster, "db2")
        # What was counted and leased by the clock that was ahead holds longer, by as much, and no shorter.
        left = wait_told(story) - APART
        assert told - (time.monotonic() - began) - 2 <= left <= told
        tus.patch(story.customer, held, **sent, status=423)
        database.lift_throttles()
        story.live()
        story.check_phases()
        database.run("UPDATE file_upload SET held_until = UTC_TIMESTAMP(3) WHERE id = %s",
                     key(held.rpartition("/")[2]))
        tus.patch(story.customer, held, **sent)
    finally:
        node.give_back()
    cluster.await_whole()
    use(cluster, NODE)
    story.live()
    story.check_phases()
    for phase in story.phases:
        wait_until(lambda address=phase.letters: accounts.mailbox.messages(address), MOVED_SECONDS, "the letter")
        assert len(accounts.mailbox.messages(phase.letters)) == 1
    done = subprocess.run([cluster.stack.ctl, "--config", cluster.stack.configuration, "jobs", "--once"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    figures.note("the node in use changes to one whose clock is 30 s ahead, and back",
                 f"{len(story.records)} files, {len(story.phases)} letters, tokens, waits and leases right")
