# SPDX-License-Identifier: MIT
"""Processes that we have not started ourselves: those below our programs."""

import contextlib
import os
import pathlib

LOWEST = 19  # of sched(7): one of them gets a sixtieth of what another process gets that wants the same processor
LOWERED = ("nice", "-n", str(LOWEST))  # before the words of a command


def descendants(roots):
    """The processes with these ids and all below them."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parents.setdefault(parent(path.read_text(encoding="ascii", errors="replace")), []).append(
                int(path.parent.name))
    found = list(roots)
    for pid in found:
        found += parents.get(pid, [])
    return found


def parent(text):
    """The parent's id in what /proc/PID/stat says; the name before it may hold anything (proc(5))."""
    return int(text.rpartition(")")[2].split()[1])


def lower(pid):
    """The process, and what it starts from now on, gets the lowest priority."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, LOWEST)
