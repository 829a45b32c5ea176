# SPDX-License-Identifier: MIT
"""Clients that keep their connections busy with almost nothing, a few bytes a second, until they are told to end."""

import dataclasses
import hashlib
import multiprocessing
import socket
import threading
import time
import urllib.parse

from support.wire import raw

# A byte or two each time: the server sees that something comes, and has to wait for the rest.
PAUSE_SECONDS = 1
STEPS = 10  # of a pause, each with its share of the connections, so that they do not all come at once
RECEIVE_BUFFER = 4096
AT_THE_END = 1 << 20
WAIT_SECONDS = 60


@dataclasses.dataclass
class Kind:
    """What `count` connections do: the number N of them sends head(N), then `drop` again and again, and reads a few
    bytes at a time. rest(N, drops) is what makes its request whole after so many of them."""

    name: str
    count: int
    head: object
    drop: bytes = b""
    rest: object = None


@dataclasses.dataclass
class Client:
    """One connection, since when it is there, and what went over it."""

    number: int
    socket: socket.socket
    since: float
    drops: int = 0
    received: bytes = b""


@dataclasses.dataclass
class End:
    """What became of a connection: how long it lasted, the status, the length of the body and its SHA-256, None where
    no whole answer came."""

    seconds: float
    status: int = None
    length: int = None
    digest: str = None


def end_of(client):
    """What the bytes of a connection that has ended say."""
    seconds = time.monotonic() - client.since
    try:
        reply = raw.replies(client.received)[0]
    except Exception:  # whatever http.client makes of half an answer
        return End(seconds)
    announced = reply.headers.get("Content-Length")
    if announced is not None and int(announced) != len(reply.body):
        return End(seconds)
    return End(seconds, reply.status, len(reply.body), hashlib.sha256(reply.body).hexdigest())


class SlowClients(threading.Thread):
    """Slow clients of one kind. A connection that the server ends is opened again."""

    def __init__(self, address, kind):
        super().__init__(daemon=True)
        place = urllib.parse.urlsplit(address)
        self.place = place.hostname, place.port
        self.kind = kind
        self.clients = []
        self.ended = []
        self.ending = threading.Event()

    def __enter__(self):
        self.start()
        deadline = time.monotonic() + WAIT_SECONDS
        while not self.is_settled() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.stop()
        for one in self.clients:
            one.socket.close()

    def is_settled(self):
        """Whether all are open, and every answer that is read slowly has begun."""
        clients = list(self.clients)
        return len(clients) == self.kind.count and (bool(self.kind.drop) or all(one.received for one in clients))

    def stop(self):
        """From now on the connections are silent."""
        self.ending.set()
        self.join()

    def run(self):
        for number in range(self.kind.count):
            self.clients.append(self.open(number))
        turn = 0
        while not self.ending.wait(PAUSE_SECONDS / STEPS):
            for place in range(turn, self.kind.count, STEPS):
                if not self.trickle(self.clients[place]):
                    self.clients[place] = self.reopen(self.clients[place])
            turn = (turn + 1) % STEPS

    def open(self, number):
        """A connection that has begun its request."""
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        one.settimeout(WAIT_SECONDS)
        one.connect(self.place)
        one.sendall(self.kind.head(number))
        one.setblocking(False)
        return Client(number, one, time.monotonic())

    def reopen(self, client):
        """Another one in its place."""
        self.ended.append(end_of(client))
        client.socket.close()
        return self.open(client.number)

    def trickle(self, client):
        """A little both ways; whether the connection still stands."""
        try:
            if self.kind.drop:
                client.drops += client.socket.send(self.kind.drop) == len(self.kind.drop)
        except BlockingIOError:
            pass
        except OSError:
            return self.drain(client)
        try:
            # An answer in the middle of a request is the last one; an answer that is read slowly is not.
            received = client.socket.recv(65536 if self.kind.drop else 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        client.received += received
        return received != b""

    def drain(self, client):
        """Whoever ended the connection may have answered before. It does not stand."""
        try:
            client.received += client.socket.recv(65536)
        except OSError:
            pass
        return False

    def finish(self):
        """Lets every connection send the rest of its request and read the rest of its answer as fast as it can.
        Returns what became of all that were ever opened."""
        self.stop()
        return self.ended + [self.finish_one(client) for client in self.clients]

    def finish_one(self, client):
        blocks = [client.received]
        with client.socket as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, AT_THE_END)
            one.settimeout(WAIT_SECONDS)
            try:
                if self.kind.rest:
                    one.sendall(self.kind.rest(client.number, client.drops))
                while blocks[-1] or len(blocks) == 1:
                    blocks.append(one.recv(AT_THE_END))
            except OSError:
                pass
        client.received = b"".join(blocks)
        return end_of(client)


class Crowd:
    """Slow clients of several kinds, in a process of their own, so that they do not slow down who measures."""

    def __init__(self, address, kinds):
        here, there = multiprocessing.Pipe()
        self.pipe = here
        self.process = multiprocessing.get_context("fork").Process(target=serve, args=(there, address, kinds),
                                                                   daemon=True)

    def __enter__(self):
        self.process.start()
        assert self.hear() == "open"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()

    def hear(self):
        """What the process says; it may take minutes until all have ended."""
        assert self.pipe.poll(10 * WAIT_SECONDS), "the slow clients are silent"
        return self.pipe.recv()

    def finish(self):
        """{name of a kind: what became of its connections}."""
        self.pipe.send("end")
        return self.hear()


def serve(pipe, address, kinds):
    """The process of a crowd."""
    crowds = {kind.name: SlowClients(address, kind) for kind in kinds}
    for crowd in crowds.values():
        crowd.__enter__()
    pipe.send("open" if all(crowd.is_settled() for crowd in crowds.values()) else "not all could be opened")
    pipe.recv()
    pipe.send({name: crowd.finish() for name, crowd in crowds.items()})
