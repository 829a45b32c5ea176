# SPDX-License-Identifier: MIT
"""Control groups of a test's own, with which the kernel bounds the processes and the memory of a worker."""

import os
import pathlib
import signal
import time
import uuid

import pytest

MOUNT = pathlib.Path("/sys/fs/cgroup")
# What the limit is called in version 1 and in version 2, and the word for none.
LIMITS = {"pids": (("pids.max", "max"), ("pids.max", "max")),
          "memory": (("memory.limit_in_bytes", "-1"), ("memory.max", "max"))}


# Where the kernel counts whom it has killed for want of memory, in version 1 and in version 2.
KILLS = ("memory.oom_control", "memory.events")


class Group:
    """One of the kind `pids` or `memory`; used in a `with`, which skips the test where there can be none."""

    def __init__(self, kind):
        first = (MOUNT / kind).is_dir()
        self.path = (MOUNT / kind if first else MOUNT) / f"gatehouse-{uuid.uuid4().hex[:12]}"
        self.name, self.none = LIMITS[kind][0 if first else 1]
        self.kills = self.path / KILLS[0 if first else 1]

    def __enter__(self):
        try:
            self.path.mkdir()
            self.bound(self.none)
        except OSError as fault:
            if self.path.exists():
                self.path.rmdir()
            pytest.skip(f"no control group can be made: {fault}")
        return self

    def __exit__(self, *_):
        self.bound(self.none)
        for pid in self.procs.read_text().split():
            (self.path.parent / "cgroup.procs").write_text(pid)
        for _ in range(100):
            try:
                return self.path.rmdir()
            except OSError:  # the last process is still being taken away
                time.sleep(0.05)
        raise AssertionError(f"{self.path} cannot be removed: {self.procs.read_text()}")

    @property
    def procs(self):
        """The file that names the processes of the group."""
        return self.path / "cgroup.procs"

    def add(self, *pids):
        for pid in pids:
            self.procs.write_text(str(pid))

    def bound(self, value):
        """The limit: processes, or bytes."""
        (self.path / self.name).write_text(str(value))

    def lift(self):
        self.bound(self.none)

    def has_killed(self):
        """Whether the kernel has killed a process for want of memory, which may take a moment to end."""
        return any(line.split() != ["oom_kill", "0"] for line in self.kills.read_text().splitlines()
                   if line.startswith("oom_kill "))


EXITING = 0x4  # among the flags of a process: PF_EXITING
KILLED = 1 << (signal.SIGKILL - 1)


def is_dying(pid):
    """Whether a process has been killed and is not gone yet."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        flags = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[6])
    except OSError:
        return False
    pending = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd:", "ShdPnd:"))]
    return bool(flags & EXITING) or any(signals & KILLED for signals in pending)


def children(pid):
    """The pids of a process's children."""
    return [int(one) for task in os.listdir(f"/proc/{pid}/task")
            for one in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
