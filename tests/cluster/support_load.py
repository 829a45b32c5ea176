# SPDX-License-Identifier: MIT
"""Clients that read, write, upload and sign in through HAProxy all the time, and keep account of every answer.

Each client is a person of its own with one connection for each request, as from many people. It writes growing numbers
into its own first name, and uploads small files. What was acknowledged must be there afterwards; what a client reads
must be what it wrote last, unless the outcome of its last write is unknown.
"""

import dataclasses
import http.client
import json
import random
import threading
import time

from support import files, multipart, samples

KINDS = ("read", "write", "upload", "login")
WEIGHTS = (60, 20, 15, 5)


@dataclasses.dataclass
class Answer:
    """One request: when it began and ended, its kind, its status (0: no answer), and the code of a refusal."""

    kind: str
    began: float
    ended: float
    status: int
    code: str


class Client(threading.Thread):
    """One person."""

    def __init__(self, load, account):
        super().__init__()
        self.load = load
        self.account = account
        self.token = account.token
        self.answers = []
        self.wrong = []
        self.uploads = {}  # acknowledged: id -> digest
        self.number = 0
        self.names = {self.stored_name()}  # what the name may be now

    def run(self):
        choose = random.Random(self.account.id)
        while not self.load.stop.is_set():
            kind = choose.choices(KINDS, self.load.weights)[0]
            try:
                getattr(self, kind)()
            except Exception as fault:  # a thread's own failure must not be lost
                self.wrong.append(repr(fault))
                return
            time.sleep(self.load.pause)

    def ask(self, kind, method, path, body=None, content_type="application/json"):
        """Sends one request and notes what became of it. Returns status and parsed body."""
        headers = {"Authorization": f"Bearer {self.token}"} if kind != "login" else {}
        if body is not None:
            headers["Content-Type"] = content_type
        began, status, parsed = time.monotonic(), 0, {}
        connection = http.client.HTTPConnection(self.load.stack.host, self.load.stack.port, timeout=30)
        try:
            connection.request(method, self.load.stack.prefix + path, body, headers)
            reply = connection.getresponse()
            status, parsed = reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException) as fault:
            parsed = {"code": type(fault).__name__}
        finally:
            connection.close()
        self.answers.append(Answer(kind, began, time.monotonic(), status, parsed.get("code", "")))
        return status, parsed

    def read(self):
        status, body = self.ask("read", "GET", "/customers/me")
        if status == 200:
            self.compare(body["user"]["firstName"])

    def compare(self, name):
        """What is read is what was acknowledged last, or one of those whose outcome is unknown."""
        if name not in self.names:
            self.wrong.append(f"{self.account.email} reads {name!r}, one of {sorted(self.names)} was written")
        self.names = {name}

    def write(self):
        self.number += 1
        name = f"Number {self.number}"
        status, body = self.ask("write", "PATCH", "/customers/me", json.dumps({"firstName": name}))
        if status == 200 and body["user"]["firstName"] == name:
            self.names = {name}
        else:
            self.names.add(name)

    def upload(self):
        data = samples.noise(random.randrange(64, 20000))
        mark = multipart.boundary()
        body = multipart.encode(files.form(data, f"{samples.word()}.bin"), mark)
        status, record = self.ask("upload", "POST", "/system/files", body, multipart.content_type(mark))
        if status == 200:
            self.uploads[record["id"]] = files.sha256(data)

    def login(self):
        self.ask("login", "POST", "/customers/login",
                 json.dumps({"username": self.account.email, "password": self.account.password}))

    # ---- afterwards

    def stored_name(self):
        """The name that the record has."""
        return self.account.get("/customers/me", status=200).json()["user"]["firstName"]

    def verify(self):
        """What was acknowledged and is not there: a list of sentences."""
        lost = []
        name = self.stored_name()
        if name not in self.names:
            lost.append(f"{self.account.email}: the name is {name!r}, one of {sorted(self.names)} was acknowledged")
        for identity, digest in self.uploads.items():
            reply = self.account.get(f"/system/files/{identity}")
            if reply.status_code != 200 or files.sha256(reply.content) != digest:
                lost.append(f"{self.account.email}: file {identity} is {reply.status_code}")
        return lost


class Load:
    """with Load(...) as load: many clients at once; afterwards load.figures() and load.verify()."""

    def __init__(self, stack, people, weights=WEIGHTS, pause=0.02):
        self.stack = stack
        self.weights = weights
        self.pause = pause
        self.stop = threading.Event()
        self.clients = [Client(self, account) for account in people]

    def __enter__(self):
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for client in self.clients:
            client.join()

    @property
    def answers(self):
        """All answers so far, in the order of their ends."""
        return sorted((answer for client in self.clients for answer in list(client.answers)),
                      key=lambda answer: answer.ended)

    @property
    def wrong(self):
        """What no client should have seen."""
        return [text for client in self.clients for text in client.wrong]

    def failed(self):
        """Those that were not answered as they should have been."""
        return [answer for answer in self.answers if answer.status != 200]

    def await_more(self, count):
        """Waits until so many more requests have been answered well."""
        good = sum(answer.status == 200 for answer in self.answers)
        deadline = time.monotonic() + 120
        while sum(answer.status == 200 for answer in self.answers) < good + count:
            assert time.monotonic() < deadline, f"no {count} good answers in 120 s"
            time.sleep(0.05)

    def outage(self):
        """The seconds from the beginning of the first failed request to the end of the last one. 0: none failed."""
        failed = self.failed()
        return max(answer.ended for answer in failed) - min(answer.began for answer in failed) if failed else 0.0

    def longest_gap(self):
        """The longest time without a good answer, in seconds."""
        ends = [answer.ended for answer in self.answers if answer.status == 200]
        return max((later - earlier for earlier, later in zip(ends, ends[1:])), default=0.0)

    def slowest(self):
        """The longest that a good answer took, in seconds."""
        return max((answer.ended - answer.began for answer in self.answers if answer.status == 200), default=0.0)

    def figures(self):
        """For people."""
        failed = self.failed()
        codes = ", ".join(sorted({f"{answer.kind} {answer.status} {answer.code}" for answer in failed}))
        return (f"{len(failed)} of {len(self.answers)} failed{f' ({codes})' if codes else ''}, failing for "
                f"{self.outage():.1f} s, longest without success {self.longest_gap():.1f} s, slowest good answer "
                f"{self.slowest():.1f} s")

    def verify(self):
        """What was acknowledged and is not there."""
        return [text for client in self.clients for text in client.verify()]
