# SPDX-License-Identifier: MIT
"""A process between the workers and MariaDB that loses the COMMIT of an upload, or the answer to it.

It knows as much of the protocol as that needs: a packet of the client is three bytes of length, a number, and a
command, 3 being a query in plain text. COMMIT goes over the wire as one.
"""

import os
import selectors
import socket
import threading
import time

COMMIT = b"\x03COMMIT"


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
                        if not data or key.fileobj is client and data[4:].startswith(COMMIT) and self.strike(
                                client, server, data):
                            return
                        key.data.sendall(data)
                    except OSError:
                        return

    def strike(self, client, server, data):
        """The fault that is due, if one is; the connection ends with it."""
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
