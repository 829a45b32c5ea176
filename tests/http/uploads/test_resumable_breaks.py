# SPDX-License-Identifier: MIT
"""Resumable uploads over lines that break and workers that die; and how they end that nobody goes on with."""

import http.client
import json
import os
import pathlib
import signal
import time

import pytest

from files.test_large import BLOCK, PRIVATE_KIB, Watch, block, digest, purge
from support import files, metrics, samples
from support.programs import crash, operator
from support.stack import wait_until
from uploads import support_tus as tus

SIZE = 400_000
GIB = 1 << 30
# A few gibibytes more than what 32 bits can count, when everything is asked for.
FULL = bool(os.environ.get("GATEHOUSE_TEST_FULL"))
LARGE_BLOCKS = 5 * GIB // BLOCK if FULL else 96


@pytest.fixture()
def uploader(accounts):
    """Somebody of an organisation of their own."""
    return accounts.customer()


class Line:
    """A request with one piece, of which the test sends as much as it likes."""

    def __init__(self, stack, account, path, at, length, headers=None):
        self.connection = http.client.HTTPConnection(stack.host, stack.port, timeout=120)
        self.connection.putrequest("PATCH", stack.prefix + path)
        for name, value in {**tus.VERSION, **tus.TYPE, "Authorization": f"Bearer {account.token}",
                            "Upload-Offset": str(at), "Content-Length": str(length), **(headers or {})}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders()

    def send(self, data):
        self.connection.send(data)

    def wait_until_read(self):
        """Until nothing of what was sent lies in a socket of the web server, which would forget it at a break."""
        mine, other = (name[1] for name in (self.connection.sock.getsockname(), self.connection.sock.getpeername()))

        def waiting():
            for entry in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
                words = entry.split()
                ports = [int(address.split(":")[1], 16) for address in words[1:3]]
                if ports in ([mine, other], [other, mine]) and words[4] != "00000000:00000000":
                    return True
            return False
        wait_until(lambda: not waiting(), 60, "the web server to read what was sent")

    def reply(self):
        return self.connection.getresponse()

    def cut(self):
        self.connection.close()


def offset(account, path):
    return int(tus.head(account, path)["Upload-Offset"])


def used(account):
    organisation = account.get("/customers/organisation", status=200).json()["organisation"]
    return organisation["usedBytes"], organisation["usedFiles"]


def row(database, path, columns):
    return database.run(f"SELECT {columns} FROM file_upload WHERE id = UNHEX(%s)", identity(path).replace("-", ""))


def identity(path):
    return path.rsplit("/", 1)[1]


def wait_for_writer(database, path, there=True):
    """Until some worker writes the upload, or until none does any more."""
    wait_until(lambda: bool(row(database, path, "holder")[0][0]) == there, 60, "a worker")


@pytest.mark.web_server
def test_what_came_before_a_break_is_kept(uploader, stack, database):
    """mod_fcgid gives a worker whole pieces only, so that a broken one never comes there."""
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    tus.patch(uploader, path, 0, data[:1000])
    at = 1000
    for length in (1, 70_000, 131_072):
        line = Line(stack, uploader, path, at, SIZE - at)
        line.send(data[at:at + length])
        if tus.streams(stack):
            wait_for_writer(database, path)
            line.wait_until_read()
        line.cut()
        if tus.streams(stack):
            at += length
            wait_until(lambda: offset(uploader, path) == at, 60, f"{at} bytes that are kept")
        wait_for_writer(database, path, there=False)
        assert offset(uploader, path) == at
    done = tus.patch(uploader, path, at, data[at:])
    assert files.info(uploader, done.headers["Upload-File-Id"])["hash"] == files.sha256(data)
    assert used(uploader) == (SIZE, 1)


@pytest.mark.web_server
@pytest.mark.slow
def test_a_line_that_died_without_a_word_is_given_up(uploader, stack, database):
    """The web server waits half a minute for the next byte. Whoever goes on meanwhile is told to wait."""
    if not tus.streams(stack) or not FULL:
        pytest.skip("it waits for half a minute, and mod_fcgid collects a piece first")
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    line = Line(stack, uploader, path, 0, SIZE)
    line.send(data[:100_000])
    wait_for_writer(database, path)
    tus.patch(uploader, path, 0, data, status=423, code="upload.locked")
    wait_for_writer(database, path, there=False)
    assert offset(uploader, path) == 100_000
    tus.patch(uploader, path, 100_000, data[100_000:])
    line.cut()


