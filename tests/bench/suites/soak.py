# SPDX-License-Identifier: MIT
"""Mixed load for minutes: reads, lists, uploads, downloads, logins, refreshes. No error, and neither the memory nor the
descriptors of any worker grow."""

import http.client
import json
import os
import threading
import time
import urllib.parse

import measure
from load import Target
from measure import Comparison
from stack import Trouble, dashed
from suites.login import PASSWORD, accounts
from suites.worker import GROWTH_KIB, mixed

GROWTH = Comparison("private memory of the worker that grew most", "of its own in the second fifth of the time",
                    GROWTH_KIB, 8, False)
# One more or less is a worker that was in the middle of a request whenever it was looked at.
OPEN = Comparison("descriptors of the worker that grew most", "of its own in the second fifth of the time", 2, 8, False)
WORDS = ("Reads and lists at 8 connections. Beside them two clients upload, download and archive files of 4 KiB to 1 "
         "MiB, and one logs in, refreshes and logs out, each with pauses.")
READS, CONNECTIONS = "reads and lists", 8
SAMPLES = 100
SIZES = (4096, 65536, 65536, 65536, 1 << 20)
FAULTS_TOLD = 5
HEAD = b"\x93bench\0"


class Client(threading.Thread):
    """A client that does one thing after the other until told to end. `times`: {operation: [seconds]}."""

    def __init__(self, stack, work, token):
        super().__init__(daemon=True)
        self.address = urllib.parse.urlsplit(stack.facts["baseUrl"]).netloc
        self.connection = None
        self.work = work
        self.token = token
        self.done = threading.Event()
        self.times, self.faults = {}, []

    def run(self):
        while not self.done.is_set():
            try:
                self.work(self)
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                self.faults.append(f"{type(error).__name__}: {error}")
                self.connection = None
                time.sleep(0.1)

    def ask(self, what, method, path, body=None, kind="application/json", token=None):
        """One request, timed under the operation's name; returns the bytes of the answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        if body is not None:
            headers["Content-Type"] = kind
        self.connection = self.connection or http.client.HTTPConnection(self.address, timeout=30)
        started = time.perf_counter()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        self.times.setdefault(what, []).append(time.perf_counter() - started)
        if answer.status != 200:
            raise ValueError(f"{what} was answered {answer.status} {content[:200]!r}")
        return content


def keep_files(client):
    """Uploads, downloads, compares, archives."""
    # Bytes at random may begin like an executable, which is refused.
    content = HEAD + os.urandom(SIZES[len(client.times.get("upload", ())) % len(SIZES)])
    mark = content[-8:].hex()
    head = "".join(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                   for name, value in (("bucket", "files"), ("type", "misc")))
    head += f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{mark}.bin"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
    record = json.loads(client.ask("upload", "POST", "/system/files", body, f"multipart/form-data; boundary={mark}",
                                   client.token))
    path = "/system/files/" + record["id"]
    if client.ask("download", "GET", path, token=client.token) != content:
        raise ValueError("other bytes came back than were sent")
    client.ask("archive", "DELETE", path, token=client.token)
    client.done.wait(0.1)


def keep_sessions(client):
    """Logs in, refreshes, uses the new token, logs out."""
    tokens = json.loads(client.ask("login", "POST", "/customers/login", client.token))["tokens"]
    for _ in range(3):
        spent = {"refreshToken": tokens["refreshToken"]}
        tokens = json.loads(client.ask("refresh", "POST", "/customers/refresh", spent))["tokens"]
    client.ask("profile", "GET", "/customers/me", token=tokens["accessToken"])
    client.ask("logout", "POST", "/customers/logout", {}, token=tokens["accessToken"])
    client.done.wait(0.2)


class Watch(threading.Thread):
    """Samples of memory and descriptors: (seconds, {pid: (private KiB, descriptors)}, KiB of the database)."""

    def __init__(self, stack, every):
        super().__init__(daemon=True)
        self.stack, self.every = stack, every
        self.done = threading.Event()
        self.samples = []

    def run(self):
        started, pids = time.monotonic(), self.stack.facts["pids"]
        while not self.done.wait(self.every):
            workers = {}
            for root in (pids["workers"], pids["login"]):
                workers.update({pid: (kib, descriptors(pid)) for pid, kib in self.stack.private_memory(root).items()})
            database = self.stack.private_total(pids["mariadb"])
            self.samples.append((time.monotonic() - started, workers, database))


def descriptors(pid):
    """How many a process has open."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def growth(samples, which):
    """By how much each worker that was there throughout has grown: the least of the last fifth, when it is between two
    requests, against the least of the second fifth, when it has seen everything once."""
    fifth = len(samples) // 5
    early, late = samples[fifth:2 * fifth], samples[-fifth:]
    lasting = set.intersection(*(set(workers) for _, workers, _ in early + late))
    return [min(workers[pid][which] for _, workers, _ in late) - min(workers[pid][which] for _, workers, _ in early)
            for pid in lasting]


