#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the sandbox costs a read: two workers of one configuration, one with it and one without, asked by turns.

    tests/bench/walls.py QUICKSTART.JSON [ROUNDS]

QUICKSTART.JSON is that of a running quick start. Prints the processor time of each worker for a read in microseconds,
and what is between them in per cent; what else runs on the machine hardly changes that.
"""

import json
import pathlib
import statistics
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from support.programs import system  # noqa: E402
from support.stack import Stack  # noqa: E402

PATH = "/customers/me"


def used(worker):
    """Microseconds of the processor that a worker has used."""
    return int(pathlib.Path(f"/proc/{worker.process.pid}/schedstat").read_text().split()[0]) / 1000


def sign_in(stack):
    request = urllib.request.Request(stack.url("/customers/login"), json.dumps(stack.admin).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)["tokens"]["accessToken"]


def read(worker, stack, token):
    """One read over a connection of its own, as the web server makes it."""
    answer = worker.call("GET", stack.prefix + PATH, token=token)
    assert answer.status == 200, answer.body


def main():
    stack = Stack(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    token = sign_in(stack)
    with system.worker(stack) as walled, system.worker(stack, service_sandbox="false") as bare:
        costs = {walled: [], bare: []}
        for turn in range(rounds):
            for worker in (walled, bare) if turn % 2 else (bare, walled):
                before = used(worker)
                read(worker, stack, token)
                costs[worker].append(used(worker) - before)
        with_walls, without = (statistics.median(costs[worker]) for worker in (walled, bare))
        print(f"{with_walls:.1f} with the sandbox, {without:.1f} without: {(with_walls / without - 1) * 100:+.2f} %")


if __name__ == "__main__":
    main()
