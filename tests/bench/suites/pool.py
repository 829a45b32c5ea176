# SPDX-License-Identifier: MIT
"""How the service scales: authorised reads on pools of 1 to 16 workers, from 1 to 512 connections at once."""

import measure
import tell
from load import Target
from stack import dashed

WORKERS = (1, 2, 4, 8, 16)
CONNECTIONS = (1, 8, 64, 512)
ROUNDS, SECONDS = 3, 1
HEAD = ["workers", "connections", "reads/s", "p50 ms", "p99 ms", "private MiB a worker", "errors"]
WORDS = "Authorised file information with a known token. Each pool is behind a server of its own in the same nginx."


def name_of(count):
    """What a pool is called."""
    return f"{count} worker{'s' * (count > 1)}"


def run(stack, options):
    """The suite."""
    reads = stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files])
    seen = stack.tokens("seen.txt", len(stack.readers))
    roots, driven = {}, []
    for count in WORKERS:
        roots[count], address = stack.more_workers(f"pool{count}", count)
        driven.append(Target(name_of(count), address, reads, seen))
        driven[-1].look()
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    measured = measure.interleave(stack, driven, CONNECTIONS, rounds, seconds)
    memory = {count: max(stack.private_memory(root.pid).values()) / 1024 for count, root in roots.items()}
    stack.finish(list(roots.values()))
    rows = []
    for count in WORKERS:
        for connections in CONNECTIONS:
            entries = measured[connections][name_of(count)]
            rows.append([count, connections, round(tell.middle(entries, lambda one: one["rate"])),
                         f"{tell.latency(entries, '50'):.2f}", f"{tell.latency(entries, '99'):.2f}",
                         f"{memory[count]:.1f}", sum(one["refused"] + one["broken"] for one in entries)])
    curves = [{"title": title, "log_x": True, "log_y": True, "ticks": [(count, str(count)) for count in WORKERS],
               "series": {f"{connections} connection{'s' * (connections > 1)}": [
                   (count, tell.middle(measured[connections][name_of(count)], value)) for count in WORKERS]
                          for connections in CONNECTIONS}}
              for title, value in (("Reads a second by number of workers", lambda one: one["rate"]),
                                   ("p99 in ms by number of workers", lambda one: one["latency"]["99"] / 1000))]
    return {"title": "Pools", "notes": [WORDS], "rounds": rounds, "seconds": seconds, "measured": {}, "comparisons": [],
            "tables": [{"title": "Workers and connections", "head": HEAD, "rows": rows}], "curves": curves,
            "faults": measure.faults(measured)}
