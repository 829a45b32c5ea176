# SPDX-License-Identifier: MIT
"""Interleaved rounds on a quiet machine: a round in which others have had more than their share of it does not
count."""

import glob
import os
import time

from load import own_children
from stack import Trouble

SHARE = 0.05
# So many rounds may be dropped for each that is wanted.
PATIENCE = 2


class Others:
    """What everybody but us has of the processors, from its making to share()."""

    def __init__(self, stack):
        self.stack = stack
        self.before = self.now()

    def now(self):
        """Seconds, processor seconds of the whole machine, of us, and of each of the kernel's own threads."""
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        used = os.times()
        ours = self.stack.busy() + own_children() + used.user + used.system
        return (time.monotonic(), (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"),
                ours, kernel_threads())

    def share(self):
        """From 0 to 1, of all processors. What the kernel's threads do is counted as done for us."""
        *after, threads = self.now()
        *before, known = self.before
        seconds, busy, ours = (one - other for one, other in zip(after, before))
        kernel = sum(used - known.get(pid, 0) for pid, used in threads.items())
        return max(0.0, busy - ours - kernel) / (seconds * os.cpu_count())


def kernel_threads():
    """{pid: processor seconds} of the kernel's threads."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[1] != "2":
                    continue
            with open(path.replace("/stat", "/schedstat"), encoding="ascii") as file:
                found[path.split("/")[2]] = int(file.read().split()[0]) / 1e9
        except (OSError, IndexError):
            continue
    return found


def told(connections, shares, dropped):
    """A sentence about the rounds that were kept and those that were not."""
    said = (f"at {connections} connections, others had {min(shares):.0%} to {max(shares):.0%} of the processors in the "
            "rounds kept")
    if max(shares) > SHARE:
        said += " (more than may be: these figures are no result)"
    if dropped:
        said += f"; {len(dropped)} rounds were dropped for {min(dropped):.0%} to {max(dropped):.0%}"
    return said


def drop(dropped, share, silent, rounds, number):
    """Notes a round that is not kept. Raises Trouble when there were too many."""
    dropped.append(share)
    print(f"  round dropped: others had {share:.0%} of the processors"
          + (silent and f"; no answer in time of {silent}"), flush=True)
    if len(dropped) > PATIENCE * rounds:
        raise Trouble(f"Others had up to {max(dropped):.0%} of the processors in {len(dropped)} of {number} rounds, "
                      f"{SHARE:.0%} are allowed. Try again on a quiet machine, or with --any-load for figures that "
                      "are no result.")


def quiet(stack, targets, connections, rounds, seconds, any_load):
    """Drives every target once a round, starting elsewhere each round, until so many rounds have been quiet.
    Returns ({connections: {name: [one entry a round]}}, a sentence about the rounds that were dropped)."""
    kept = {target.name: [] for target in targets}
    shares, dropped, number = [], [], 0
    for target in targets:  # so that what is opened or prepared at first use is not measured
        target.drive(stack, connections, 1)
    while len(shares) < rounds:
        others = Others(stack)
        turn = number % len(targets)
        entries = {target.name: target.drive(stack, connections, seconds) for target in targets[turn:] + targets[:turn]}
        share = others.share()
        number += 1
        faulty = any(entry["refused"] or entry["broken"] for entry in entries.values())
        silent = ", ".join(name for name, entry in entries.items() if not entry["requests"])
        if silent or share > SHARE and not any_load and not faulty:
            drop(dropped, share, silent, rounds, number)
            continue
        shares.append(share)
        for name, entry in entries.items():
            kept[name].append(entry)
        print(f"  round {len(shares)} of {rounds}, others {share:.0%}", flush=True)
    return {connections: kept}, told(connections, shares, dropped)
