# SPDX-License-Identifier: MIT
"""Files: downloads against nginx's own static ones, uploads against the speed of SHA-256 and against each other in the
three ways that nginx hands them on, the steps of a durable file, memory, and lists of a million rows."""

import dataclasses
import hashlib
import json
import os
import re
import resource
import subprocess
import threading
import time
import urllib.request

import measure
from load import Target, own_children
from measure import Comparison
from stack import Trouble, free_port
from suites.reads import dashed

MIB, GIB = 1 << 20, 1 << 30
PRIVATE_KIB, FLAT_KIB = 16 * 1024, 1024
WAYS = ("buffered", "file", "unbuffered")
DIGEST = "SHA-256 alone, one core"
MEGA, TEN = "the list's first page, 1,000,000 files", "the list's first page, 10,000 files"
HALF = "the list half-way, 1,000,000 files"
ROUNDS, SECONDS = 5, 2
# Organisations of the lists: which one, and how many files it has.
LISTS = {"f1": 10_000, "f2": 1_000_000}
PERCENTS = ("1", "5", "10", "25", "50", "75", "90", "95", "99", "99.9")


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
    Comparison(upload("buffered", GIB), upload("unbuffered", GIB), 0.80, 1),
    Comparison(upload("file", GIB), upload("buffered", GIB), 1.0, 1),
    Comparison(upload("file", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    Comparison(upload("unbuffered", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    # Times of 1.3 and 1.5, told as rates.
    Comparison("durable file of 64 KiB, blob store", "durable file of 64 KiB, bare steps", 1 / 1.3, 1),
    Comparison(HALF, MEGA, 1 / 1.5),
    Comparison(MEGA, TEN, 1 / 1.5),
]


def entry(times, busy, size=None):
    """One round's result from its single times in seconds; with a size, of blocks of a mebibyte."""
    share = size / MIB if size else 1
    ordered = sorted(times)
    points = {percent: 1e6 * ordered[int((len(ordered) - 1) * float(percent) / 100)] for percent in PERCENTS}
    return {"rate": share * len(times) / sum(times), "processor": busy * 1e6 / len(times) / share, "latency": points,
            "requests": len(times), "refused": 0, "broken": 0}


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
        return entry(times, stack.busy() + own_children() + own_self() - before, self.size)


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


def way_of(stack, way):
    """The site of the quick start with its uploads handed on in this way, on workers of its own. Returns its address."""
    if way == "buffered":
        return stack.facts["baseUrl"]
    path, bodies = stack.folder / f"{way}.sock", stack.folder / "bodies"
    bodies.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    worker = stack.build_directory / "install" / "libexec" / "gatehouse" / "gatehouse.fcgi"
    stack.run(["env", f"GATEHOUSE_FILES_BODY_DIRECTORY={bodies}", "spawn-fcgi", "-n", "-s", path, "-M", "0600", "-b", "1024",
               "--", "/usr/bin/multiwatch", "-s", "TERM", "-t", "1000", "-r", "1000000", "-f", stack.workers, "--", worker,
               "--config", stack.facts["configuration"]], f"{way}.log")

    def change(block):
        block = block.replace(f"#[{way}] ", "").replace("@BODY_DIRECTORY@", str(bodies)).replace("@BASE_PATH@", "")
        size = re.search(r"client_max_body_size (\d{6,});", block)[1]
        return block.replace("@MAX_BODY@", size).replace("$gatehouse_body_file", "$request_body_file")

    return stack.serve(way, f"unix:{path}", change)


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
            for pid in {pid for root in roots for pid in self.stack.descendants(root)}:
                self.peak = max(self.peak, private_kib(pid))
            self.done.wait(0.02)

    def end(self):
        """Stops; returns the peak."""
        self.done.set()
        self.join()
        return self.peak


def private_kib(pid):
    """Private memory of a worker; 0 for everything else."""
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            if file.read().strip() != "gatehouse.fcgi":
                return 0
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(number) for number in re.findall(r"Private_\w+: +(\d+) kB", file.read()))
    except OSError:
        return 0


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


def digest_once():
    """Seconds for the SHA-256 of a gibibyte."""
    block = os.urandom(MIB)
    started = time.perf_counter()
    digest = hashlib.sha256()
    for _ in range(256):
        digest.update(block)
    return 4 * (time.perf_counter() - started)


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


def fill_lists(stack):
    """The organisations of the lists, once a state folder; returns {organisation: token file, path of the middle}."""
    found = {}
    for word, count in LISTS.items():
        organisation, user, session = (f"01940000000{kind}70008000{word:0>12}" for kind in "123")
        if stack.sql(f"SELECT COUNT(*) FROM organisation WHERE id = UNHEX('{organisation}')").strip() == "0":
            print(f"  making {count} rows", flush=True)
            stack.sql(f"""
                INSERT INTO organisation (id, name, services, status) VALUES
                    (UNHEX('{organisation}'), 'List {word}', 'inventory', 'active');
                INSERT INTO user (id, organisation_id, email, phone, first_name, last_name, status) VALUES
                    (UNHEX('{user}'), UNHEX('{organisation}'), 'list-{word}@example.com', NULL, 'Ada', 'Lovelace', 'active');
                INSERT INTO user_role (user_id, role_id, position) VALUES (UNHEX('{user}'), 'owner', 0);
                INSERT INTO session (id, user_id, expires_at) VALUES
                    (UNHEX('{session}'), UNHEX('{user}'), UTC_TIMESTAMP(3) + INTERVAL 1 DAY);""")
            for first in range(1, count + 1, 50_000):
                stack.sql(f"""
                    SET SESSION unique_checks = 0, foreign_key_checks = 0;
                    INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, tags)
                    SELECT UNHEX(CONCAT('0194{word}0000047000800', LPAD(HEX(seq), 13, '0'))), UNHEX('{organisation}'),
                        UNHEX('{user}'), 'files', 'contract', CONCAT('contract ', seq, '.pdf'),
                        UNHEX(SHA2(CONCAT('{word}', seq), 256)), 12345, 'application/pdf', ''
                    FROM seq_{first}_to_{min(first + 49_999, count)};""")
            stack.sql("ANALYZE TABLE file")
        stack.readers, before = [[user, session]], stack.readers
        tokens = stack.tokens(f"list-{word}.txt", 1)
        stack.readers = before
        found[word] = (tokens, dashed(f"0194{word}0000047000800{count // 2:013x}"))
    return found


def lists(stack):
    """What is driven of the lists."""
    found = fill_lists(stack)
    base = stack.facts["baseUrl"]
    first = stack.note("first-page.txt", ["/system/files?limit=50"])
    half = stack.note("half-way.txt", [f"/system/files?limit=50&cursor={found['f2'][1]}"])
    targets = [Target(TEN, base, first, found["f1"][0]), Target(MEGA, base, first, found["f2"][0]),
               Target(HALF, base, half, found["f2"][0])]
    for target in targets:
        target.look()
    return targets


def run(stack, options):
    """The suite."""
    token = sign_in(stack)
    uploads = Uploads(stack, {way: way_of(stack, way) for way in WAYS}, token)
    wanted = [row for row in COMPARISONS if not options.only or options.only in f"{row.of} / {row.to}"]
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
    if names & {HALF, MEGA, TEN}:
        many += lists(stack)
    single.append(Timed(DIGEST, digest_once, 1, GIB))
    for way in WAYS:
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
