# SPDX-License-Identifier: MIT
"""Resumable uploads while workers are killed and disks are full: what was acknowledged is there, and every upload goes
on or ends cleanly."""

import contextlib
import hashlib
import json
import os
import random
import signal
import threading
import time
import uuid

import support_ledger as ledgers
from support import files, samples
from support.programs import operator
from support.stack import wait_until
from support_pool import Pool
from test_full import fill, release, small  # noqa: F401
from test_kill import children
from uploads import support_tus as tus
from uploads.support_uploader import UPLOADS, Uploader

KILLS = 200 if os.environ.get("GATEHOUSE_TEST_FULL") else 20


def writers(supervisor):
    """The workers that have the bytes of an upload open."""
    found = []
    for pid in children(supervisor):
        with contextlib.suppress(OSError):  # it may end meanwhile
            folder = f"/proc/{pid}/fd"
            if any("/partial/" in os.readlink(f"{folder}/{entry}") for entry in os.listdir(folder)):
                found.append(pid)
    return found


def kill_workers(supervisor, uploaders):
    """Kills workers at random moments of the pieces that they write; returns how many."""
    killed, deadline = 0, time.monotonic() + 20 * KILLS
    while killed < KILLS and not any(uploader.faults for uploader in uploaders):
        assert time.monotonic() < deadline, f"only {killed} workers could be killed"
        time.sleep(random.uniform(0.005, 0.3))
        found = writers(supervisor)
        if found:
            os.kill(random.choice(found), signal.SIGKILL)
            killed += 1
    return killed


def test_workers_killed_in_the_middle_of_pieces_lose_nothing_acknowledged(stack, database, account):
    supervisor, = stack.pids_named("uploads")
    stop = threading.Event()
    uploaders = [Uploader(stack, account.token, stop) for _ in range(3)]
    for uploader in uploaders:
        uploader.start()
    killed = kill_workers(supervisor, uploaders)
    stop.set()
    for uploader in uploaders:
        uploader.join(300)
    assert not any(uploader.is_alive() for uploader in uploaders), "an upload hangs"
    faults = [fault for uploader in uploaders for fault in uploader.faults]
    stored = {file: digest for uploader in uploaders for file, digest in uploader.stored.items()}
    broken = sum(uploader.broken for uploader in uploaders)
    print(f"{killed} kills, {broken} pieces without an answer, {len(stored)} files")
    assert not faults, faults[:3]
    assert stored and broken, "the kills met no piece"
    check(stack, database, account, stored)


def check(stack, database, account, stored):
    """Exactly these files are there, whole; every upload ends cleanly, and the usage is exact."""
    rows = {str(uuid.UUID(bytes=bytes(row[0]))): bytes(row[1]) for row in database.run("SELECT id, hash FROM file")}
    assert rows == stored
    for file, digest in stored.items():
        data = ledgers.blob_path(stack.blobs, uuid.UUID(file).bytes).read_bytes()
        assert hashlib.sha256(data).digest() == digest, file
    # A worker that was killed leaves an upload that nobody knows of, or a second name of bytes, until the time is over.
    database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
    wait_until(lambda: operator.run(stack, "uploads", "expire") and not database.run("SELECT 1 FROM file_upload"), 60,
               "every upload to end")
    # Killed before the row was there: such bytes go after a day.
    for path in (stack.blobs / "partial").iterdir():
        os.utime(path, (time.time() - 90_000, ) * 2)
    operator.run(stack, "uploads", "expire")
    assert not os.listdir(stack.blobs / "partial")
    usage, = database.run("SELECT bytes, files FROM file_usage WHERE organisation_id = UNHEX(%s)",
                          account.organisation["id"].replace("-", ""))
    sizes, = database.run("SELECT SUM(size), COUNT(*) FROM file")
    assert tuple(map(int, usage)) == tuple(map(int, sizes))
    ledgers.repair(stack, database, stack.blobs)


def test_a_disk_that_is_full_keeps_what_was_acknowledged(stack, database, account, small):  # noqa: F811
    """The piece is refused; with room again the upload goes on."""
    data = samples.noise(2_500_000)
    with Pool(stack, 1, files_directory=small, files_delivery="stream") as pool:
        begun = pool.call("POST", UPLOADS, token=account.token, headers={
            **tus.VERSION, "Upload-Length": str(len(data)), "Upload-Metadata": tus.metadata("full.bin")})
        path = UPLOADS + "/" + begun.headers["Location"].rsplit("/", 1)[1]

        def send(at, end):
            return pool.call("PATCH", path, token=account.token, body=data[at:end],
                             content_type="application/offset+octet-stream",
                             headers={**tus.VERSION, "Upload-Offset": str(at)})

        def offset():
            return int(pool.call("HEAD", path, token=account.token, headers=tus.VERSION).headers["Upload-Offset"])
        assert send(0, 500_000).status == 204
        fill(small, 200_000)
        refused = send(500_000, 2_500_000)
        assert refused.status == 500 and json.loads(refused.body)["code"] == "storage.full", refused
        assert offset() == 500_000
        release(small)
        done = send(500_000, 2_500_000)
        assert done.status == 204, done
        info = account.get(f"/system/files/{done.headers['Upload-File-Id']}/info", status=200).json()
        assert info["hash"] == files.sha256(data)
        pool.no_worker_hangs()
