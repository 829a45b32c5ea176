# SPDX-License-Identifier: MIT
"""A hop between a client and the service that breaks connections when it is told to."""

import contextlib
import select
import socket
import threading

BLOCK = 64 * 1024


class Breaker:
    """Hands bytes on. `break_after(count)`: the connection that brings the count-th byte to the service from now on is
    cut, in the middle of what it carries, and no answer comes; then bytes are handed on again. `cuts` counts them."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.cuts = 0
        self.left = None
        self.guard = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def break_after(self, count):
        with self.guard:
            self.left = count

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client, ), daemon=True).start()

    def carry(self, client):
        with client, socket.create_connection(self.target) as service:
            with contextlib.suppress(OSError):
                while self.move(client, service):
                    pass

    def move(self, client, service):
        """Hands on what is there; False when the connection is over."""
        for ready in select.select([client, service], [], [])[0]:
            data = ready.recv(BLOCK)
            if not data:
                return False
            if ready is service:
                client.sendall(data)
                continue
            allowed = self.allowed(len(data))
            service.sendall(data[:allowed])
            if allowed < len(data):
                return False
        return True

    def allowed(self, count):
        """How many of that many bytes may still pass."""
        with self.guard:
            if self.left is None:
                return count
            if count <= self.left:
                self.left -= count
                return count
            allowed, self.left = self.left, None
            self.cuts += 1
            return allowed
