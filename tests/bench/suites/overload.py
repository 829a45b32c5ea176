# SPDX-License-Identifier: MIT
"""What others notice of clients that are slow on purpose, and what is left of the service's rate when four times as
much is asked as it can do."""

import dataclasses
import json
import pathlib
import subprocess
import sys
import time
import urllib.parse

import measure
from load import Target
from measure import Comparison
from peers.client import multipart, need, raw
from stack import Trouble, dashed
from suites.login import login_target
from suites.reads import READ

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "http"))
from support.wire.slow import Kind, SlowClients  # noqa: E402

ROUNDS, SECONDS = 3, 5
SLOW = 500
TIMES = 4
READERS = 8
LONG_LIST = "lists of 100 files"
GOALS = {"kept": 0.8, "refusal": 100, "recovery": 2}
MIB = 1 << 20
LARGE = 4 * MIB
HEAD = ["what is asked", "capacity/s", "asked/s", "good/s", "good p50 ms", "good p99 ms", "refused/s", "refused p99 ms",
        "done after s"]
NOTES = f"""\
Slow clients: {SLOW} connections each of which sends or reads a few bytes a second, while others read. Overload:
requests come at {TIMES} times the rate that was measured just before, whatever becomes
of those before. The load generator and the web server, which refuses what is too much, need the same processors."""


@dataclasses.dataclass
class Beside:
    """A target driven while slow clients hold their connections."""

    name: str
    target: Target
    head: bytes
    drop: bytes

    def drive(self, stack, connections, seconds):
        """One round."""
        with SlowClients(self.target.url, Kind(self.name, SLOW, lambda _: self.head, self.drop)):
            return self.target.drive(stack, connections, seconds)


@dataclasses.dataclass
class Storm:
    """Requests at a rate that nothing slows."""

    url: str
    requests: object

    def drive(self, stack, rate, seconds):
        """What storm.c found."""
        place = urllib.parse.urlsplit(self.url)
        said = subprocess.run([stack.build / "tests" / "bench" / "storm", place.hostname, str(place.port),
                               str(round(rate)), str(seconds), self.requests], stdout=subprocess.PIPE, text=True,
                              check=False).stdout
        if not said:
            raise Trouble("storm said nothing.")
        return json.loads(said)


def plain(text):
    """A request as it goes over the line."""
    return text.replace(r"\r\n", "\r\n").encode("ascii")


