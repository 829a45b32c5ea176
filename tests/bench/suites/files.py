# SPDX-License-Identifier: MIT
"""Files: downloads against nginx's own static ones, uploads against the speed of SHA-256 and against each other in the
three ways that nginx hands them on, the steps of a durable file, memory."""

import dataclasses
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
import urllib.request

import measure
from load import Target, own_children
from measure import Comparison
from stack import Trouble, dashed, free_port, private_kib

MIB, GIB = 1 << 20, 1 << 30
PRIVATE_KIB, FLAT_KIB = 16 * 1024, 1024
WAYS = ("buffered", "file", "unbuffered")
DIGEST = "SHA-256 alone, one core"
# The same without the processor's SHA instructions, which not every machine has: they make hashing three to five times as
# fast, and so everything beside it count for more.
PLAIN = ", no SHA instructions"
PLAIN_DIGEST = DIGEST + PLAIN
NO_SHA = "OPENSSL_ia32cap=:~0x20000000"
ROUNDS, SECONDS = 5, 2


def upload(way, size):
    """The name of an upload."""
    return f"upload {way}, {size_text(size)}"


def download(how, size):
    """The name of a download."""
    return f"download {how}, {size_text(size)}"


def size_text(size):
    """1 GiB, 10 MiB."""
    return f"{size // GIB} GiB" if size >= GIB else f"{size // MIB} MiB"


