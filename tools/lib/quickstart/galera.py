# SPDX-License-Identifier: MIT
"""The nodes of a Galera cluster, each a mariadbd on a loopback address of its own.

A new cluster begins with its first node; the others copy its data (rsync). One that was ended as a whole begins again
with the node that has the newest data. A node that dies while others live joins them again by itself: galera-node
finds out how far its data go, so that the others send only what is missing.

mariadbd must not run as root here: rsync's daemon, which receives the copy, would write it as another user.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import signal

from database import NAME, install
from layout import write
from output import say
from supervisor import Service

NODES = 3
USER = "mysql"
ADMINISTRATOR = "gatehouse_admin"
PROVIDER = "/usr/lib/galera/libgalera_smm.so"
PROGRAM = pathlib.Path(__file__).with_name("galera-node")
SYNCED_SECONDS = 120
# A node that says nothing for a second is suspected. The workers' query timeout (5 s) leaves room for agreeing on it.
TIMEOUTS = ("evs.keepalive_period=PT0.3S;evs.suspect_timeout=PT1S;evs.inactive_timeout=PT3S;"
            "evs.inactive_check_period=PT0.3S;evs.install_timeout=PT3S")
# A node that comes back while the others agree on its death makes them begin anew: 4.5 s without an answer were seen
# where it takes 2 s else. Debian's unit waits for 5 s (RestartSec).
REST_SECONDS = 3.0


@dataclasses.dataclass
class Node:
    """One node: where it listens, and the service that runs it."""

    name: str
    address: str
    ports: dict  # sql, group, transfer (what is missing), copy (of everything)
    data: pathlib.Path
    socket: pathlib.Path
    service: Service = None


class Galera:
    """All nodes of a state folder."""

    def __init__(self, chosen, layout, processes, places):
        self.layout = layout
        self.processes = processes
        # Each worker has one connection, and all may go to the same node; operators and tests come on top.
        self.connections = 2 * 3 * (2 * chosen.workers + chosen.login_workers) + 100
        self.nodes = [Node(name, place.address, place.ports, layout.database.with_name(name),
                           layout.run / f"{name}.sock") for name, place in places.items()]

    # ---- a node

    def arguments(self, node):
        """The command line of mariadbd."""
        def at(port):
            return f"{node.address}:{node.ports[port]}"
        # base_dir: a node that may not look into the folders above its own would forget, by an absolute path, with whom
        # it was together, and nodes that were all killed would wait for each other for ever.
        group = ",".join(f"{other.address}:{other.ports['group']}" for other in self.nodes)
        options = (f"gmcast.listen_addr=tcp://{at('group')};ist.recv_addr={at('transfer')};gcache.size=64M;"
                   f"gcache.recover=yes;gcache.dir={node.data};base_dir=.;{TIMEOUTS}")
        return ["--no-defaults", f"--datadir={node.data}", f"--socket={node.socket}",
                f"--pid-file={node.data}/mariadb.pid", f"--tmpdir={self.temporary(node)}",
                f"--bind-address={node.address}", f"--port={node.ports['sql']}", "--skip-name-resolve",
                "--skip-log-bin", "--binlog-format=ROW", "--default-storage-engine=InnoDB",
                "--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M",
                "--innodb-log-file-size=32M", "--innodb-lock-wait-timeout=1", f"--max-connections={self.connections}",
                "--character-set-server=utf8mb4", "--default-time-zone=+00:00", "--performance-schema=OFF",
                "--wsrep-on=ON", f"--wsrep-provider={PROVIDER}", f"--wsrep-cluster-name={NAME}",
                f"--wsrep-node-name={node.name}", f"--wsrep-node-address={at('group')}",
                f"--wsrep-node-incoming-address={at('sql')}", f"--wsrep-sst-receive-address={at('copy')}",
                "--wsrep-sst-method=rsync", "--wsrep-slave-threads=2", "--wsrep-retry-autocommit=4",
                f"--wsrep-cluster-address=gcomm://{group}", f"--wsrep-provider-options={options}"]

    def temporary(self, node):
        """A folder of the node's own, since the transfer of data leaves files there."""
        folder = self.layout.temporary / node.name
        if not folder.exists():
            folder.mkdir(mode=0o700)
            self.give(folder)
        return folder

    def give(self, path):
        """Hands a file, or a folder with all that is in it, to the user that runs the nodes."""
        if os.geteuid() == 0:
            for one in (path, *path.rglob("*")):
                shutil.chown(one, USER, USER)

    def start(self, supervisor, node, *more):
        """Starts a node; what it needs only this time is not repeated when it dies."""
        command = [PROGRAM, *self.arguments(node)]
        node.service = Service(node.name, self.layout.log / f"{node.name}.log", [*command, *more],
                               prefix=database_user(), ending=((signal.SIGTERM, 60),), rest=REST_SECONDS)
        supervisor.add(node.service)
        node.service.arguments = command

    def await_synced(self, supervisor, node):
        """Waits until the node takes part in the cluster."""
        supervisor.await_answer(node.service, lambda: self.is_synced(node), SYNCED_SECONDS,
                                f"The database node {node.name} is not part of its cluster")

    def is_synced(self, node):
        """Whether it has all data and takes statements."""
        return "Synced" in self.ask(node, "SHOW STATUS LIKE 'wsrep_local_state_comment'")

    def ask(self, node, sql):
        """What a statement of the owner's prints; empty when it fails."""
        log = self.layout.temporary / f"{node.name}.ask"
        log.unlink(missing_ok=True)
        done = self.processes.run(["mariadb", "--no-defaults", f"--socket={node.socket}", "--connect-timeout=5", "-BN",
                                   "-e", sql], log)
        return log.read_text(encoding="utf-8", errors="replace") if done == 0 else ""

    # ---- the cluster

    def start_all(self, supervisor):
        """Brings the cluster up, new or with what it had."""
        first = self.nodes[0]
        if first.data.exists():
            say("Starting the database cluster again")
            first = self.newest()
        else:
            say("Creating the database cluster")
            install(self.layout, self.processes, first.data)
        for node in self.nodes:
            node.data.mkdir(mode=0o700, exist_ok=True)
            self.give(node.data)
        self.start(supervisor, first, "--wsrep-new-cluster")
        self.await_synced(supervisor, first)
        for node in self.nodes:
            if node is not first:
                self.start(supervisor, node)
        # The first one too: on a busy host the nodes may have lost each other while it gave its data to the others.
        for node in self.nodes:
            self.await_synced(supervisor, node)
        self.create_administrator(supervisor, first)

    def flush_tables(self, supervisor):
        """Has each node close its tables of accounts and rights. A node that is killed before that finds those that
        mariadb-install-db has made and the first start has opened broken."""
        for node in self.nodes:
            supervisor.await_answer(node.service,
                                    lambda node=node: self.ask(node, "FLUSH LOCAL TABLES; SELECT 'closed'") != "",
                                    SYNCED_SECONDS, f"The database node {node.name} has not closed its tables")

    def newest(self):
        """The node with which the cluster begins again: that which was ended last, or whose data go furthest."""
        places = {node.name: self.position(node) for node in self.nodes}
        found = max(self.nodes, key=lambda node: places[node.name])
        for node in self.nodes:
            (node.data / "gvwstate.dat").unlink(missing_ok=True)
        state = found.data / "grastate.dat"
        if state.exists():
            text = re.sub(r"safe_to_bootstrap: *\d", "safe_to_bootstrap: 1", state.read_text(encoding="ascii"))
            write(state, text)
            self.give(state)
        return found

    def position(self, node):
        """(whether it was ended last, how far its data go)."""
        try:
            text = (node.data / "grastate.dat").read_text(encoding="ascii")
        except OSError:
            return (False, -1)
        last = re.search(r"^safe_to_bootstrap: *1", text, re.MULTILINE) is not None
        log = self.layout.temporary / f"{node.name}.position"
        log.unlink(missing_ok=True)
        environment = self.processes.environment | {"GALERA_NODE": "position"}
        pid = self.processes.start([PROGRAM, *self.arguments(node)], log, prefix=database_user(),
                                   environment=environment)
        self.processes.wait(pid, "galera-node", log, 120)
        found = re.search(r":(-?\d+)\s*$", log.read_text(encoding="utf-8", errors="replace"))
        return (last, int(found[1]) if found else -1)

    def create_administrator(self, supervisor, node):
        """The account with which gatehousectl makes the tables: the owner's takes no password over the network. A node
        that has just lost the others takes no statement, so it is asked until it takes them."""
        password = self.layout.secret("database-admin-password")
        script = self.layout.temporary / "administrator.sql"
        write(script, f"CREATE USER IF NOT EXISTS {ADMINISTRATOR}@'%' IDENTIFIED BY '{password}';\n"
                      f"GRANT ALL ON *.* TO {ADMINISTRATOR}@'%' WITH GRANT OPTION;\n")
        log = self.layout.log / "mariadb-install.log"
        command = ["mariadb", "--no-defaults", f"--socket={node.socket}", "--connect-timeout=5",
                   "--abort-source-on-error", "-e", f"source {script}"]
        supervisor.await_answer(node.service, lambda: self.processes.run(command, log) == 0, SYNCED_SECONDS,
                                f"The administrator's account could not be made (see {log})")
        script.unlink()

    # ---- what others know of it

    def values(self):
        """The lines of the section [database]."""
        hosts = ", ".join(f"{node.address}:{node.ports['sql']}" for node in self.nodes)
        values = {"socket": "", "host": hosts, "admin_user": ADMINISTRATOR,
                  "admin_password_file": self.layout.secrets / "database-admin-password"}
        return {("database", name): value for name, value in values.items()}

    def facts(self):
        """The list `databases` of quickstart.json."""
        return [{"host": node.address, "port": node.ports["sql"], "pid": node.service.pid, "socket": str(node.socket),
                 "name": node.name} for node in self.nodes]


def database_user():
    """Options for setpriv: as root another user, with the right to reach the state folder."""
    if os.geteuid() != 0:
        return ()
    return ("--reuid", USER, "--regid", USER, "--clear-groups", "--inh-caps", "+dac_override", "--ambient-caps",
            "+dac_override")
