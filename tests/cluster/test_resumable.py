# SPDX-License-Identifier: MIT
"""Resumable uploads while parts of the cluster die: what was acknowledged is there, and every upload goes on through
another part."""

import hashlib
import os
import pathlib
import subprocess
import threading
import time
import uuid

import pytest
from support.database import key
from support.parallel import count, run
from support.stack import wait_until
from support_calm import calmly, faults
from uploads import support_tus as tus
from uploads.support_uploader import Uploader

UPLOADERS = 3
ROOM = 37
# A writer whose host is lost keeps others out for half a minute, which only a full run waits for; test_clients.py has a
# host that dies between two pieces.
VICTIMS = [*(["the host that writes"] if os.environ.get("GATEHOUSE_TEST_FULL") else []), "the database node in use",
           "an address of the store"]


class Uploaders:
    """with Uploaders(...) as uploaders: people who upload in pieces, each one file after the other."""

    def __init__(self, stack, token):
        self.stop = threading.Event()
        self.all = [Uploader(stack, token, self.stop) for _ in range(UPLOADERS)]

    def __enter__(self):
        for one in self.all:
            one.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for one in self.all:
            one.join(300)
        assert not any(one.is_alive() for one in self.all), "an upload hangs"

    @property
    def stored(self):
        """id -> digest of all that was acknowledged."""
        return {file: digest for one in self.all for file, digest in one.stored.items()}

    @property
    def faults(self):
        return [fault for one in self.all for fault in one.faults]

    @property
    def broken(self):
        return sum(one.broken for one in self.all)

    def await_each(self):
        """Until each of them has stored one file more."""
        before = [len(one.stored) for one in self.all]
        wait_until(lambda: all(len(one.stored) > count for one, count in zip(self.all, before)) or self.faults, 120,
                   "a file more of each")


def host_that_writes(cluster):
    """A host that has a request under way now; there is nobody but the uploaders."""
    return wait_until(lambda: next((name for name, row in cluster.stat().items() if row["scur"] != "0"), None), 60,
                      "a piece that is under way", pause=0)


def bring_down(cluster, victim):
    """Kills it in the middle of a piece, and keeps it dead."""
    host = host_that_writes(cluster)
    names = {"the host that writes": cluster.of_host(host), "the database node in use": ["db1"],
             "an address of the store": ["store1"]}[victim]
    cluster.hold(*names)
    cluster.kill(*names)


@pytest.mark.parametrize("victim", VICTIMS)
def test_what_dies_under_resumable_uploads_loses_nothing(stack, cluster, database, customer, full, figures, victim):
    """What was acknowledged is there, and what was under way goes on."""
    rounds, slowest = 10 if full else 1, 0.0
    with Uploaders(stack, customer.token) as uploaders:
        for _ in range(rounds):
            uploaders.await_each()
            bring_down(cluster, victim)
            began = time.monotonic()
            uploaders.await_each()
            slowest = max(slowest, time.monotonic() - began)
            cluster.release()
            cluster.await_whole()
    figures.note(f"kill -9 of {victim} under resumable uploads, {rounds} times",
                 f"{uploaders.broken} pieces without an answer, {len(uploaders.stored)} files stored, "
                 f"what was under way at most {slowest:.0f} s after a death")
    assert not uploaders.faults, uploaders.faults[:3]
    check(stack, cluster, database, customer, uploaders.stored)


def check(stack, cluster, database, customer, stored):
    """Exactly these files are there, whole; what was begun and never known ends in time, and the usage is exact."""
    organisation = key(customer.organisation["id"])
    rows = database.run("SELECT id, hash, size FROM file WHERE organisation_id = %s", organisation)
    assert {str(uuid.UUID(bytes=bytes(row[0]))): bytes(row[1]) for row in rows} == stored
    for file, digest in stored.items():
        assert hashlib.sha256(customer.get(f"/system/files/{file}", status=200).content).digest() == digest, file
    mine = "FROM file_upload WHERE organisation_id = %s"
    database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE organisation_id = %s",
                 organisation)
    begun = [bytes(row[0]).hex() for row in database.run(f"SELECT id {mine}", organisation)]
    wait_until(lambda: ctl(cluster, "uploads", "expire") and not database.run(f"SELECT 1 {mine}", organisation), 60,
               "every upload to end")
    left = {path.name for path in (pathlib.Path(stack.blobs) / "partial").glob("*")}
    assert begun and not left & set(begun)
    usage, = database.run("SELECT bytes, files FROM file_usage WHERE organisation_id = %s", organisation)
    assert tuple(map(int, usage)) == (sum(int(row[2]) for row in rows), len(rows))


def ctl(cluster, *arguments):
    """gatehousectl, of the first host."""
    return subprocess.run([cluster.stack.ctl, "--config", cluster.stack.configuration, *arguments], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout


def test_a_hundred_creations_on_three_hosts_take_exactly_the_room_there_is(accounts, cluster, hosts, database, figures):
    headers = {**tus.VERSION, "Upload-Length": "1000", "Upload-Metadata": tus.metadata()}

    def create_all():
        owner = accounts.customer()
        organisation, token = key(owner.organisation["id"]), owner.token
        # The hosts may use another node, which knows the organisation before this one does.
        database.run("SET SESSION wsrep_sync_wait = 7")
        database.run("UPDATE organisation SET quota_bytes = %s WHERE id = %s", ROOM * 1000 + 999, organisation)
        replies = run(lambda number: hosts[number % 3].post("/system/uploads", token=token, headers=headers),
                      range(100), threads=24)
        found, failed = count(replies), faults(replies)
        figures.note(f"100 resumable uploads begun on three hosts, room for {ROOM}", f"{found}")
        # What has failed may have taken its room nevertheless.
        assert ROOM - len(failed) <= found.get(201, 0) <= ROOM, found
        assert found.get(201, 0) + found.get(409, 0) + len(failed) == 100, found
        cluster.await_whole()
        (size, number), = database.run("SELECT bytes, files FROM file_usage WHERE organisation_id = %s", organisation)
        assert found.get(201, 0) <= number <= ROOM and size == 1000 * number
        return failed

    failed = calmly(cluster, create_all)
    assert not failed, failed