def test_a_broken_piece_with_a_checksum_does_not_count(uploader, stack, database):
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    line = Line(stack, uploader, path, 0, SIZE, {"Upload-Checksum": tus.checksum(data)})
    line.send(data[:100_000])
    if tus.streams(stack):
        wait_for_writer(database, path)
    line.cut()
    wait_for_writer(database, path, there=False)
    assert offset(uploader, path) == 0
    tus.patch(uploader, path, 0, data, headers={"Upload-Checksum": tus.checksum(data)})
    assert used(uploader) == (SIZE, 1)


@pytest.mark.directory
@pytest.mark.fault
def test_a_worker_that_dies_keeps_nobody_out_and_loses_nothing_acknowledged(uploader, stack, database):
    if not tus.streams(stack):
        pytest.skip("mod_fcgid collects a piece before a worker sees it")
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    tus.patch(uploader, path, 0, data[:100_000])
    line = Line(stack, uploader, path, 100_000, SIZE - 100_000)
    line.send(data[100_000:300_000])
    wait_for_writer(database, path)
    holder = writer(stack)
    os.kill(holder, signal.SIGKILL)
    if stack.nginx:  # Apache notices when the client sends more
        assert line.reply().status == 502
    line.cut()
    # The next one does not wait: the lock on the bytes has ended with the worker.
    at = offset(uploader, path)
    assert at >= 100_000
    done = tus.patch(uploader, path, at, data[at:])
    assert files.download(uploader, done.headers["Upload-File-Id"], status=200).content == data
    assert used(uploader) == (SIZE, 1)


def writer(stack):
    """The worker that has bytes of an upload open."""
    def find():
        for pid in stack.workers():
            for entry in os.listdir(f"/proc/{pid}/fd"):
                try:
                    if "/partial/" in os.readlink(f"/proc/{pid}/fd/{entry}"):
                        return pid
                except OSError:
                    continue
        return None
    return wait_until(find, 30, "a worker that has the bytes open")


