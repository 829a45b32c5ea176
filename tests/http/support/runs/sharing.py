# SPDX-License-Identifier: MIT
"""Several pytest processes, each with a stack of its own, share out the test files of one run.

All of them collect the same cases. $GATEHOUSE_TEST_SHARE names a folder in which a process claims a file before it runs
the file's cases; what another process has claimed it leaves out. Files that take longest are claimed first, so that the
processes end at about the same time. Without the variable one process runs everything.
"""

import itertools
import json
import os
import pathlib

SECONDS = json.loads((pathlib.Path(__file__).resolve().parents[2] / "seconds.json").read_text(encoding="utf-8"))


def file(item):
    """The path of a case's file inside tests/http."""
    return item.nodeid.split("::")[0]


def order(item):
    """The key by which cases are sorted: files that take longest first, what breaks the stack last in its file, what
    looks at everything that the process did after all else."""
    return (item.get_closest_marker("last") is not None, -SECONDS.get(file(item), 0), file(item),
            item.get_closest_marker("fault") is not None)


def run(session):
    """Runs the cases of the files that this process claims, and notes how many were collected and how many ran."""
    folder = pathlib.Path(os.environ["GATEHOUSE_TEST_SHARE"])
    shared = [item for item in session.items if item.get_closest_marker("last") is None]
    note(folder, "collected", len(shared))
    ran = 0
    mine = itertools.chain(claimed(folder, shared), [item for item in session.items if item.get_closest_marker("last")])
    item = next(mine, None)
    while item is not None:
        following = next(mine, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        ran += item.get_closest_marker("last") is None
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    note(folder, "ran", ran)


def claimed(folder, items):
    """The cases of the files that nobody else has claimed."""
    for name, group in itertools.groupby(items, key=file):
        try:
            os.close(os.open(folder / f"claimed-{name.replace('/', '-')}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            continue
        yield from group


def note(folder, what, number):
    """Leaves a number for whoever compares what was collected with what ran."""
    (folder / f"{what}-{os.getpid()}").write_text(str(number), encoding="ascii")
