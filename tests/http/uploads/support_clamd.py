# SPDX-License-Identifier: MIT
"""A virus scanner that does what a test says: clamd's side of a conversation over a Unix socket (clamd(8), INSTREAM),
well-behaved or not. It keeps what it was sent."""

import contextlib
import os
import socket
import struct
import tempfile
import threading

EICAR_NAME = "Eicar-Test-Signature"


class Clamd:
    """answer decides by the bytes received: a function that returns what to send back (None: nothing, and the
    connection is kept open until the end). before_bytes: answer and close before any chunk was read."""

    def __init__(self, path):
        self.path = path
        self.answer = lambda data: b"stream: OK\0"
        self.before_bytes = None
        self.received = []
        self.commands = []
        self.done = threading.Event()
        self.listener = None
        self.start()

    def start(self):
        """Makes the socket and serves it."""
        self.done.clear()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self._accept, args=(self.listener, ), daemon=True).start()

    def close(self):
        """Ends the service; the socket's file stays."""
        self.done.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, ), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError, EOFError), connection:
            connection.settimeout(120)
            command = b""
            while not command.endswith(b"\0"):
                command += _exactly(connection, 1)
            self.commands.append(command)
            if command == b"zPING\0":
                connection.sendall(b"PONG\0")
                return
            if self.before_bytes is not None:
                connection.sendall(self.before_bytes)
                return
            data = b""
            while True:
                size, = struct.unpack(">I", _exactly(connection, 4))
                if size == 0:
                    break
                data += _exactly(connection, size)
            self.received.append(data)
            reply = self.answer(data)
            if reply is None:
                self.done.wait()
            else:
                connection.sendall(reply)


def _exactly(connection, size):
    data = b""
    while len(data) < size:
        block = connection.recv(min(size - len(data), 65536))
        if not block:
            raise EOFError
        data += block
    return data


@contextlib.contextmanager
def clamd():
    """A scanner on a socket of its own."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-clamd-") as folder:
        scanner = Clamd(os.path.join(folder, "clamd.sock"))
        try:
            yield scanner
        finally:
            scanner.close()
