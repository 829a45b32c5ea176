# SPDX-License-Identifier: MIT
"""Clients that upload or read through the web server, several at once, until told to stop; and who serves them."""

import contextlib
import http.client
import pathlib
import random
import threading

from support.stack import wait_until


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


class Reader(threading.Thread):
    """Reads through the web server until stopped, and keeps what it was told. It keeps its token, good for 900 s: a new
    sign-in could meet what is to happen to the reads."""

    def __init__(self, account, stop):
        super().__init__(daemon=True)
        self.account, self.token, self.stop, self.seen, self.faults = account, account.token, stop, 0, []

    def run(self):
        while not self.stop.is_set():
            try:
                reply = self.account.api.get("/customers/me", token=self.token, edge=True)
                if reply.status_code != 200 or reply.json()["user"]["id"] != self.account.id:
                    self.faults.append(f"{reply.status_code} {reply.text[:200]}")
            except Exception as fault:  # a thread's own failure must not be lost
                self.faults.append(repr(fault))
            self.seen += 1


def children(pid):
    """The child processes of a process, whose name is pid's own business."""
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def every_worker_answers(stack, account):
    """Afterwards the service is whole again: null requests and uploads work, and no worker hangs."""
    wait_until(lambda: account.get("/customers/me", edge=True, status={200, 500, 502}).status_code == 200, 60,
               "the service")
    for _ in range(3 * max(1, len(stack.workers_of("workers")))):
        account.get("/customers/me", status=200)
