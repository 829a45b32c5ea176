# SPDX-License-Identifier: MIT
"""Child processes: started, awaited, ended; always by the number under which they were started, never by name.

Each child leads a group of its own, so that a Ctrl-C at the terminal reaches this program alone, which then ends the
others in order, and so that what a child has started can be ended with it as a group. Orphans of a child that died are
adopted (subreaper); when this process itself is killed, the kernel tells the children (setpriv --pdeathsig).
"""

import ctypes
import os
import select
import signal
import subprocess
import time

from problem import Interrupted, Problem

PR_SET_CHILD_SUBREAPER = 36
KEPT = ("HOME", "PATH", "USER", "LOGNAME", "TERM", "CCACHE_DIR", "CCACHE_MAXSIZE")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


# For builds with a sanitizer: what a short program leaves to its end is no leak that matters, and a worker that may not
# be dumped cannot be searched for leaks.
SANITIZER_OPTIONS = ("ASAN_OPTIONS", "detect_leaks=0")


def clean_environment(layout):
    """What the children see of the caller's environment: nothing that could change what they do."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {"HOME": "/", **kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(layout.temporary), **dict([SANITIZER_OPTIONS])}


def take_turns():
    """What wakes up waits for who is running to pause: see CPUSchedulingPolicy in systemd/gatehouse.service.in."""
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:
        pass  # a container may forbid it; it is only slower


class Processes:
    """All children of this process."""

    def __init__(self, layout):
        self.layout = layout
        self.environment = clean_environment(layout)
        self.known = set()
        self.ended = {}
        self.interrupted = False
        self.patient = False
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.wakeup, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in ENDING:
            signal.signal(number, self.on_ending)

    def on_ending(self, *_):
        self.interrupted = True

    def pause(self, seconds):
        """Waits, at most for the given time, until a child ends or a signal arrives; collects the children that ended.
        Raises Interrupted once somebody asked for the end, but while it is being carried out."""
        if self.interrupted and not self.patient:
            raise Interrupted
        select.select([self.wakeup], [], [], seconds)
        try:
            os.read(self.wakeup, 4096)
        except BlockingIOError:
            pass
        self.collect()
        if self.interrupted and not self.patient:
            raise Interrupted

    def collect(self):
        """Takes note of every child that has ended, and lets adopted ones go."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.known:
                self.known.remove(pid)
                self.ended[pid] = os.waitstatus_to_exitcode(status)

    def start(self, arguments, log, prefix=(), folder=None, environment=None, batch=False):
        """Starts a program with its output appended to the log file; `batch`: see take_turns(). Returns its pid."""
        watched = ["/usr/bin/setpriv", "--pdeathsig", "TERM", *prefix, "--", *map(str, arguments)]
        with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
            child = subprocess.Popen(watched, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                     cwd=folder or self.layout.state, env=environment or self.environment,
                                     process_group=0, restore_signals=True,
                                     preexec_fn=take_turns if batch else None)
        child.returncode = 0  # collect() waits for it, not this object
        self.known.add(child.pid)
        self.ended.pop(child.pid, None)
        return child.pid

    def exit_status(self, pid):
        """The exit status (negative: the signal), None while the process runs. Forgets a process that has ended."""
        return self.ended.pop(pid, None)

    def run(self, arguments, log, folder=None, environment=None, limit=3600):
        """Runs a program to its end and returns its exit status. It is ended with us."""
        return self.wait(self.start(arguments, log, folder=folder, environment=environment), arguments[0], log, limit)

    def wait(self, pid, what, log, limit):
        """Waits for the end of a program that was started, and returns its exit status."""
        deadline = time.monotonic() + limit
        try:
            while True:
                status = self.exit_status(pid)
                if status is not None:
                    return status
                if time.monotonic() > deadline:
                    raise Problem(f"{what} took longer than {limit} seconds; see {log}.")
                self.pause(1)
        except BaseException:
            self.end(pid, ((signal.SIGTERM, 5),))
            raise

    def end(self, pid, steps):
        """Ends a child and all of its group: each step is a signal to the child and the seconds it has to go."""
        self.patient, before = True, self.patient
        try:
            for number, seconds in steps:
                if pid not in self.known:
                    break
                os.kill(pid, number)
                deadline = time.monotonic() + seconds
                while pid in self.known and time.monotonic() < deadline:
                    self.pause(0.2)
            self.end_group(pid)
        finally:
            self.patient = before
        self.ended.pop(pid, None)

    def end_group(self, pid):
        """Kills what is left of the group that the child led."""
        deadline = time.monotonic() + 10
        while group_lives(pid) and time.monotonic() < deadline:
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                break
            self.collect()
            time.sleep(0.02)


def group_lives(pid):
    """Whether the group that this process led has a member left."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def start_time(pid):
    """When a process started, in the kernel's ticks: with the pid, it names a process for good. None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