COMPARISONS = [
    Comparison(download("through the service", MIB), download("static", MIB), 0.80),
    Comparison(download("through the service", GIB), download("static", GIB), 0.95, 1),
    Comparison(upload("unbuffered", GIB), DIGEST, 0.55, 1),
    Comparison(upload("unbuffered" + PLAIN, GIB), PLAIN_DIGEST, 0.55, 1),
    Comparison(upload("buffered", GIB), upload("unbuffered", GIB), 0.80, 1),
    Comparison(upload("buffered" + PLAIN, GIB), upload("unbuffered" + PLAIN, GIB), 0.80, 1),
    Comparison(upload("file", GIB), upload("buffered", GIB), 1.0, 1),
    Comparison(upload("file", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    Comparison(upload("unbuffered", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    # Times of 1.3 and 1.5, told as rates.
    Comparison("durable file of 64 KiB, blob store", "durable file of 64 KiB, bare steps", 1 / 1.3, 1),
]


@dataclasses.dataclass
class Timed:
    """What is done a few times a round and timed: `once` returns seconds."""

    name: str
    once: object
    times: int = 1
    size: int = None

    def drive(self, stack, connections, seconds):
        """One round."""
        before = stack.busy() + own_children() + own_self()
        times = [self.once() for _ in range(self.times)]
        busy = stack.busy() + own_children() + own_self() - before
        return measure.entry(times, busy, share=self.size / MIB if self.size else 1)


def own_self():
    """Our own processor seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Uploads:
    """Files that are never the same twice, sent by curl, removed again at once."""

    def __init__(self, stack, addresses, token):
        self.stack = stack
        self.addresses = addresses
        self.token = token
        self.paths = {}

    def file(self, size):
        """A file of that size whose first bytes are new."""
        if size not in self.paths:
            path = self.paths[size] = self.stack.folder / f"{size}.bin"
            block = os.urandom(MIB)
            with open(path, "wb") as output:
                for _ in range(size // MIB):
                    output.write(block)
        with open(self.paths[size], "r+b") as output:
            output.write(b"\x93bench\0" + os.urandom(64))
        return self.paths[size]

    def send(self, way, size):
        """Uploads; returns (seconds, record)."""
        path = self.file(size)
        started = time.perf_counter()
        said = subprocess.run(
            ["curl", "-sS", "-H", f"Authorization: Bearer {self.token}", "-H", "Expect:", "-F", "bucket=files", "-F",
             "type=misc", "-F", f"file=@{path};filename={time.time_ns()}.bin", self.addresses[way] + "/system/files"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
        seconds = time.perf_counter() - started
        try:
            return seconds, json.loads(said)["id"]
        except (ValueError, KeyError):
            raise Trouble(f"An upload ({way}) was answered {said[:300]!r}.") from None

    def timed(self, way, size):
        """Uploads and removes; returns the seconds of the upload."""
        seconds, record = self.send(way, size)
        self.remove(record)
        return seconds

    def remove(self, record):
        """Row and bytes, as if they had never been."""
        plain = record.replace("-", "")
        self.stack.sql(f"DELETE FROM file_tag WHERE file_id = UNHEX('{plain}'); DELETE FROM file WHERE id = UNHEX('{plain}')")
        os.unlink(blob(self.stack, record))


def blob(stack, record):
    """Where the bytes of a file lie."""
    plain = record.replace("-", "")
    return os.path.join(stack.facts["blobDirectory"], plain[-2:], plain)


def sign_in(stack):
    """An access token of the administrator."""
    request = urllib.request.Request(stack.facts["baseUrl"] + "/customers/login", json.dumps(stack.facts["admin"]).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["tokens"]["accessToken"]


def way_of(stack, way, name=None, environment=()):
    """The site of the quick start with its uploads handed on in this way, on workers of its own, which get more of an
    environment. Returns its address."""
    if way == "buffered" and not environment:
        return stack.facts["baseUrl"]
    bodies = stack.folder / "bodies"
    bodies.mkdir(mode=0o700, exist_ok=True)

    def change(block):
        block = block.replace(f"#[{way}] ", "").replace("@BODY_DIRECTORY@", str(bodies)).replace("@BASE_PATH@", "")
        size = re.search(r"client_max_body_size (\d{6,});", block)[1]
        # The maps of the way stand outside the block; no upload of ours is without a length.
        block = block.replace("@MAX_BODY@", size).replace("$gatehouse_unmeasured", "$http_transfer_encoding")
        return block.replace("$gatehouse_body_file", "$request_body_file")

    environment = [f"GATEHOUSE_FILES_BODY_DIRECTORY={bodies}", *environment]
    return stack.more_workers(name or way, stack.workers, change, environment=environment)[1]


def static(stack):
    """nginx sending the same files itself. Returns its address."""
    port = free_port()
    stack.servers["static"] = (f"server {{ listen 127.0.0.1:{port}; root {stack.facts['blobDirectory']}; "
                               "default_type application/octet-stream; }\n", port)
    stack.reload()
    stack.await_answer("static", port)
    return f"http://127.0.0.1:{port}"


class Watch(threading.Thread):
    """The highest private memory, in KiB, of any worker while it runs."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack = stack
        self.peak = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.is_set():
            roots = [self.stack.facts["pids"]["workers"], *(child.pid for child in self.stack.children)]
            for pid in {pid for root in roots for pid in self.stack.worker_pids(root)}:
                self.peak = max(self.peak, private_kib(pid))
            self.done.wait(0.02)

    def end(self):
        """Stops; returns the peak."""
        self.done.set()
        self.join()
        return self.peak


def memory(stack, uploads):
    """{way: [peak at 10 MiB, peak at 1 GiB]} and what is wrong with it."""
    found, faults = {}, []
    for way in WAYS:
        uploads.timed(way, MIB)
        peaks = []
        for size in (10 * MIB, GIB):
            watch = Watch(stack)
            watch.start()
            uploads.timed(way, size)
            peaks.append(watch.end())
        found[f"peak private KiB of a worker, {way}, at 10 MiB and 1 GiB"] = peaks
        if max(peaks) > PRIVATE_KIB or not min(peaks):
            faults.append(f"{way}: a worker has had {peaks} KiB of its own")
        if peaks[1] - peaks[0] > FLAT_KIB:
            faults.append(f"{way}: a worker grows with the upload, {peaks} KiB")
    return found, faults


def fetch(address, path, token, size):
    """Downloads with curl; returns the seconds."""
    arguments = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{time_total}", address + path]
    said = subprocess.run(arguments + (["-H", f"Authorization: Bearer {token}"] if token else []), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False).stdout.split()
    if said[:2] != ["200", str(size)]:
        raise Trouble(f"A download of {path} was answered {said}.")
    return float(said[2])


HASH = """
import hashlib, os, time
block = os.urandom(1 << 20)
started = time.perf_counter()
digest = hashlib.sha256()
for _ in range(256):
    digest.update(block)
print(4 * (time.perf_counter() - started))
"""


def digest_once(environment=()):
    """Seconds for the SHA-256 of a gibibyte."""
    return float(subprocess.run(["env", *environment, sys.executable, "-I", "-c", HASH], stdout=subprocess.PIPE, text=True,
                                check=True).stdout)


def has_sha_instructions():
    """Whether this processor hashes by itself."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return re.search(r"^flags\s*:.*\bsha_ni\b", file.read(), re.MULTILINE) is not None


@dataclasses.dataclass
class Durable:
    """One of the probe's ways; the first of a round runs them all."""

    name: str
    key: str
    runs: dict

    def drive(self, stack, connections, seconds):
        """One round."""
        if self.key not in self.runs or self.runs[self.key] is None:
            folder = stack.folder / "durable"
            folder.mkdir(exist_ok=True)
            said = subprocess.run([stack.build / "tests" / "bench" / "durable", folder, str(100 * seconds), "65536"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            subprocess.run(["rm", "-rf", folder], check=True)
            self.runs.update({one["name"]: one for one in map(json.loads, said.splitlines())})
        one, self.runs[self.key] = self.runs[self.key], None
        return {"rate": one["requests"] / (one["microseconds"] / 1e6), "processor": one["busy"] / one["requests"],
                "latency": one["latency"], "requests": one["requests"], "refused": 0, "broken": 0}


def run(stack, options):
    """The suite."""
    token = sign_in(stack)
    uploads = Uploads(stack, {way: way_of(stack, way) for way in WAYS}, token)
    wanted = [row for row in COMPARISONS if not options.only or options.only in f"{row.of} / {row.to}"]
    if has_sha_instructions():
        for way in ("buffered", "unbuffered"):
            uploads.addresses[way + PLAIN] = way_of(stack, way, f"plain_{way}", [NO_SHA])
    else:
        wanted = [row for row in wanted if PLAIN not in row.to]
    names = {name for row in wanted for name in (row.of, row.to)}
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    token_file = stack.note("administrator.txt", [token])
    served, records = static(stack), {}
    for size in (MIB, GIB):
        records[size] = uploads.send("buffered", size)[1]
    many, single = [], []
    for how, address, path, tokens in (
            ("through the service", stack.facts["baseUrl"], lambda record: f"/system/files/{record}", token_file),
            ("static", served, lambda record: "/{}/{}".format(record.replace("-", "")[-2:], record.replace("-", "")), None)):
        name = f"{'service' if tokens else 'static'}-paths.txt"
        many.append(Target(download(how, MIB), address, stack.note(name, [path(records[MIB])]), tokens))
        single.append(Timed(download(how, GIB), lambda address=address, path=path(records[GIB]), secret=tokens and token:
                            fetch(address, path, secret, GIB), 2, GIB))
    single += [Timed(DIGEST, digest_once, 1, GIB), Timed(PLAIN_DIGEST, lambda: digest_once([NO_SHA]), 1, GIB)]
    for way in uploads.addresses:
        single.append(Timed(upload(way, GIB), lambda way=way: uploads.timed(way, GIB), 1, GIB))
        single.append(Timed(upload(way, 10 * MIB), lambda way=way: uploads.timed(way, 10 * MIB), 5, 10 * MIB))
    runs = {}
    for key, what in (("bare", "bare steps"), ("digested", "bare steps and SHA-256"), ("store", "blob store")):
        single.append(Durable(f"durable file of 64 KiB, {what}", key, runs))
        names |= {single[-1].name} if "durable file of 64 KiB, blob store" in names else set()
    measured = {}
    for count, targets in ((8, many), (1, single)):
        chosen = [target for target in targets if target.name in names]
        if chosen:
            measured |= measure.interleave(stack, chosen, (count, ), rounds, seconds)
    found, faults = memory(stack, uploads) if options.only in (None, "memory") else ({}, [])
    for record in records.values():
        uploads.remove(record)
    return {"title": "Files", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, wanted), "memory": found, "faults": measure.faults(measured) + faults}