def turn(seconds):
    """How many seconds wrk drives at a time."""
    return max(1, min(30, round(seconds / 10)))


def drive(stack, seconds):
    """All the load for so long. Returns what wrk found, the clients and the watch."""
    lines, tokens = mixed(stack), stack.tokens("soak.txt", len(stack.readers))
    secrets = tokens.read_text(encoding="ascii").splitlines()
    accounts(stack)
    login = {"username": dashed(stack.readers[-1][0]), "password": PASSWORD}
    clients = [Client(stack, keep_files, secrets[0]), Client(stack, keep_files, secrets[1]),
               Client(stack, keep_sessions, login)]
    watch = Watch(stack, max(0.2, seconds / SAMPLES))
    target, entries = Target(READS, stack.facts["baseUrl"], lines, tokens), []
    target.look()
    for thread in (watch, *clients):
        thread.start()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        entries.append(target.drive(stack, CONNECTIONS, turn(seconds)))
        print(f"  {max(0, ends - time.monotonic()):.0f} s to go", flush=True)
    for thread in (*clients, watch):
        thread.done.set()
    for thread in (*clients, watch):
        thread.join(60)
    return {CONNECTIONS: {target.name: entries}}, clients, watch


def table(clients):
    """How often each operation was done and how long it took."""
    times = {}
    for client in clients:
        for what, found in client.times.items():
            times.setdefault(what, []).extend(found)
    rows = []
    for what, found in times.items():
        points = measure.latencies(found)
        rows.append([what, len(found), *(f"{points[percent] / 1000:.1f}" for percent in ("50", "99", "99.99"))])
    return {"title": "The other operations", "head": ["operation", "times", "p50 ms", "p99 ms", "p99.99 ms"],
            "rows": rows}


def run(stack, options):
    """The suite."""
    seconds = options.soak_minutes * 60
    measured, clients, watch = drive(stack, seconds)
    if len(watch.samples) < 10:
        raise Trouble("The time is too short to see growth: --soak-minutes 1 is.")
    faults = measure.faults(measured)
    for client in clients:
        faults += client.faults[:FAULTS_TOLD]
        if len(client.faults) > FAULTS_TOLD:
            faults.append(f"and {len(client.faults) - FAULTS_TOLD} more of that client")
    rows = [measure.evaluate(goal, [max(growth(watch.samples, which))], unit=unit)
            for which, goal, unit in ((0, GROWTH, "KiB more"), (1, OPEN, "more")) if growth(watch.samples, which)]
    faults += [f"{row['of']}: {row['median']} {row['unit']}" for row in rows if not row["holds"]]
    if not rows:
        faults.append("no worker has lived through the load")
    rounds = len(measured[CONNECTIONS][READS])
    mib = [(when / 60, sum(kib for kib, _ in workers.values()) / 1024) for when, workers, _ in watch.samples]
    opened = [(when / 60, sum(count for _, count in workers.values())) for when, workers, _ in watch.samples]
    curves = [{"title": "Private MiB by minutes", "series": {
                  "all workers": mib, "the database": [(when / 60, kib / 1024) for when, _, kib in watch.samples]}},
              {"title": "Descriptors of all workers by minutes", "series": {"descriptors": opened}}]
    return {"title": "Soak", "notes": [f"{options.soak_minutes:g} minutes. {WORDS}"], "rounds": rounds,
            "seconds": turn(seconds),
            "measured": measured, "comparisons": rows, "tables": [table(clients)], "curves": curves, "faults": faults}
