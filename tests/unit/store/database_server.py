# SPDX-License-Identifier: MIT
"""A node of a database cluster for the tests. It knows as much of the protocol as is needed, and answers as told.

Prints its port. DIRECTORY/state is read before each answer. Its lines are:

    silent             takes connections and says nothing
    waits              is without its quorum: wsrep_ready is OFF
    rejects            was told to refuse statements: wsrep_reject_queries is ALL
    refuses NUMBER     no password is accepted, with this error
    NUMBER TEXT        a statement that begins with TEXT is answered with this error
    hangs TEXT         a statement that begins with TEXT is not answered
    cuts TEXT          a statement that begins with TEXT is answered with the head of a result, and the connection ends

What it was asked is noted in DIRECTORY/log: "connect" (with a name and a password), "ping", or the statement.
"""

import os
import socket
import struct
import sys
import threading
import time

DIRECTORY = sys.argv[1]
OK = b"\x00\x00\x00\x02\x00\x00\x00"
END = b"\xfe\x00\x00\x02\x00"
GREETING = (b"\x0a10.11.0-MariaDB\0" + struct.pack("<I", 1) + b"12345678\0" + b"\x0c\xa2\x2d\x02\x00\x08\x00\x15" +
            b"\0" * 10 + b"123456789012\0mysql_native_password\0")
PING, QUERY, PREPARE, EXECUTE, CLOSE = 0x0e, 0x03, 0x16, 0x17, 0x19


def state():
    try:
        with open(os.path.join(DIRECTORY, "state"), encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def note(text):
    with open(os.path.join(DIRECTORY, "log"), "a", encoding="utf-8") as file:
        file.write(text + "\n")


def text(value):
    data = value.encode()
    return bytes([len(data)]) + data


def column(name):
    return (text("def") + text("") * 3 + text(name) * 2 + b"\x0c" + struct.pack("<HIBHB", 33, 80, 253, 0, 0) + b"\0\0")


def rows(pairs):
    """The packets of a result of two columns."""
    yield b"\x02"
    yield column("Variable_name")
    yield column("Value")
    yield END
    for name, value in pairs:
        yield text(name) + text(value)
    yield END


class Connection:
    def __init__(self, sock):
        self.file = sock.makefile("rwb")
        self.prepared = {}
        self.number = 0

    def read(self):
        head = self.file.read(4)
        if len(head) < 4:
            return b""
        self.number = head[3]
        return self.file.read(head[0] | head[1] << 8 | head[2] << 16)

    def send(self, *packets):
        for packet in packets:
            self.number = (self.number + 1) % 256
            self.file.write(struct.pack("<I", len(packet))[:3] + bytes([self.number]) + packet)
        self.file.flush()

    def fault(self, sql):
        for line in state():
            number, _, words = line.partition(" ")
            if number.isdigit() and sql.startswith(words):
                return b"\xff" + struct.pack("<H", int(number)) + b"#HY000as the test says"
        return None

    def ask_state(self):
        ready = "OFF" if "waits" in state() else "ON"
        self.send(*rows([("wsrep_provider_name", "Galera"), ("wsrep_ready", ready), ("wsrep_cluster_size", "3"),
                         ("wsrep_cluster_status", "Primary" if ready == "ON" else "non-Primary"),
                         ("wsrep_local_state_comment", "Synced" if ready == "ON" else "Joining")]))

    def query(self, sql):
        if sql.startswith("SHOW STATUS"):
            self.ask_state()
            return
        if sql.startswith("SHOW GLOBAL VARIABLES"):
            self.send(*rows([("wsrep_reject_queries", "ALL" if "rejects" in state() else "NONE")]))
            return
        # Before the note: whoever waits for that may change the state at once.
        fault = self.fault(sql)
        note(sql)
        if any(line.startswith("hangs ") and sql.startswith(line[6:]) for line in state()):
            time.sleep(60)
        if any(line.startswith("cuts ") and sql.startswith(line[5:]) for line in state()):
            self.send(b"\x01", column("now"), END)
            raise ConnectionAbortedError
        if sql.endswith("@@GLOBAL.innodb_lock_wait_timeout"):
            self.send(b"\x01", column("seconds"), END, text("50"), END)
            return
        self.send(fault or OK)

    def prepare(self, sql):
        number = len(self.prepared) + 1
        self.prepared[number] = sql
        self.send(b"\0" + struct.pack("<IHHBH", number, 0, 0, 0, 0))

    def serve(self):
        if "silent" in state():
            time.sleep(60)
        self.number = 255
        self.send(GREETING)
        if not self.read():
            return
        note("connect")
        for line in state():
            if line.startswith("refuses "):
                self.send(b"\xff" + struct.pack("<H", int(line[8:])) + b"#28000as the test says")
                return
        self.send(OK)
        while packet := self.read():
            if packet[0] == QUERY:
                self.query(packet[1:].decode())
            elif packet[0] == PREPARE:
                self.prepare(packet[1:].decode())
            elif packet[0] == EXECUTE:
                self.query(self.prepared[struct.unpack("<I", packet[1:5])[0]])
            elif packet[0] == PING:
                note("ping")
                self.send(OK)
            elif packet[0] != CLOSE:
                return


def serve(sock):
    with sock:
        try:
            Connection(sock).serve()
        except OSError:
            pass


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


main()
