# SPDX-License-Identifier: MIT
"""Files: downloads against nginx's own static ones, uploads against the speed of SHA-256 and against each other in the
three ways that nginx hands them on, the steps of a durable file, memory."""

import dataclasses
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time
import urllib.request

import measure
from load import Sender, Target, own_children
from measure import Comparison
from peers.client import multipart, raw
from stack import Trouble, dashed, free_port
from suites.reads import READ
from tus import PIECE, Client
from watch import Watch

MIB, GIB = 1 << 20, 1 << 30
PRIVATE_KIB, FLAT_KIB = 16 * 1024, 1024
WAYS = ("buffered", "file", "unbuffered")
DEFAULT = "file"  # the quick start's own way, and what makes it of the other one that spools
OF_DEFAULT = re.compile(r"(?m)^.*(GATEHOUSE_BODY_FILE|client_body_temp_path|client_body_in_file_only|"
                        r"fastcgi_pass_request_body off).*\n")
DIGEST = "SHA-256 alone, one core"
# The same without the processor's SHA instructions, which not every machine has: they make hashing three to five times
# as fast, and so everything beside it count for more.
PLAIN = ", no SHA instructions"
PLAIN_DIGEST = DIGEST + PLAIN
NO_SHA = "OPENSSL_ia32cap=:~0x20000000"
ROUNDS, SECONDS = 5, 2
SENDERS = 4
PIECES = "upload in pieces of 8 MiB, 1 GiB"
# What the disk alone makes of it: no service can be nearer to the upload in one request than these are to each other.
BARE_PIECES = "bare 1 GiB and SHA-256, durable each 8 MiB"
BARE_ONCE = "bare 1 GiB and SHA-256, durable once"
# What the default way cannot do without: nginx keeps the body in a file, then one core makes the digest.
ALONE = "nginx alone"
SPOOLED = "nginx alone spools 1 GiB, then SHA-256 on one core"
SENT_MOST = 1.02  # bytes a byte of the file that a client sends whose line breaks ten times
SENT = "bench.bin"  # the name of what is removed after a round
WORDS = re.compile(r"[^a-zA-Z]+")
NOTES = """\
A program of the benchmark's own (`tests/bench/send.c`) sends the uploads from the page cache, over connections that
stay open. Its share of the processor time is included; it was {least:.0%} to {most:.0%}. Between the rounds the files
are removed, which is not included.
"""


def upload(way, size):
    """The name of an upload."""
    return f"upload {way}, {size_text(size)}"


def download(how, size):
    """The name of a download."""
    return f"download {how}, {size_text(size)}"


def size_text(size):
    """1 GiB, 10 MiB."""
    return f"{size // GIB} GiB" if size >= GIB else f"{size // MIB} MiB"


def read_and_static(measured):
    """Of a download: what it must be made of."""
    whole, read, sent = (measure.work(measured, name, 8) for name in (
        download("through the service", MIB), READ, download("static", MIB)))
    return (f"{READ} takes {read:.0f} us of processor time and a static download {sent:.0f} us, which together would "
            f"reach {sent / (read + sent):.2f}; the other {whole - read - sent:.0f} us are the row of the audit trail "
            "that each download writes.")


def from_the_same_file(measured):
    """Of a large download: that it is chance, where the static one alone differs as much."""
    rates = [entry["rate"] for entry in measured[1][download("static", GIB)]]
    if min(rates) > measure.rate(measured, download("through the service", GIB), 1):
        return None
    return ("nginx sends both from the same file, and the service has no part in it once it has decided; in this run "
            f"the static one varied from {min(rates):.0f} to {max(rates):.0f} MiB a second.")


def bare_steps(measured):
    """Of an upload against its digest: what the disk leaves of it."""
    share = measure.rate(measured, BARE_ONCE, 1) / measure.rate(measured, DIGEST, 1)
    return f"{BARE_ONCE}, by one program without a client, reaches {share:.2f}."


def written_twice(plain):
    """Of an upload that nginx keeps in a file of its own first."""

    def why(measured):
        twice, once = (measure.work(measured, upload(way + plain, GIB), 1) for way in ("buffered", "unbuffered"))
        return (f"nginx writes the body to a file of its own before the service writes it again, {twice:.0f} us of "
                f"processor time a MiB against {once:.0f}.")

    return why


def durable_then(measured):
    """Of an upload against a spooled one: what it costs to make the file durable, which nginx alone does not do."""
    once, digest, spooled = (measure.rate(measured, name, 1) for name in (BARE_ONCE, DIGEST, SPOOLED))
    kept = 1 / once - 1 / digest
    return (f"nginx alone leaves the file in the page cache; {BARE_ONCE}, takes {1024 * kept:.2f} s more than its "
            f"digest, and with that nginx alone would reach {1 / (1 + kept * spooled):.2f}.")