@pytest.mark.web_server
@pytest.mark.large
def test_a_large_upload_needs_no_memory(uploader, stack, database):
    """In two requests, of which the first breaks off where the web server lets it through."""
    total = LARGE_BLOCKS * BLOCK
    path = tus.begin(uploader, total, meta=tus.metadata(f"large-{time.time_ns()}.bin"))
    watch = Watch(stack)
    watch.start()
    try:
        if tus.streams(stack):
            line = Line(stack, uploader, path, 0, total)
            for number in range(LARGE_BLOCKS // 2):
                line.send(block(number))
            line.wait_until_read()
            line.cut()
            wait_for_writer(database, path, there=False)
            assert offset(uploader, path) == total // 2
        at = offset(uploader, path)
        line = Line(stack, uploader, path, at, total - at)
        for number in range(at // BLOCK, LARGE_BLOCKS):
            line.send(block(number))
        reply = line.reply()
        assert reply.status == 204, reply.read()
        line.cut()
    finally:
        peak = watch.finish()
    file = tus.head(uploader, path)["Upload-File-Id"]
    info = files.info(uploader, file)
    assert (info["size"], info["hash"]) == (total, digest(LARGE_BLOCKS))
    files.archive(uploader, file, status=200)
    purge(stack, database, file)
    if stack.web_server == "apache-fcgid" or crash.sanitized(stack):  # a sanitizer keeps what is freed for a while
        return
    print(f"private memory in KiB: {sorted(peak.values())}")
    assert 0 < max(peak.values()) <= PRIVATE_KIB, f"private memory in KiB: {peak}"


# ---- what nobody goes on with ---------------------------------------------------------------------------------------


def expire(database, path):
    database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = UNHEX(%s)",
                 identity(path).replace("-", ""))


def listed(stack, path):
    """The upload as the operator sees it; None: not there."""
    items = json.loads(operator.run(stack, "uploads", "list", "--json"))["items"]
    return next((item for item in items if item["id"] == identity(path)), None)


def test_the_operator_sees_uploads_and_ends_those_whose_time_is_over(uploader, stack, database):
    data = samples.noise(SIZE)
    path, other, open_end = tus.begin(uploader, SIZE), tus.begin(uploader, 1000), tus.begin(uploader, None)
    tus.patch(uploader, path, 0, data[:1234])
    shown = listed(stack, path)
    assert {name: shown[name] for name in ("state", "received", "length", "reserved", "fileId", "organisationId",
                                           "userId")} == {
        "state": "waiting", "received": 1234, "length": SIZE, "reserved": SIZE, "fileId": None,
        "organisationId": uploader.organisation["id"], "userId": uploader.id}
    assert shown["createdAt"] < shown["expiresAt"]
    assert listed(stack, open_end)["length"] is None
    line, = operator.lines_about(operator.run(stack, "uploads", "list"), identity(path))
    assert line.split()[1:4] == ["waiting", "1234", str(SIZE)]
    with crash.paused_jobs(stack):
        expire(database, path)
        assert listed(stack, path)["state"] == "expired"
        assert json.loads(operator.run(stack, "uploads", "expire", "--json"))["ended"] >= 1
    assert listed(stack, path) is None and listed(stack, other)["state"] == "waiting"
    tus.head(uploader, path, status=404)
    assert used(uploader) == (1000, 2)
    actions = [row["action"] for row in uploader.get("/customers/organisation/audit", status=200).json()["items"]
               if row["targetId"] == identity(path)]
    assert sorted(actions) == ["upload.create", "upload.expire"]
    finished = tus.patch(uploader, other, 0, data[:1000]).headers["Upload-File-Id"]
    assert (listed(stack, other)["state"], listed(stack, other)["fileId"]) == ("finished", finished)


def test_the_job_runner_ends_what_nobody_goes_on_with(uploader, stack, database):
    path, finished = tus.begin(uploader, SIZE), tus.begin(uploader, 1000)
    file = tus.patch(uploader, finished, 0, samples.noise(1000)).headers["Upload-File-Id"]
    expire(database, path)
    expire(database, finished)
    operator.run(stack, "jobs", "--once")
    # The stack's own job runner may have them in hand; they go when it is done.
    wait_until(lambda: not row(database, path, "id") and not row(database, finished, "id"), 30, "both to end")
    assert used(uploader) == (1000, 1) and files.info(uploader, file)["size"] == 1000


def test_an_upload_that_is_received_does_not_expire_under_its_writer(uploader, stack, database):
    if not tus.streams(stack):
        pytest.skip("mod_fcgid collects a piece before a worker sees it")
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    line = Line(stack, uploader, path, 0, SIZE)
    line.send(data[:100_000])
    wait_for_writer(database, path)
    assert listed(stack, path)["state"] == "receiving"
    expire(database, path)
    operator.run(stack, "uploads", "expire")
    line.send(data[100_000:])
    reply = line.reply()
    assert reply.status == 204 and files.info(uploader, reply.headers["Upload-File-Id"])["size"] == SIZE
    line.cut()


def test_fsck_knows_uploads_under_way(uploader, stack, database):
    data = samples.noise(SIZE)
    path = tus.begin(uploader, SIZE)
    tus.patch(uploader, path, 0, data[:300_000])
    said = operator.run(stack, "fsck", "--repair", "--min-age", "0", status=None)
    assert identity(path) not in said.stdout and identity(path).replace("-", "") not in said.stdout, said.stdout
    assert used(uploader) == (SIZE, 1)
    done = tus.patch(uploader, path, 300_000, data[300_000:])
    assert files.info(uploader, done.headers["Upload-File-Id"])["hash"] == files.sha256(data)
    assert used(uploader) == (SIZE, 1)


@pytest.mark.directory
def test_bytes_that_belong_to_no_upload_go_after_a_day(stack, uploader, database):
    path, other = tus.begin(uploader, SIZE), tus.begin(uploader, SIZE)
    folder = stack.blobs / "partial"
    stray, young = folder / ("0" * 32), folder / ("1" * 32)
    for file in (stray, young):
        file.write_bytes(b"left by a crash")
        file.chmod(0o640)
    day = time.time() - 25 * 3600
    mine = folder / identity(path).replace("-", "")
    os.utime(stray, (day, day))
    os.utime(mine, (day, day))
    operator.run(stack, "uploads", "expire")
    assert not stray.exists() and young.exists() and mine.exists()
    young.unlink()
    tus.end(uploader, path)
    tus.end(uploader, other)
    assert not mine.exists()


def test_metrics_count_what_becomes_of_uploads(uploader, api):
    def counts():
        scrape = metrics.scrape(api)
        return [scrape.value("gatehouse_resumable_uploads_total", event=event)
                for event in ("created", "finished", "terminated")]
    before = counts()
    done, ended, _ = (tus.begin(uploader, 100) for _ in range(3))
    tus.patch(uploader, done, 0, samples.noise(100))
    tus.end(uploader, ended)
    assert [one - other for one, other in zip(counts(), before)] == [3, 1, 1]