def large_file(stack, token):
    """Uploads a file that fits into no buffer; returns the path of its bytes."""
    content_type, before, after = multipart("large.bin", [("bucket", "files"), ("type", "misc")])
    body = before.encode() + b"\x93noise\0" + time.time_ns().to_bytes(8, "big") * (LARGE // 8) + after.encode()
    answer = need("POST", f"{stack.facts['baseUrl']}/system/files", body,
                  {"Content-Type": content_type, "Authorization": f"Bearer {token}"})
    return f"/system/files/{answer.json()['id']}"


def slow_targets(stack, reads, token):
    """The read, alone and beside slow clients of each kind."""
    base = stack.facts["baseUrl"]
    json_head = {"Content-Type": "application/json", "Content-Length": "4000"}
    download = plain(raw(base, "GET", large_file(stack, token), {"Authorization": f"Bearer {token}"}))
    ways = {
        "send their request's head": (plain(raw(base, "GET", "/", {}))[:-2], b"X: y\r\n"),
        "send their request's body": (plain(raw(base, "POST", "/customers/login", json_head)), b" "),
        "read a file": (download, b""),
    }
    return [reads] + [Beside(f"{READ}, while {SLOW} clients slowly {how}", reads, head, drop)
                      for how, (head, drop) in ways.items()]


def slow_rows(stack, reads, token, rounds, seconds):
    """Slow clients: what was measured, the rows of goals, and a table."""
    driven = slow_targets(stack, reads, token)
    measured = measure.interleave(stack, driven, (READERS, ), rounds, seconds)
    rows = measured[READERS]
    found = []
    for target in driven[1:]:
        tails = [slow["latency"]["99"] / alone["latency"]["99"] for slow, alone in zip(rows[target.name], rows[READ])]
        found.append(measure.evaluate(Comparison(target.name, f"{READ}, both by their p99", 2, READERS, False), tails))
    return measured, found


def storms(stack, reads_tokens):
    """{what: (target that shows the capacity, connections, storm)}."""
    base = stack.facts["baseUrl"]
    path = "/system/files?limit=100"
    lists = Target(LONG_LIST, base, stack.note("long.txt", [path]), reads_tokens)
    lines = [raw(base, "GET", path, {"Authorization": f"Bearer {token}"})
             for token in reads_tokens.read_text(encoding="ascii").split()]
    logins = login_target(stack)
    sent = []
    for line in logins.paths.read_text(encoding="ascii").splitlines():
        _, where, body = line.split(" ", 2)
        sent.append(raw(base, "POST", where, {"Content-Type": "application/json", "Content-Length": len(body)}) + body)
    return {LONG_LIST: (lists, 2 * stack.workers, Storm(base, stack.note("storm-lists.txt", lines))),
            "logins": (logins, 2 * stack.cores(), Storm(base, stack.note("storm-logins.txt", sent)))}


def overload(stack, what, target, connections, storm, rounds, seconds):
    """One kind of requests at four times its capacity: rows of goals, a row of the table, faults."""
    target.look()
    peaks, found = [], []
    for _ in range(rounds):
        peaks.append(target.drive(stack, connections, seconds)["rate"])
        found.append(storm.drive(stack, TIMES * peaks[-1], seconds))
    rates = [one["good"]["count"] * 1e6 / max(one["microseconds"], 1e6 * seconds) for one in found]
    recovery = [max(0, one["microseconds"] / 1e6 - seconds) for one in found]
    refusals = [one["refused"]["latency"].get("99", 0) / 1000 for one in found]
    asked = f"{what}, asked for {TIMES} times as often as the service can"
    rows = [
        measure.evaluate(Comparison(asked, f"{what} as many as it can", GOALS["kept"], connections),
                         [rate / peak for rate, peak in zip(rates, peaks)]),
        measure.evaluate(Comparison("p99 of a refusal", asked, GOALS["refusal"], connections, False), refusals,
                         unit="ms"),
        measure.evaluate(Comparison("until the last is answered", asked, GOALS["recovery"], connections, False),
                         recovery, unit="s"),
    ]
    middle = sorted(range(rounds), key=lambda number: rates[number] / peaks[number])[rounds // 2]
    one = found[middle]
    told = [what, round(peaks[middle]), round(TIMES * peaks[middle]), round(rates[middle]),
            *(f"{one['good']['latency'].get(percent, 0) / 1000:.0f}" for percent in ("50", "99")),
            round(one["refused"]["count"] / seconds), f"{refusals[middle]:.0f}", f"{recovery[middle]:.1f}"]
    if not rows[0]["holds"]:
        rows[0]["why"] = why(told)
    faults = [f"{asked}: {sum(one[key] for one in found)} {words}"
              for key, words in (("without_retry_after", "refusals without Retry-After"),
                                 ("broken", "connections broken or not answered in 10 s"),
                                 ("unsent", "requests that could not be sent"))
              if any(one[key] for one in found)]
    return rows, told, faults


def why(told):
    """What keeps the rate from its goal, by a row of the table."""
    good, refused = (told[HEAD.index(column)] for column in ("good/s", "refused/s"))
    return (f"meanwhile the same processors refuse {refused} requests a second, {refused / max(1, good):.1f} for each "
            "good answer.")


def run(stack, options):
    """The suite."""
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    tokens = stack.tokens("seen.txt", len(stack.readers))
    reads = Target(READ, stack.facts["baseUrl"],
                   stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files]), tokens)
    reads.look()
    token = tokens.read_text(encoding="ascii").split("\n", 1)[0]
    measured, comparisons = slow_rows(stack, reads, token, rounds, seconds)
    faults, table = measure.faults(measured), []
    for what, (target, connections, storm) in storms(stack, tokens).items():
        rows, told, more = overload(stack, what, target, connections, storm, rounds, seconds)
        comparisons += rows
        table.append(told)
        faults += more
    return {"title": "Overload", "notes": [NOTES], "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": comparisons, "tables": [{"title": "Overload", "head": HEAD, "rows": table}],
            "faults": faults}
