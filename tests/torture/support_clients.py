# SPDX-License-Identifier: MIT
"""Clients that upload through the web server, several at once, until told to stop."""

import contextlib
import http.client
import random
import threading


class Clients:
    """Threads that upload files of random sizes and note every answer in the ledger."""

    def __init__(self, stack, ledger, token, count, largest):
        self.stack = stack
        self.ledger = ledger
        self.token = token
        self.largest = largest
        self.stop = threading.Event()
        self.faults = []
        self.threads = [threading.Thread(target=self.work) for _ in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self.threads), "an upload hangs"
        assert not self.faults, self.faults[:3]

    def work(self):
        while not self.stop.is_set():
            try:
                self.upload(random.randrange(1, self.largest))
            except Exception as fault:  # a thread's own failure must not be lost
                self.faults.append(repr(fault))
                return

    def upload(self, size):
        """One upload through the web server."""
        name, body, content_type = self.ledger.new(size)
        connection = http.client.HTTPConnection(self.stack.host, self.stack.port, timeout=60)
        with contextlib.closing(connection):
            try:
                connection.request("POST", self.stack.prefix + "/system/files", body,
                                   {"Authorization": f"Bearer {self.token}", "Content-Type": content_type})
                reply = connection.getresponse()
                self.ledger.answered(name, reply.status, reply.read())
            except (OSError, http.client.HTTPException) as fault:
                self.ledger.lost(name, fault)
