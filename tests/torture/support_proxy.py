# SPDX-License-Identifier: MIT
"""What stands between the workers and MariaDB and loses a statement, or the answer to it, or answers it with an error.

It knows as much of the protocol as that needs: a packet of the client is three bytes of length, a number, and a
command, 3 being a query in plain text. COMMIT goes over the wire as one.
"""

import os
import selectors
import socket
import threading
import time

COMMIT = b"\x03COMMIT"
# Queries in plain text, statements that are prepared, and those that are executed.
STATEMENTS = (3, 0x16, 0x17)
HEAD = 4
# connect_timeout_seconds of who reaches the database through a proxy: a thread of this process, which may have to wait
# for a processor.
CONNECT_SECONDS = 10


class Proxy:
    """fault: None (pass), "before" (COMMIT never arrives), "after" (its answer never does), "late" (the connection is
    cut at once and COMMIT arrives half a second later), "gone" (the answer is lost, and nobody gets a new connection
    for `outage` seconds). Each happens to one COMMIT."""

    def __init__(self, folder, target):
        self.path = os.path.join(folder, "proxy.sock")
        self.target = target
        self.fault = None
        self.outage = 0.0
        self.closed_until = 0.0
        self.happened = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if time.monotonic() < self.closed_until:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pass_on, args=(client, server), daemon=True).start()

    def pass_on(self, client, server):
        with client, server, selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    try:
                        data = key.fileobj.recv(65536)
                        if not data:
                            return
                        struck = key.fileobj is client and self.is_due(data) and self.strike(client, server, data)
                        if struck:
                            return
                        if struck is not None:
                            key.data.sendall(data)
                    except OSError:
                        return

    def is_due(self, data):
        """Whether the fault is for what the client sends here."""
        return data[HEAD:].startswith(COMMIT)

    def strike(self, client, server, data):
        """The fault that is due, if one is. Returns whether the connection ends with it; None where it goes on, and
        what was sent is answered."""
        fault, self.fault = self.fault, None
        if fault is None:
            return False
        self.happened += 1
        if fault == "late":
            client.shutdown(socket.SHUT_RDWR)
            client.close()
            time.sleep(0.5)
        if fault == "gone":
            self.closed_until = time.monotonic() + self.outage
        if fault != "before":
            server.sendall(data)
            server.recv(65536)
        return True

    def close(self):
        """No new connections."""
        self.listener.close()


def commands(data):
    """The command bytes of the packets of a client; a packet whose rest comes later counts."""
    at = 0
    while at + HEAD < len(data):
        if data[at + HEAD - 1] == 0:
            yield data[at + HEAD]
        at += HEAD + int.from_bytes(data[at:at + 3], "little")


class StatementProxy(Proxy):
    """The nth statement from arm() on meets the fault: "before", "after", or an error of the server, (number, SQL
    state, text), with which it is answered in place of being carried out."""

    def __init__(self, folder, target):
        super().__init__(folder, target)
        self.lock = threading.Lock()
        self.nth = self.count = 0
        self.struck = b""  # what the client has sent where the fault was met

    def arm(self, fault=None, nth=0):
        """Statements are counted from here on."""
        with self.lock:
            self.fault, self.nth, self.count = fault, nth, 0

    def disarm(self):
        """Nothing fails any more; (how many statements there were, whether the fault was met)."""
        with self.lock:
            met = self.nth != 0 and self.count >= self.nth
            self.fault, self.nth = None, 0
            return self.count, met

    def is_due(self, data):
        found = sum(command in STATEMENTS for command in commands(data))
        with self.lock:
            before, self.count = self.count, self.count + found
            due = self.fault is not None and before < self.nth <= self.count
            self.struck = data if due else self.struck
            return due

    def strike(self, client, server, data):
        if isinstance(self.fault, str):
            return super().strike(client, server, data)
        (number, state, text), self.fault = self.fault, None
        self.happened += 1
        packet = b"\xff" + number.to_bytes(2, "little") + f"#{state}{text}".encode("ascii")
        client.sendall(len(packet).to_bytes(3, "little") + b"\x01" + packet)
        return None
