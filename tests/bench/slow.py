# SPDX-License-Identifier: MIT
"""Clients that keep their connections busy with almost nothing: a few bytes a second, forever."""

import selectors
import socket
import threading
import time
import urllib.parse

# A byte or two each time: the server sees that something comes, and has to wait for the rest.
PAUSE_SECONDS = 1
RECEIVE_BUFFER = 4096


class SlowClients(threading.Thread):
    """So many connections that send `head`, then `drop` again and again; they read a few bytes at a time. A connection
    that the server ends is opened again."""

    def __init__(self, address, count, head, drop=b""):
        super().__init__(daemon=True)
        place = urllib.parse.urlsplit(address)
        self.place = place.hostname, place.port
        self.head, self.drop, self.count = head, drop, count
        self.sockets = []
        self.opened = 0
        self.ending = threading.Event()

    def __enter__(self):
        self.start()
        deadline = time.monotonic() + 30
        while self.opened < self.count and time.monotonic() < deadline:
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join()
        for one in self.sockets:
            one.close()

    def run(self):
        self.sockets = [self.open() for _ in range(self.count)]
        while not self.ending.wait(PAUSE_SECONDS):
            self.sockets = [one if self.trickle(one) else self.reopen(one) for one in self.sockets]

    def open(self):
        """A connection that has begun its request."""
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        one.settimeout(5)
        one.connect(self.place)
        one.sendall(self.head)
        one.setblocking(False)
        self.opened += 1
        return one

    def reopen(self, one):
        """Another one in its place."""
        one.close()
        return self.open()

    def trickle(self, one):
        """A little both ways; whether the connection still stands."""
        try:
            if self.drop:
                one.send(self.drop)
        except BlockingIOError:
            pass
        except OSError:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(one, selectors.EVENT_READ)
            if not selector.select(0):
                return True
        try:
            return one.recv(1 if self.drop else 16) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False
