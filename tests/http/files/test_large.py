# SPDX-License-Identifier: MIT
"""A gigabyte goes in and comes out, and no worker grows by it."""

import hashlib
import http.client
import threading
import time

import pytest

from support import files, multipart
from support.client import strict_json
from support.database import key
from support.programs import crash, operator

pytestmark = [pytest.mark.web_server, pytest.mark.upload_mode]

GIB = 1 << 30
BLOCK = 1 << 20
# Private memory that a worker may have at any moment of the upload.
PRIVATE_KIB = 16 * 1024


def block(number):
    """One of 1,024 different blocks of a mebibyte, cheap to make and not alike."""
    return hashlib.sha256(str(number).encode()).digest() * (BLOCK // 32)


def private_kib(pid):
    """Private memory of a process; 0 when it is gone. From smaps_rollup, or, where that is closed because the
    worker is not dumpable and we are not root, the anonymous part of what is resident."""
    for name, start in (("smaps_rollup", "Private_"), ("status", "RssAnon:")):
        try:
            with open(f"/proc/{pid}/{name}", encoding="ascii", errors="replace") as file:
                return sum(int(line.split()[1]) for line in file if line.startswith(start))
        except PermissionError:
            continue
        except (FileNotFoundError, ProcessLookupError):
            break
    return 0


class Watch(threading.Thread):
    """Notes the highest private memory of every worker until stopped."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack = stack
        self.peak = {}
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(0.1):
            for pid in self.stack.workers():
                self.peak[pid] = max(self.peak.get(pid, 0), private_kib(pid))

    def finish(self):
        self.stopped.set()
        self.join()
        return self.peak


def send(stack, account, blocks):
    """Uploads a file of blocks without holding it; returns status and parsed reply."""
    mark = multipart.boundary()
    parts = files.form(b"", f"large-{time.time_ns()}.bin")
    # The file part comes last so that its bytes can be streamed between the head and the terminator.
    parts.append(parts.pop(2))
    head = multipart.encode(parts, mark, end=False)[:-2]
    tail = f"\r\n--{mark}--\r\n".encode()
    connection = http.client.HTTPConnection(stack.host, stack.port, timeout=300)
    try:
        connection.putrequest("POST", stack.prefix + "/system/files")
        connection.putheader("Authorization", f"Bearer {account.token}")
        connection.putheader("Content-Type", multipart.content_type(mark))
        connection.putheader("Content-Length", str(len(head) + blocks * BLOCK + len(tail)))
        connection.endheaders(head)
        for number in range(blocks):
            connection.send(block(number))
        connection.send(tail)
        reply = connection.getresponse()
        return reply.status, strict_json(reply.read(), "large upload")
    finally:
        connection.close()


def digest(blocks):
    """SHA-256 of the file."""
    sum_ = hashlib.sha256()
    for number in range(blocks):
        sum_.update(block(number))
    return sum_.hexdigest()


def purge(stack, database, identity):
    """Takes an archived file away for good: every later backup, fsck and scrub of the stack would read it."""
    database.run("UPDATE file SET archived_at = archived_at - INTERVAL 30001 DAY WHERE id = %s", key(identity))
    operator.run(stack, "purge", "--older-than", "30000")
    assert not files.blob(stack, identity).exists()


@pytest.mark.large
def test_one_gibibyte_round_trips_in_constant_memory(stack, database, keeper):
    files.upload(keeper, b"warm", "warm.bin")
    watch = Watch(stack)
    watch.start()
    try:
        status, record = send(stack, keeper, GIB // BLOCK)
    finally:
        peak = watch.finish()
    assert status == 200, record
    assert record["info"]["size"] == GIB and record["info"]["hash"] == digest(GIB // BLOCK)
    reply = files.download(keeper, record["id"], stream=True, status=200, timeout=120)
    assert reply.headers["Content-Length"] == str(GIB)
    received = hashlib.sha256()
    for data in reply.pieces(BLOCK):
        received.update(data)
    assert received.hexdigest() == record["info"]["hash"]
    last = files.download(keeper, record["id"], headers={"Range": f"bytes={GIB - 5}-"}, status=206)
    assert last.content == block(GIB // BLOCK - 1)[-5:]
    files.archive(keeper, record["id"], status=200)
    purge(stack, database, record["id"])
    if stack.web_server == "apache-fcgid" or crash.sanitized(stack):  # a sanitizer keeps what is freed for a while
        return
    assert peak, "no worker was seen"
    assert max(peak.values()) > 0, "the workers' memory cannot be read"
    assert max(peak.values()) <= PRIVATE_KIB, f"private memory in KiB: {peak}"
