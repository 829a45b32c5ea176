# SPDX-License-Identifier: MIT
"""Ends programs of the stack in the middle of their work, holds them still between two pieces of it, and says whether
sanitizers forbid that."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from support.database import Database
from support.programs import system
from support.stack import wait_until

SOURCE = pathlib.Path(__file__).parent / "kill_at_send.c"


def sanitized(stack):
    """Whether the worker was built with sanitizers: it is slow then, and takes no preloaded library."""
    with open(stack.worker_program(), "rb") as file:
        return bool(re.search(rb"__asan_init|__ubsan_handle", file.read()))


def build(folder):
    """Builds the library that ends a program at its N-th message to the database; returns its path."""
    library = folder / "kill_at_send.so"
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE],
        check=True)
    return library


class Crash:
    """What a doomed program needs in its environment, and the file that decides when it ends."""

    def __init__(self, stack, library, folder):
        self.stack = stack
        self.file = folder / "crash-at"
        self.environment = {
            "LD_PRELOAD": str(library), "CRASH_FILE": str(self.file), "CRASH_SOCKET": stack.database["socket"]
        }

    def arm(self, number):
        """From now on the messages are counted, and the number-th is the end."""
        self.file.write_text(str(number))

    def disarm(self):
        self.file.unlink(missing_ok=True)

    @contextlib.contextmanager
    def worker(self):
        """A worker of the test's own that can be ended so."""
        self.disarm()
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            with system.worker(self.stack) as started:
                yield started
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
            self.disarm()

    def jobs_once(self, number=None):
        """One round of the job runner, ended at its number-th message; returns its exit status."""
        self.disarm()
        if number is not None:
            self.arm(number)
        done = subprocess.run([self.stack.ctl, "--config", self.stack.configuration, "jobs", "--once"],
                              env={**os.environ, **self.environment},
                              capture_output=True,
                              timeout=300)
        self.disarm()
        assert number is not None or done.returncode == 0, done.stderr
        return done.returncode


@contextlib.contextmanager
def paused_jobs(stack):
    """Holds the stack's own job runner still, though never in a transaction, whose locks would hold others up as
    well."""
    pids = stack.pids_named("jobs")
    assert pids, f"quickstart.json records no job runner: {stack.pids()}"
    database = Database(stack.database)

    def held():
        signal_all(pids, signal.SIGSTOP)
        wait_until(lambda: all(stands_still(pid) for pid in pids), 60, "the job runner to stand still")
        # Others have transactions, too, but not for long. The server renews the table ten times a second.
        for _ in range(10):
            if not database.run("SELECT 1 FROM information_schema.innodb_trx"):
                return True
            time.sleep(0.15)
        signal_all(pids, signal.SIGCONT)
        return False

    try:
        wait_until(held, 120, "the job runner to be held between two transactions")
        yield
    finally:
        signal_all(pids, signal.SIGCONT)
        database.close()


def signal_all(pids, number):
    """Sends a signal to each."""
    for pid in pids:
        os.kill(pid, number)


def stands_still(pid):
    """Whether every thread of a process is stopped: the signal is one thread's to take, and the others follow."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/stat")
    return all(task.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T" for task in tasks)


def children(pid):
    """The pids of a process's children."""
    try:
        return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill(pid):
    """SIGKILL; False when the process has gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
