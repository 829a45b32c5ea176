# SPDX-License-Identifier: MIT
"""What a request costs through one, two and three hosts of a cluster.

All of `tools/quickstart --cluster` shares this machine's processors, so its rate says nothing about three machines.
What does is the work of all processes together for a request: where it stays the same, another host adds what it has.
"""

import argparse
import dataclasses
import pathlib
import sys
import time

import measure
import tell
from load import Sender, Target
from measure import Comparison
from peers.client import multipart, raw
from stack import Stack, Trouble, dashed, free_port
from suites.files import sign_in
from suites.login import accounts

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "http"))
from support.wire import haproxy  # noqa: E402

HOSTS = (1, 2, 3)
SHARED = "3 hosts that share the load of 1"
# The parts of a cluster by the names of their processes in quickstart.json; the last word of those of a host.
PARTS = {"HAProxy": ("haproxy", ), "nginx": ("nginx", ), "workers": ("workers", "login", "uploads"),
         "node written to": ("db1", ), "two nodes that apply it": ("db2", "db3"),
         "store": ("store1", "store2", "store3"), "jobs": ("jobs", )}
MOST = 1.15  # times the work of one host
CONNECTIONS = 8  # to each host; and where a host has a share of a machine's work, to all of them
ROUNDS, SECONDS = 5, 3
PAYLOAD_BYTES = 64 * 1024
PATIENCE = 30
READ, LOGIN, UPLOAD = "authorised file information", "login", "upload of 64 KiB"
NOTES = """\
Three hosts with nginx and workers each, three nodes of Galera, a store of three addresses, and HAProxy in front. The \
hosts that are not measured are taken out of HAProxy; their job runners go on. Rates are those of one machine that \
does the work of all. A host that has less to do sleeps and wakes up more often for the same number of requests, so \
hosts are compared that are equally busy: each has 8 connections. The rows of three hosts that share the 8 connections \
of one stand beside them."""


class Cluster(Stack):
    """The quick start's cluster, with the sample data in its database."""

    def start(self):
        print("Starting the cluster", flush=True)
        self.quickstart("--cluster", "--port", str(free_port()), "--no-install", "--set",
                        "service.requests_per_worker=1000000000")
        self.folder.mkdir(exist_ok=True)
        self.fill()

    def states(self):
        """{host: how HAProxy sees it}."""
        return {name: row["status"] for name, row in haproxy.stat(self.facts["cluster"]["frontSocket"]).items()}

    def use(self, count):
        """Lets HAProxy give requests to so many hosts only."""
        names = [host["name"] for host in self.facts["cluster"]["hosts"]]
        wanted = {name: "UP" if at < count else "MAINT" for at, name in enumerate(names)}
        if self.states() == wanted:
            return
        for name, state in wanted.items():
            haproxy.command(self.facts["cluster"]["frontSocket"],
                            f"set server hosts/{name} state {'ready' if state == 'UP' else 'maint'}")
        deadline = time.monotonic() + PATIENCE
        while self.states() != wanted:
            if time.monotonic() > deadline:
                raise Trouble(f"HAProxy does not come to {wanted}: {self.states()}")
            time.sleep(0.1)

    def parts(self):
        """Processor seconds that each part has used so far."""
        pids = self.facts["pids"]
        return {part: self.busy_of([pid for name, pid in pids.items() if name.rpartition("-")[2] in names])
                for part, names in PARTS.items()}


@dataclasses.dataclass
class Through:
    """A target that is driven through so many hosts; `shared`: with the connections of one host for all of them."""

    kind: str
    hosts: int
    target: Target
    cluster: Cluster
    shared: bool = False

    @property
    def name(self):
        """What it is called."""
        return f"{self.kind}, {SHARED}" if self.shared else name_of(self.kind, self.hosts)

    def drive(self, _, connections, seconds):
        """One round, with so many connections to each host."""
        self.cluster.use(self.hosts)
        before = self.cluster.parts()
        entry = self.target.drive(self.cluster, connections * (1 if self.shared else self.hosts), seconds)
        after = self.cluster.parts()
        return entry | {"parts": {part: (after[part] - before[part]) * 1e6 / max(1, entry["requests"])
                                  for part in PARTS}}


def name_of(kind, hosts):
    """A kind of request and how many hosts it has."""
    return f"{kind}, {hosts} host{'s' * (hosts > 1)}"


def sender(cluster):
    """Uploads of files of which none is like another."""
    base = cluster.facts["baseUrl"]
    payload = cluster.folder / "payload.bin"
    payload.write_bytes(bytes(range(256)) * (PAYLOAD_BYTES // 256))
    kind, before, after = multipart("bench.bin", [("bucket", "files"), ("type", "misc")])
    headers = {"Authorization": f"Bearer {sign_in(cluster)}", "Content-Type": kind}
    request = raw(base, "POST", "/system/files", headers, before, after, PAYLOAD_BYTES)
    return Sender(UPLOAD, base, cluster.note("upload.txt", [request]), payload=payload)


def targets(cluster):
    """{kind: what is driven}."""
    base = cluster.facts["baseUrl"]
    found = {READ: Target(READ, base, cluster.note("reads.txt", [f"/system/files/{dashed(file)}/info"
                                                                 for file in cluster.files]),
                          cluster.tokens("seen.txt", len(cluster.readers))),
             LOGIN: Target(LOGIN, base, cluster.note("logins.txt", accounts(cluster)))}
    for target in found.values():
        target.look()
    return found | {UPLOAD: sender(cluster)}


def compare(measured, kind, hosts):
    """A row of the table of goals: the work of a request through so many hosts against that through one."""
    rows = measured[CONNECTIONS]
    many, one = rows[name_of(kind, hosts)], rows[name_of(kind, 1)]
    ratios = [of["processor"] / to["processor"] for of, to in zip(many, one)]
    comparison = Comparison(f"work of: {name_of(kind, hosts)}", name_of(kind, 1), MOST, CONNECTIONS, least=False)
    return measure.evaluate(comparison, ratios)


def table(measured):
    """The work of each kind of request, and how much of it is the load generator's."""
    rows = []
    for name, entries in measured[CONNECTIONS].items():
        rows.append([name, round(tell.middle(entries, lambda one: one["processor"])),
                     f"{100 * tell.middle(entries, lambda one: one['generator']):.0f} %",
                     *(round(tell.middle(entries, lambda one, part=part: one["parts"][part])) for part in PARTS)])
    return {"title": "Work of a request", "head": ["request", "processor us", "load generator's share",
                                                   *(f"{part} us" for part in PARTS)], "rows": rows}


def run(stack, options):
    """The suite. The service that is up for the others idles."""
    own = argparse.Namespace(**{**vars(options), "state": None})
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    with Cluster(stack.top, own) as cluster:
        driven = [one for kind, target in targets(cluster).items()
                  for one in (*(Through(kind, hosts, target, cluster) for hosts in HOSTS),
                              Through(kind, max(HOSTS), target, cluster, shared=True))]
        measured = measure.interleave(cluster, driven, (CONNECTIONS, ), rounds, seconds)
    return {"title": "Hosts", "rounds": rounds, "seconds": seconds, "measured": measured, "notes": [NOTES],
            "comparisons": [compare(measured, kind, hosts) for kind in (READ, LOGIN, UPLOAD) for hosts in HOSTS[1:]],
            "tables": [table(measured)], "faults": measure.faults(measured)}
