# SPDX-License-Identifier: MIT
"""Resumable uploads while workers are killed and disks are full: what was acknowledged is there, and every upload goes
on or ends cleanly."""

import base64
import hashlib
import http.client
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

KILLS = 200 if os.environ.get("GATEHOUSE_TEST_FULL") else 20
VERSION = {"Tus-Resumable": "1.0.0"}
UPLOADS = "/system/uploads"


def metadata(name):
    pairs = {"bucket": "files", "type": "misc", "filename": name}
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())


class Uploader(threading.Thread):
    """Uploads files in pieces until told to stop, and goes on after whatever happens. It remembers what was
    acknowledged and notes each broken promise."""

    def __init__(self, stack, token, stop):
        super().__init__()
        self.stack, self.token, self.stop = stack, token, stop
        self.stored = {}
        self.faults = []
        self.broken = 0
        self.writing = False

    def run(self):
        try:
            while not self.stop.is_set():
                self.upload(samples.noise(random.randrange(300_000, 2_000_000)))
        except Exception as fault:  # a thread's own failure must not be lost
            self.faults.append(repr(fault))

    def call(self, method, path, headers=None, pieces=()):
        """One request; None when there was no answer of a worker."""
        connection = http.client.HTTPConnection(self.stack.host, self.stack.port, timeout=60)
        try:
            connection.putrequest(method, self.stack.prefix + path)
            for name, value in {**VERSION, "Authorization": f"Bearer {self.token}", **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders()
            for piece in pieces:
                connection.send(piece)
                time.sleep(random.uniform(0, 0.01))
            reply = connection.getresponse()
            reply.read()
            return None if reply.status in (500, 502, 503, 504) else reply
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def insist(self, method, path, statuses, headers=None):
        """The same until a worker answers."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            reply = self.call(method, path, headers)
            if reply is not None and reply.status in statuses:
                return reply
            assert reply is None or reply.status == 423, f"{method} {path}: {reply.status}"
            time.sleep(0.02)
        raise AssertionError(f"{method} {path}: no worker answers")

    def upload(self, data):
        """One file, to its end."""
        name = f"{uuid.uuid4().hex}.bin"
        begun = self.insist("POST", UPLOADS, (201, ), {"Upload-Length": str(len(data)), "Content-Length": "0",
                                                       "Upload-Metadata": metadata(name)})
        path = UPLOADS + "/" + begun.headers["Location"].rsplit("/", 1)[1]
        safe, file = 0, None
        while file is None:
            told = self.insist("HEAD", path, (200, ))
            at, file = int(told.headers["Upload-Offset"]), told.headers["Upload-File-Id"]
            assert at >= safe, f"{safe} bytes of {path} were acknowledged, and {at} are there"
            if file is None:
                safe = self.send(path, data, at)
        self.stored[file] = hashlib.sha256(data).digest()

    def send(self, path, data, at):
        """One piece; returns how many bytes are acknowledged."""
        end = min(len(data), at + random.randrange(1, 900_000))
        cuts = [*range(at, end, 65_536), end]
        headers = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(at),
                   "Content-Length": str(end - at)}
        self.writing = True
        reply = self.call("PATCH", path, headers, [data[one:other] for one, other in zip(cuts, cuts[1:])])
        self.writing = False
        if reply is None or reply.status == 423:
            self.broken += reply is None
            return at
        assert reply.status == 204 and int(reply.headers["Upload-Offset"]) == end, reply.status
        return end


def kill_workers(supervisor, uploaders):
    """Kills workers at random moments at which a piece is under way; returns how many."""
    killed, deadline = 0, time.monotonic() + 20 * KILLS
    while killed < KILLS and not any(uploader.faults for uploader in uploaders):
        assert time.monotonic() < deadline, f"only {killed} workers could be killed"
        time.sleep(random.uniform(0.005, 0.3))
        workers = children(supervisor)
        if workers and any(uploader.writing for uploader in uploaders):
            try:
                os.kill(random.choice(workers), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
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
            **VERSION, "Upload-Length": str(len(data)), "Upload-Metadata": metadata("full.bin")})
        path = UPLOADS + "/" + begun.headers["Location"].rsplit("/", 1)[1]

        def send(at, end):
            return pool.call("PATCH", path, token=account.token, body=data[at:end],
                             content_type="application/offset+octet-stream",
                             headers={**VERSION, "Upload-Offset": str(at)})

        def offset():
            return int(pool.call("HEAD", path, token=account.token, headers=VERSION).headers["Upload-Offset"])
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
