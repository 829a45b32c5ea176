# SPDX-License-Identifier: MIT
"""A mail server of the tests' own on this machine, which requires a user name and a password and keeps what it gets."""

import base64
import email
import email.policy
import socket
import threading

from support import mail
from support.stack import wait_until


class Server:
    """Listens on `port`. `credentials` are the pairs that were sent, `received` the messages as they came."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.credentials, self.received = set(), []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Whoever is waiting in accept() is woken by the shutdown, not by the close.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)

    def wait(self, address, count=1):
        """The count-th message to an address. The failure tells what has come instead."""
        try:
            return wait_until(lambda: self.messages(address)[count - 1:count], mail.PATIENCE_SECONDS,
                              f"mail number {count} to {address}")[0]
        except AssertionError as late:
            heads = [data.split(b"\r\n\r\n", 1)[0] for data in self.received]
            raise AssertionError(f"{late}; what has come begins with {heads}") from late

    def messages(self, address):
        """All messages to an address so far."""
        parsed = [email.message_from_bytes(data, policy=email.policy.default) for data in list(self.received)]
        return [one for one in parsed if address.lower() in str(one["To"]).lower()]

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, client.makefile("rb") as lines:
                try:
                    self._talk(client, lines)
                except (ConnectionError, ValueError):
                    pass

    def _talk(self, client, lines):
        client.sendall(b"220 ready\r\n")
        for line in lines:
            word = line[:4].upper()
            if word == b"EHLO":
                client.sendall(b"250-localhost\r\n250 AUTH PLAIN\r\n")
            elif word == b"AUTH":
                self._authenticate(client, lines, line.split())
            elif word == b"DATA":
                client.sendall(b"354 go on\r\n")
                client.sendall(b"250 taken\r\n" if self._take(lines) else b"451 cut\r\n")
            elif word == b"QUIT":
                client.sendall(b"221 bye\r\n")
                return
            else:
                client.sendall(b"250 ok\r\n")

    def _authenticate(self, client, lines, words):
        if len(words) < 3:
            client.sendall(b"334 \r\n")
            words.append(lines.readline().strip())
        _, user, password = base64.b64decode(words[2]).decode().split("\0")
        self.credentials.add((user, password))
        client.sendall(b"235 welcome\r\n")

    def _take(self, lines):
        data = []
        for line in lines:
            if line == b".\r\n":
                self.received.append(b"".join(data))
                return True
            data.append(line[1:] if line.startswith(b"..") else line)
        return False
