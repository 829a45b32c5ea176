# SPDX-License-Identifier: MIT
"""A client of resumable uploads that goes on whatever happens to the service, and keeps account of what it was told."""

import hashlib
import http.client
import random
import threading
import time
import uuid

from support import samples
from uploads import support_tus as tus

UPLOADS = "/system/uploads"
PATIENCE = 180


class Uploader(threading.Thread):
    """Uploads files in pieces until told to stop, and goes on after whatever happens. It remembers what was
    acknowledged and notes each broken promise."""

    def __init__(self, stack, token, stop):
        super().__init__()
        self.stack, self.token, self.stop = stack, token, stop
        self.stored = {}
        self.faults = []
        self.broken = 0

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
            for name, value in {**tus.VERSION, "Authorization": f"Bearer {self.token}", **(headers or {})}.items():
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
        deadline = time.monotonic() + PATIENCE
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
                                                       "Upload-Metadata": tus.metadata(name)})
        path = UPLOADS + "/" + begun.headers["Location"].rsplit("/", 1)[1]
        safe, file, deadline = 0, None, time.monotonic() + PATIENCE
        while file is None:
            assert time.monotonic() < deadline, f"{path}: {safe} of {len(data)} bytes after {PATIENCE} s"
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
        headers = {**tus.TYPE, "Upload-Offset": str(at), "Content-Length": str(end - at)}
        reply = self.call("PATCH", path, headers, [data[one:other] for one, other in zip(cuts, cuts[1:])])
        if reply is None or reply.status in (409, 423):
            # 409: a writer of before has brought more since HEAD.
            self.broken += reply is None
            time.sleep(0 if reply is None else 0.1)
            return at
        assert reply.status == 204 and int(reply.headers["Upload-Offset"]) == end, reply.status
        return end
