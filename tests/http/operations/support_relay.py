# SPDX-License-Identifier: MIT
"""A Unix socket that stands before another one, and can fall silent."""

import contextlib
import os
import select
import socket
import threading


class Relay:
    """Hands bytes to and fro. While it is silent it accepts, reads and hands on nothing, as a host that hangs."""

    def __init__(self, path, target):
        self.target = target
        self.silent = threading.Event()
        self.ended = threading.Event()
        self.pairs = {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while not self.ended.is_set():
            if self.silent.is_set():
                self.ended.wait(0.02)
                continue
            for ready in select.select([self.listener, *self.pairs], [], [], 0.02)[0]:
                if self.silent.is_set():
                    break
                if ready is self.listener:
                    self._accept()
                elif ready in self.pairs:
                    self._hand_on(ready)

    def _accept(self):
        near = self.listener.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(self.target)
        except OSError:
            near.close()
            far.close()
            return
        self.pairs[near], self.pairs[far] = far, near

    def _hand_on(self, ready):
        other = self.pairs[ready]
        try:
            data = ready.recv(65536)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        for end in (ready, other):
            self.pairs.pop(end, None)
            end.close()

    def close(self):
        """Ends all connections."""
        self.ended.set()
        self.thread.join()
        for end in [self.listener, *self.pairs]:
            end.close()


@contextlib.contextmanager
def relay(folder, target):
    """(path, Relay) of a new relay to the socket `target`."""
    path = os.path.join(folder, "relay.sock")
    made = Relay(path, target)
    try:
        yield path, made
    finally:
        made.close()
