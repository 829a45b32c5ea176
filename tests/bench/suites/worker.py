# SPDX-License-Identifier: MIT
"""One worker: how fast it starts, what memory it has of its own when idle and after a hundred thousand mixed
requests."""

import json
import subprocess

import measure
from load import Target
from measure import Comparison
from stack import dashed

STARTS = 40
REQUESTS = 100_000
GROWTH_KIB = 256
START = Comparison("start of a worker", "exec to first accept", 20, 1, False)
IDLE = Comparison("private memory of an idle worker", "after one request", 4, 1, False)
GROWTH = Comparison("private memory of a worker after 100,000 mixed requests", "what it had after 10,000", GROWTH_KIB,
                    8, False)
CONNECTIONS = 8
ROUNDS, SECONDS = 1, 5


def starts(stack, count):
    """Starts so many workers one after the other; returns milliseconds each, and processor milliseconds each."""
    said = subprocess.run(
        [stack.build / "tests" / "bench" / "start", str(count), stack.folder / "start.sock", stack.worker, "--config",
         stack.facts["configuration"]], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [json.loads(line) for line in said.splitlines()]
    return [one["microseconds"] / 1000 for one in found], [one["busy"] / 1000 for one in found]


def mixed(stack):
    """Lines of requests of many kinds that all readers may make."""
    lines = []
    for number, file in enumerate(stack.files):
        lines += [f"/system/files/{dashed(file)}/info", "/customers/me",
                  'POST /customers/authorise {"permission":"cus:file:r"}']
        lines += [["/system/files?limit=25"], ["/customers/organisations/users?limit=10"], ["/customers/roles"],
                  ["/system/health/live"], ["/system/files?limit=10&name=contract"]][number % 5]
    return stack.note("mixed.txt", lines)


def run(stack, options):
    """The suite."""
    times, busy = starts(stack, STARTS)
    root, address = stack.more_workers("lone", 1)
    lines = mixed(stack)
    tokens = stack.tokens("seen.txt", len(stack.readers))
    idle = max(stack.private_memory(root.pid).values()) / 1024
    target = Target("mixed requests, one worker", address, lines, tokens)
    seconds = options.seconds or SECONDS
    entries, done, early = [], 0, None
    while done < REQUESTS:
        entries.append(target.drive(stack, CONNECTIONS, seconds))
        done += entries[-1]["requests"]
        if early is None and done >= REQUESTS / 10:
            early = stack.private_memory(root.pid)
        if entries[-1]["requests"] == 0:
            break
        print(f"  {done} of {REQUESTS} requests", flush=True)
    late = stack.private_memory(root.pid)
    stack.finish([root])
    measured = {CONNECTIONS: {target.name: entries}}
    faults = measure.faults(measured)
    grown = [late[pid] - kib for pid, kib in (early or {}).items() if pid in late]
    if not grown:
        faults.append("the worker has not lived through the load")
    rows = [measure.evaluate(START, times, unit="ms"), measure.evaluate(IDLE, [idle], unit="MiB")]
    rows += [measure.evaluate(GROWTH, grown, unit="KiB more")] if grown else []
    faults += [f"the worker has grown by {kib} KiB" for kib in grown if kib > GROWTH_KIB]
    return {"title": "A worker", "rounds": len(entries), "seconds": seconds, "measured": measured, "comparisons": rows,
            "memory": {"private KiB of the worker, idle, after 10,000 and after 100,000 requests":
                       [round(idle * 1024), *(early or {}).values(), *late.values()],
                       "processor ms of a start and an end, median and most": [sorted(busy)[len(busy) // 2],
                                                                               max(busy)]},
            "faults": faults}