def durable_pieces(measured):
    """Of an upload in pieces: what the disk leaves of it."""
    share = measure.rate(measured, BARE_PIECES, 1) / measure.rate(measured, BARE_ONCE, 1)
    return f"each piece is durable before it is acknowledged; {BARE_PIECES}, reaches {share:.2f} of what is once."


COMPARISONS = [
    Comparison(download("through the service", MIB), download("static", MIB), 0.80, why=read_and_static),
    Comparison(download("through the service", GIB), download("static", GIB), 0.95, 1, why=from_the_same_file),
    Comparison(upload("unbuffered", GIB), DIGEST, 0.55, 1, why=bare_steps),
    Comparison(upload("unbuffered" + PLAIN, GIB), PLAIN_DIGEST, 0.55, 1),
    Comparison(upload("buffered", GIB), upload("unbuffered", GIB), 0.80, 1, why=written_twice("")),
    Comparison(upload("buffered" + PLAIN, GIB), upload("unbuffered" + PLAIN, GIB), 0.80, 1, why=written_twice(PLAIN)),
    Comparison(upload("file", GIB), upload("buffered", GIB), 1.0, 1),
    Comparison(upload("file", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    Comparison(upload("unbuffered", 10 * MIB), upload("buffered", 10 * MIB), 1.0, 1),
    Comparison(upload("file", GIB), SPOOLED, 0.90, 1, why=durable_then),
    Comparison(PIECES, upload("unbuffered", GIB), 0.85, 1, why=durable_pieces),
    Comparison(PIECES, upload("file", GIB), 0.85, 1, why=durable_pieces),
    Comparison(BARE_PIECES, BARE_ONCE, 0.85, 1, why=durable_pieces),
    Comparison(upload("file", 10 * MIB), upload("buffered", 10 * MIB), 1.0, SENDERS),
    Comparison(upload("unbuffered", 10 * MIB), upload("buffered", 10 * MIB), 1.0, SENDERS),
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
    """Files that are never the same twice: what is sent, where to, and how to be rid of it."""

    def __init__(self, stack, addresses, token):
        self.stack = stack
        self.addresses = addresses
        self.headers = {"Authorization": f"Bearer {token}"}
        self.payloads = {}

    def payload(self, size):
        """A file of that size."""
        if size not in self.payloads:
            path = self.payloads[size] = self.stack.folder / f"{size}.bin"
            block = b"\x93noise\0" + os.urandom(MIB - 7)  # begins like nothing that libmagic knows
            with open(path, "wb") as output:
                for _ in range(size // MIB):
                    output.write(block)
        return self.payloads[size]

    def sender(self, way, size, name=SENT):
        """What sends files of that size and name."""
        kind, before, after = multipart(name, [("bucket", "files"), ("type", "misc")])
        request = raw(self.addresses[way], "POST", "/system/files", {**self.headers, "Content-Type": kind}, before,
                      after, size)
        path = self.stack.note(f"upload-{WORDS.sub('-', way)}-{size}-{name}.txt", [request])
        return Sending(upload(way, size), self.addresses[way], path, payload=self.payload(size), uploads=self,
                       size=size)

    def send(self, way, size, name):
        """Uploads one file of that name and keeps it; returns its id."""
        self.sender(way, size, name).send(self.stack, 1, 0)
        return dashed(self.stack.sql(f"SELECT LOWER(HEX(id)) FROM file WHERE name = '{name}'").strip())

    def client(self):
        """A client of resumable uploads."""
        return Client(self.stack.facts["baseUrl"], self.headers, self.payload(GIB), SENT)

    def in_pieces(self):
        """Seconds for a gibibyte."""
        seconds = self.client().whole()
        self.remove(SENT)
        return seconds

    def spooled(self):
        """Seconds in which nginx alone keeps a gibibyte in a file, and then one core makes its digest."""
        return 1 / self.sender(ALONE, GIB).send(self.stack, 1, 0)["rate"] + digest_once()

    def over_a_bad_line(self):
        """Bytes sent for each byte of a gibibyte."""
        ratio = self.client().over_a_bad_line()
        self.remove(SENT)
        return ratio

    def remove(self, name):
        """Rows and bytes of what has that name, as if they had never been."""
        of_name = f"name = '{name}'"
        records = self.stack.sql(f"SELECT LOWER(HEX(id)) FROM file WHERE {of_name}").split()
        self.stack.sql(f"DELETE FROM file_tag WHERE file_id IN (SELECT id FROM file WHERE {of_name});"
                       f" DELETE FROM file WHERE {of_name}")
        for record in records:
            os.unlink(blob(self.stack, record))


@dataclasses.dataclass
class Sending(Sender):
    """Uploads told in mebibytes, removed after the round. Of a gibibyte each connection sends one."""

    uploads: Uploads = None
    size: int = 0

    def send(self, stack, connections, seconds):
        """One round whose files stay."""
        found = super().drive(stack, connections, seconds)
        if found["refused"] or found["broken"]:
            raise Trouble(f"{self.name}: {found['refused']} uploads were refused, {found['broken']} connections broke.")
        return found

    def drive(self, stack, connections, seconds):
        """One round."""
        found = self.send(stack, connections, 0 if self.size >= GIB else seconds)
        self.uploads.remove(SENT)
        return found | {"rate": found["rate"] * self.size / MIB, "processor": found["processor"] * MIB / self.size}


def blob(stack, record):
    """Where the bytes of a file lie."""
    return os.path.join(stack.facts["blobDirectory"], record[-2:], record)


def sign_in(stack):
    """An access token of the administrator."""
    request = urllib.request.Request(stack.facts["baseUrl"] + "/customers/login",
                                     json.dumps(stack.facts["admin"]).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["tokens"]["accessToken"]


def way_of(stack, way, name=None, environment=()):
    """The site of the quick start with its uploads handed on in this way, on workers of its own, which get more of an
    environment. Returns its address."""
    if way == DEFAULT and not environment:
        return stack.facts["baseUrl"]

    def change(block):
        if way != DEFAULT:
            block = OF_DEFAULT.sub("", block)
        block = block.replace(f"#[{way}] ", "").replace("@BASE_PATH@", "")
        size = re.search(r"client_max_body_size (\d{6,});", block)[1]
        # The map of the way stands outside the block; no upload of ours is without a length.
        return block.replace("@MAX_BODY@", size).replace("$gatehouse_unmeasured", "$http_transfer_encoding")

    return stack.more_workers(name or way, stack.workers, change, environment=environment)[1]


def static(stack):
    """nginx sending the same files itself. Returns its address."""
    port = free_port()
    stack.servers["static"] = (f"server {{ listen 127.0.0.1:{port}; root {stack.facts['blobDirectory']}; "
                               "default_type application/octet-stream; }\n", port)
    stack.reload()
    stack.await_answer("static", port)
    return f"http://127.0.0.1:{port}"


def alone(stack):
    """nginx keeping each body in a file as it does for the service, and answering by itself. Returns its address."""
    port = free_port()
    stack.servers["alone"] = (
        f"server {{ listen 127.0.0.1:{port}; client_max_body_size 2g; client_body_in_file_only clean;\n"
        f"client_body_temp_path {stack.folder}/alone; location /kept/ {{ return 201; }}\n"
        f"location / {{ proxy_pass http://127.0.0.1:{port}/kept/; proxy_pass_request_body off;\n"
        'proxy_set_header Content-Length ""; } }\n', port)
    stack.reload()
    stack.await_answer("alone", port)
    return f"http://127.0.0.1:{port}"


def memory(stack, uploads):
    """{way: [peak at 10 MiB, peak at 1 GiB]} and what is wrong with it."""
    found, faults = {}, []
    for way in WAYS:
        uploads.sender(way, MIB).drive(stack, 1, 0)
        peaks = []
        for size in (10 * MIB, GIB):
            watch = Watch(stack)
            watch.start()
            uploads.sender(way, size).drive(stack, 1, 0)
            peaks.append(watch.end())
        found[f"peak private KiB of a worker, {way}, at 10 MiB and 1 GiB"] = peaks
        if max(peaks) > PRIVATE_KIB or not min(peaks):
            faults.append(f"{way}: a worker has had {peaks} KiB of its own")
        if peaks[1] - peaks[0] > FLAT_KIB:
            faults.append(f"{way}: a worker grows with the upload, {peaks} KiB")
    return found, faults


def bad_line(uploads):
    """What a client sends whose line breaks ten times, and what is wrong with it."""
    ratio = uploads.over_a_bad_line()
    faults = [f"a client whose line broke ten times has sent {ratio:.4f} times the bytes"] if ratio > SENT_MOST else []
    return {"bytes sent for each byte of a file of 1 GiB, its line broken ten times": [round(ratio, 4)]}, faults


def fetch(address, path, token, size):
    """Downloads with curl; returns the seconds."""
    arguments = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{time_total}", address + path]
    said = subprocess.run(arguments + (["-H", f"Authorization: Bearer {token}"] if token else []),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout.split()
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
    return float(subprocess.run(["env", *environment, sys.executable, "-I", "-c", HASH], stdout=subprocess.PIPE,
                                text=True, check=True).stdout)


def written(stack, piece):
    """Seconds for a gibibyte that is written, digested, and made durable after each `piece` bytes."""
    block, digest = os.urandom(MIB), hashlib.sha256()
    path = os.path.join(stack.facts["blobDirectory"], "bench-bare")
    with open(path, "wb", buffering=0) as file:
        began = time.perf_counter()
        for end in range(MIB, GIB + 1, MIB):
            file.write(block)
            digest.update(block)
            if end % piece == 0:
                os.fsync(file.fileno())
        seconds = time.perf_counter() - began
    os.unlink(path)
    return seconds


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


def chosen(stack, uploads, only):
    """The comparisons that are wanted and possible here; where the processor digests, the slow way is sent, too."""
    wanted = [row for row in COMPARISONS if not only or only in f"{row.of} / {row.to}"]
    if not has_sha_instructions():
        return [row for row in wanted if PLAIN not in row.to]
    for way in ("buffered", "unbuffered"):
        uploads.addresses[way + PLAIN] = way_of(stack, way, f"plain_{way}", [NO_SHA])
    return wanted


def downloads(stack, token, records):
    """Both sizes through the service and from the web server alone: those for many connections, those for one."""
    token_file, served = stack.note("administrator.txt", [token]), static(stack)
    many, single = [], []
    for how, address, path, tokens in (
            ("through the service", stack.facts["baseUrl"], lambda record: f"/system/files/{record}", token_file),
            ("static", served, lambda record: "/{}/{}".format(record.replace("-", "")[-2:], record.replace("-", "")),
             None)):
        name = f"{'service' if tokens else 'static'}-paths.txt"
        many.append(Target(download(how, MIB), address, stack.note(name, [path(records[MIB])]), tokens))
        single.append(Timed(download(how, GIB), lambda address=address, path=path(records[GIB]),
                            secret=tokens and token:
                            fetch(address, path, secret, GIB), 2, GIB))
    read = stack.note("read-paths.txt", [f"/system/files/{records[MIB]}/info"])
    return [*many, Target(READ, stack.facts["baseUrl"], read, token_file)], single


def durables(names):
    """What a durable file costs step by step; where one is wanted all three are."""
    runs = {}
    found = [Durable(f"durable file of 64 KiB, {what}", key, runs)
             for key, what in (("bare", "bare steps"), ("digested", "bare steps and SHA-256"), ("store", "blob store"))]
    if found[-1].name in names:
        names |= {one.name for one in found}
    return found


def drive(stack, driven, names, rounds, seconds):
    """Every target that is wanted, at its number of connections."""
    measured = {}
    for count, targets in driven:
        wanted = [target for target in targets if target.name in names]
        if wanted:
            measured |= measure.interleave(stack, wanted, (count, ), rounds, seconds)
    return measured


def notes(measured):
    """What the load generator took, where anything was uploaded."""
    shares = [entry["generator"] for rows in measured.values() for name, entries in rows.items() for entry in entries
              if name.startswith("upload ") and "generator" in entry]
    return [NOTES.format(least=min(shares), most=max(shares))] if shares else []


def one_by_one(stack, uploads):
    """What is sent or made once in a round, by one client."""
    found = [Timed(DIGEST, digest_once, 1, GIB), Timed(PLAIN_DIGEST, lambda: digest_once([NO_SHA]), 1, GIB)]
    found += [uploads.sender(way, size) for way in uploads.addresses for size in (GIB, 10 * MIB)]
    found += [Timed(PIECES, uploads.in_pieces, 1, GIB), Timed(SPOOLED, uploads.spooled, 1, GIB)]
    return found + [Timed(name, lambda piece=piece: written(stack, piece), 1, GIB)
                    for name, piece in ((BARE_PIECES, PIECE), (BARE_ONCE, GIB))]


def run(stack, options):
    """The suite."""
    token = sign_in(stack)
    uploads = Uploads(stack, {way: way_of(stack, way) for way in WAYS}, token)
    uploads.addresses[ALONE] = alone(stack)
    wanted = chosen(stack, uploads, options.only)
    names = {name for row in wanted for name in (row.of, row.to)} | {READ}
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    records = {size: uploads.send("buffered", size, f"kept-{size}.bin") for size in (MIB, GIB)}
    many, single = downloads(stack, token, records)
    single += one_by_one(stack, uploads) + durables(names)
    abreast = [target for target in single if isinstance(target, Sending) and target.size < GIB]
    measured = drive(stack, ((8, many), (1, single), (SENDERS, abreast)), names, rounds, seconds)
    found, faults = memory(stack, uploads) if options.only in (None, "memory") else ({}, [])
    if options.only in (None, "bad line"):
        told, wrong = bad_line(uploads)
        found, faults = found | told, faults + wrong
    for size in records:
        uploads.remove(f"kept-{size}.bin")
    return {"title": "Files", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, wanted), "memory": found,
            "faults": measure.faults(measured) + faults, "notes": notes(measured)}
