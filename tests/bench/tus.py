# SPDX-License-Identifier: MIT
"""A client of resumable uploads that takes as little of the processors as Python can, and one whose line breaks."""

import base64
import http.client
import mmap
import random
import time
import urllib.parse

from stack import Trouble

PIECE = 8 << 20
SEND = 1 << 20
BREAKS = 10
VERSION = {"Tus-Resumable": "1.0.0"}
PATIENCE = 60


def encode(text):
    return base64.b64encode(text.encode()).decode()


class Client:
    """Uploads one file, whose first bytes differ each time."""

    def __init__(self, address, headers, path, name):
        where = urllib.parse.urlsplit(address)
        self.host, self.port, self.prefix = where.hostname, where.port, where.path
        self.headers = {**VERSION, **headers}
        self.name = name
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self.data[:16] = b"\x93noise\0" + random.randbytes(9)  # begins like nothing that libmagic knows
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        self.sent = 0

    def ask(self, method, path, headers=None):
        """A request without a body."""
        self.connection.request(method, self.prefix + path, headers={**self.headers, **(headers or {})})
        return self.answer()

    def answer(self):
        reply = self.connection.getresponse()
        said = reply.read()
        if reply.status not in (200, 201, 204):
            raise Trouble(f"A resumable upload was answered {reply.status}: {said[:200]!r}")
        return reply.headers

    def create(self):
        """Returns the path of a new upload."""
        pairs = {"bucket": "files", "type": "misc", "filename": self.name}
        told = self.ask("POST", "/system/uploads", {
            "Upload-Length": str(len(self.data)), "Content-Length": "0",
            "Upload-Metadata": ",".join(f"{key} {encode(value)}" for key, value in pairs.items())})
        return "/system/uploads/" + told["Location"].rsplit("/", 1)[1]

    def patch(self, path, at, end, cut=None):
        """Sends a piece; or only as far as `cut`, where the line breaks."""
        self.connection.putrequest("PATCH", self.prefix + path)
        for name, value in {**self.headers, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(at),
                            "Content-Length": str(end - at)}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders()
        last = end if cut is None else cut
        view = memoryview(self.data)
        for first in range(at, last, SEND):
            self.connection.send(view[first:min(first + SEND, last)])
        view.release()
        self.sent += last - at
        if cut is None:
            return self.answer()
        self.connection.close()
        return None

    def whole(self):
        """In pieces, one after the other; returns the seconds."""
        began = time.perf_counter()
        path = self.create()
        for at in range(0, len(self.data), PIECE):
            self.patch(path, at, min(at + PIECE, len(self.data)))
        seconds = time.perf_counter() - began
        self.connection.close()
        return seconds

    def over_a_bad_line(self):
        """In one request that breaks ten times; returns the bytes sent for each byte of the file."""
        path, size = self.create(), len(self.data)
        for cut in sorted(random.sample(range(size), BREAKS)):
            at = self.offset(path)
            if cut > at:
                self.patch(path, at, size, cut)
        self.patch(path, self.offset(path), size)
        self.connection.close()
        return self.sent / size

    def offset(self, path):
        """How many bytes are safe, once the former request has ended: a client waits a moment before it goes on."""
        seen, deadline = -1, time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            told = int(self.ask("HEAD", path)["Upload-Offset"])
            if told == seen:
                return told
            seen = told
            time.sleep(1)
        raise Trouble("The offset of an upload does not come to rest.")
