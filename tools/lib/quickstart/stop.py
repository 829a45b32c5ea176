# SPDX-License-Identifier: MIT
"""--stop: ends what was started with the same state folder, by the recorded processes and nothing else."""

import contextlib
import json
import os
import signal
import time

import layout as layouts
from output import say
from problem import Problem
from processes import group_lives, start_time

SECONDS = 150


def run(chosen):
    """Returns 0 when nothing of the folder runs any more."""
    layout = layouts.Layout(chosen.state, chosen.build_directory)
    if not (layout.state / layouts.MARK).exists():
        say(f"Nothing is running: {layout.state} is no quick start's folder.")
        return 0
    layout.check()
    was_running = not layout.is_free()
    if was_running:
        end_supervisor(layout)
    leftovers = end_leftovers(layout)
    say("Everything is ended." if was_running or leftovers else f"Nothing is running in {layout.state}.")
    return 0


def end_supervisor(layout):
    """Asks the process that holds the folder to end everything, and waits until it has, and has gone itself."""
    deadline = time.monotonic() + SECONDS
    asked = None
    while not layout.is_free() or asked and lives(asked):
        holder = layout.lock.read_text(encoding="ascii").split()
        if len(holder) == 2 and asked != holder and lives(holder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(holder[0]), signal.SIGTERM)
            asked = holder
        if time.monotonic() > deadline:
            raise Problem(f"Process {' '.join(holder[:1])} still holds {layout.state} after {SECONDS} seconds.")
        time.sleep(0.05)


def lives(holder):
    """Whether the process is there that has written down its pid and its start."""
    pid, started = map(int, holder)
    return start_time(pid) == started


def end_leftovers(layout):
    """Ends recorded processes that outlived their supervisor (it was killed), with all that they have started. Returns
    whether there were any."""
    try:
        recorded = json.loads(layout.pids.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    living = [pid for pid, started in recorded.values() if started and start_time(pid) == started]
    left = living
    for number, seconds in ((signal.SIGTERM, 60), (signal.SIGKILL, 10)):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)
        deadline = time.monotonic() + seconds
        while (left := list(filter(group_lives, left))) and time.monotonic() < deadline:
            time.sleep(0.05)
    layout.pids.unlink(missing_ok=True)
    return bool(living)
