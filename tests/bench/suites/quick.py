# SPDX-License-Identifier: MIT
"""What must be zero on any machine, however busy: errors and memory that grows. Times are only told."""

import measure
from load import Target
from stack import dashed
from suites.reads import HEALTH, NULL, READ

# A worker's private memory after the load, against what it was after the same load before.
GROWTH_KIB = 256
ROUNDS, SECONDS = 3, 2


def run(stack, options):
    """The suite."""
    base = stack.facts["baseUrl"]
    reads = stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files])
    lists = stack.note("lists.txt", ["/system/files?limit=25", "/customers/me", "/customers/roles",
                                     "/customers/organisations/users?limit=10"])
    seen = stack.tokens("seen.txt", len(stack.readers))
    health = stack.note("health.txt", ["/system/health/live", "/system/version"])
    driven = [
        Target(NULL, stack.pool("null", "null"), health),
        Target(HEALTH, base, health),
        Target(READ, base, reads, seen),
        Target("lists and profiles", base, lists, seen),
    ]
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    measure.interleave(stack, driven, (8, 64), 1, seconds)
    before = stack.private_memory()
    measured = measure.interleave(stack, driven, (8, 64), rounds, seconds)
    after = stack.private_memory()
    grown = {pid: after[pid] - before[pid] for pid in before if pid in after}
    faults = measure.faults(measured)
    faults += [f"worker {pid} has grown by {number} KiB" for pid, number in grown.items() if number > GROWTH_KIB]
    if not grown:
        faults.append("no worker has lived through the load")
    return {"title": "Zeros", "rounds": rounds, "seconds": seconds, "measured": measured, "comparisons": [],
            "memory": {"private KiB after the load": sorted(after.values()), "grown by KiB": sorted(grown.values())},
            "faults": faults}
