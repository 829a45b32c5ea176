# SPDX-License-Identifier: MIT
"""The parts of the running cluster: found, killed, kept dead, taken out, brought back."""

import json
import pathlib
import re
import signal
import socket
import subprocess
import time

import pymysql
from support.connections import ask
from support.database import Database
from support.parts import Parts
from support.stack import Stack, wait_until
from support.wire import haproxy

# In this order a host dies: what still takes requests goes first.
PARTS = ("nginx", "workers", "login", "uploads", "jobs")
WHOLE_SECONDS = 120
LAST_COMMITS_SECONDS = 5
QUORUM_IS_BACK = "WSREP: Restored state OPEN -> "
HOST_LINE = re.compile(r"^host = (\S.*,.*)$", re.MULTILINE)


class Host(Stack):
    """One host, for clients that go past HAProxy."""

    def __init__(self, stack, facts):
        super().__init__(stack.path)
        self.name = facts["name"]
        self.base_url = facts["baseUrl"]
        self.configuration = facts["configuration"]


class Cluster(Parts):
    """What quickstart.json says of the cluster, and what can be done to it."""

    def __init__(self, stack):
        super().__init__(stack)
        self.hosts = [Host(stack, facts) for facts in self.facts()["hosts"]]
        self.nodes = [facts["name"] for facts in self.facts()["databases"]]
        self.isolated = set()
        self.refusing = set()
        self.databases = [Database(stack.database | {"socket": facts["socket"]})
                          for facts in self.facts()["databases"]]

    def facts(self):
        """The member `cluster` as it is now; what dies is restarted with another pid."""
        return json.loads(self.stack.path.read_text())["cluster"]

    # ---- killing, and bringing back

    def renew(self, name, number):
        """Ends a process in order, and waits for the one in its place."""
        old = self.pid(name)
        self.kill(name, number=number)
        wait_until(lambda: self.pid(name) not in (None, old), WHOLE_SECONDS, f"another {name}")

    def renew_node(self, node):
        """As the guide to upgrading says: the node refuses statements, ends what it has begun, and is restarted."""
        self.refusing.add(node)
        self.databases[self.nodes.index(node)].run("SET GLOBAL wsrep_reject_queries = 'ALL'")
        time.sleep(LAST_COMMITS_SECONDS)
        self.renew(node, signal.SIGTERM)
        self.refusing.clear()
        self.await_whole()

    def is_ready(self, name):
        """Whether a host says of itself that it is ready."""
        host = next(host for host in self.hosts if host.name == name)
        try:
            return ask("GET", host.url("/system/health/ready"), timeout=10).status_code == 200
        except OSError:
            return False

    def cut_off(self, node):
        """The node hears nothing of the others any more, and still takes connections."""
        self.isolated.add(node)
        self.databases[self.nodes.index(node)].run("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")

    def heal(self):
        """Ends everything that a test has begun: what was kept dead, cut off, taken out or told to refuse."""
        self.release()
        for node in self.isolated:
            self.databases[self.nodes.index(node)].run("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")
        self.isolated.clear()
        for node in self.refusing:
            self.databases[self.nodes.index(node)].run("SET GLOBAL wsrep_reject_queries = 'NONE'")
        self.refusing.clear()
        for host, state in self.servers().items():
            if state == "DRAIN":
                self.bring_back(host)

    @staticmethod
    def of_host(name):
        """The names of a host's processes."""
        return [f"{name}-{part}" for part in PARTS]

    # ---- what state they are in

    def state(self, node):
        """What a node says of itself: Synced, or empty when it answers nothing."""
        at = self.nodes.index(node)
        try:
            rows = self.databases[at].run("SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment',"
                                          " 'wsrep_cluster_size', 'wsrep_ready')")
        except pymysql.err.MySQLError:
            self.databases[at].connection = None
            return {}
        return dict(rows)

    def changes(self):
        """How often nodes have joined and left since the cluster began: one that is renewed leaves and joins. A group
        that is without its quorum while a node joins has one change for both, so each node that got it back counts."""
        joined_and_left = int(self.databases[0].run("SHOW STATUS LIKE 'wsrep_cluster_conf_id'")[0][1])
        logs = [(self.stack.logs / f"{node}.log").read_text(errors="replace") for node in self.nodes]
        return joined_and_left + sum(log.count(QUORUM_IS_BACK) for log in logs)

    def commits(self):
        """How many changes of its own clients each node has committed."""
        return [int(database.run("SHOW STATUS LIKE 'wsrep_local_commits'")[0][1]) for database in self.databases]

    def is_whole(self):
        """Whether every node is synced with the others, and every host and address of the store takes requests."""
        states = [self.state(node) for node in self.nodes]
        synced = all(state.get("wsrep_local_state_comment") == "Synced" and state.get("wsrep_cluster_size") == "3"
                     for state in states)
        return synced and all(servers == "UP" for servers in self.servers().values()) and self.store_answers()

    def await_whole(self):
        """Waits until all parts run and take part."""
        wait_until(self.is_whole, WHOLE_SECONDS, "all parts of the cluster", pause=0.2)

    def store_answers(self):
        """Whether every address of the store takes connections."""
        for endpoint in self.facts()["store"]["endpoints"]:
            host, port = endpoint.split("//")[1].split(":")
            try:
                socket.create_connection((host, int(port)), 5).close()
            except OSError:
                return False
        return True

    # ---- which node the workers use

    def turn_lists(self, turn=1):
        """Lets the workers of each host begin with a node of their own: each list of nodes is turned further than the
        one before. They are started anew."""
        for at, host in enumerate(self.hosts):
            path = pathlib.Path(host.configuration)
            path.write_text(HOST_LINE.sub(lambda line, by=at * turn: turned(line[1], by), path.read_text()))
            for part in ("workers", "login", "uploads"):
                self.renew(f"{host.name}-{part}", signal.SIGTERM)
        self.await_whole()

    def turn_lists_back(self):
        """All begin with the first node again."""
        self.turn_lists(-1)

    def nodes_in_use(self):
        """The nodes to which workers are connected."""
        return [name for name, database in zip(self.nodes, self.databases)
                if database.run("SELECT 1 FROM information_schema.processlist WHERE user LIKE 'gatehouse%%'"
                                " AND user NOT LIKE '%%admin'")]

    def check(self):
        """What gatehousectl check says."""
        return subprocess.run([self.stack.ctl, "--config", self.stack.configuration, "check"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout

    # ---- HAProxy

    def command(self, text):
        """What HAProxy answers to a command."""
        return haproxy.command(self.facts()["frontSocket"], text)

    def stat(self):
        """The rows of HAProxy's statistics about the hosts, by name."""
        return haproxy.stat(self.facts()["frontSocket"])

    def servers(self):
        """The state of each host as HAProxy sees it; nothing when it cannot be asked."""
        try:
            return {name: row["status"] for name, row in self.stat().items()}
        except OSError:
            return {"haproxy": "DOWN"}

    def take_out(self, host):
        """No new requests for the host; returns when those under way are answered."""
        self.command(f"set server hosts/{host} state drain")
        wait_until(lambda: self.stat()[host]["scur"] == "0", 60, f"the last request of {host}")

    def bring_back(self, host):
        """Requests for the host again, once it is ready."""
        self.command(f"set server hosts/{host} state ready")
        wait_until(lambda: self.servers()[host] == "UP", 60, f"{host} to be used again")


def turned(text, by):
    """The line with the list of nodes, which begins so many places later."""
    hosts = text.split(", ")
    by %= len(hosts)
    return f"host = {', '.join(hosts[by:] + hosts[:by])}"
