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
        self.file.write_text("")

    @contextlib.contextmanager
    def worker(self):
        """A worker of the test's own that can be ended so. A message that it sends after a reply, such as when a
        session was used last, counts as well once it is armed: then it has ended before the next request comes."""
        self.disarm()
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            with system.worker(self.stack) as started:
                started.doomed = True
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
    well. One that was just killed is started again by quickstart: then the new one is held, since it would take the
    jobs of whoever asks for this."""
    database = Database(stack.database)
    held = []

    def hold():
        held[:] = stack.pids_named("jobs")
        assert held, f"quickstart.json records no job runner: {stack.pids()}"
        if signal_all(held, signal.SIGSTOP) and stand_still(held) and not in_transaction(database):
            if stack.pids_named("jobs") == held:
                return True
        signal_all(held, signal.SIGCONT)
        return False

    try:
        wait_until(lambda: stack.pids_named("jobs"), 60, "a job runner")
        wait_until(hold, 120, "the job runner to be held between two transactions")
        yield
    finally:
        signal_all(held, signal.SIGCONT)
        database.close()


def in_transaction(database):
    """Whether somebody stays in a transaction. Others have some, too, but not for long. The server renews the table
    ten times a second."""
    for _ in range(10):
        if not database.run("SELECT 1 FROM information_schema.innodb_trx"):
            return False
        time.sleep(0.15)
    return True


def signal_all(pids, number):
    """Sends a signal to each; False when one has gone."""
    there = True
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            there = False
    return there


def stand_still(pids):
    """Waits until every thread of the processes is stopped: the signal is one thread's to take, and the others follow.
    False when a process has ended, which leaves no thread or a dead one."""
    for pid in pids:
        states = wait_until(lambda pid=pid: is_still(pid), 60, "a process to stand still")
        if states != {"T"}:
            return False
    return True


def is_still(pid):
    """The states of a process's threads once it is stopped ("T") or has ended; None as long as it runs."""
    try:
        tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/stat")
        states = {task.read_text(encoding="utf-8").rpartition(")")[2].split()[0] for task in tasks}
    except (FileNotFoundError, ProcessLookupError):
        return None
    return states or {"gone"} if states <= {"T", "Z", "X"} else None


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
