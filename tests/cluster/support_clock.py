# SPDX-License-Identifier: MIT
"""Programs with a clock that is ahead of the machine's."""

import contextlib
import os
import pathlib
import signal
import subprocess

from support.stack import wait_until

APART = 30
END_SECONDS = 60


def ahead(seconds=APART):
    """What starts a program with such a clock. The monotonic clock stays: nobody sets that of a machine."""
    found = list(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    assert found, "libfaketime is not installed: tools/lib/packages.txt names it"
    return ["env", f"LD_PRELOAD={found[0]}", f"FAKETIME=+{seconds}s", "FAKETIME_DONT_FAKE_MONOTONIC=1"]


class AheadNode:
    """A database node that runs with such a clock, in place of the quick start's own process of that name, which is
    held as long as this one lives."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.process = None
        old = cluster.pid(name)
        owner = os.stat(f"/proc/{old}")
        self.user, self.group = owner.st_uid, owner.st_gid
        words = pathlib.Path(f"/proc/{old}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        only_once = (b"--wsrep-start-position", b"--wsrep-new-cluster")
        self.command = [word.decode() for word in words if not word.startswith(only_once)]
        self.folder = os.readlink(f"/proc/{old}/cwd")

    def take_down(self):
        """Ends the quick start's own process; the workers go to another node."""
        self.cluster.hold(self.name)
        old = self.cluster.pid(self.name)
        self.cluster.kill(self.name, number=signal.SIGTERM)
        wait_until(lambda: not os.path.isdir(f"/proc/{old}"), END_SECONDS, f"the end of {self.name}")

    def start(self):
        """Starts the node ahead of its time, and waits until it takes part."""
        # Another user than root, with the right to reach the state folder, which is root's.
        user = ["setpriv", "--reuid", str(self.user), "--regid", str(self.group), "--clear-groups", "--inh-caps",
                "+dac_override", "--ambient-caps", "+dac_override", "--"] if self.user != os.geteuid() else []
        with open(self.cluster.stack.logs / f"{self.name}-ahead.log", "ab") as log:
            self.process = subprocess.Popen([*user, *ahead(), *self.command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT)
        wait_until(lambda: self.process.poll() is not None or self.is_synced(), 2 * END_SECONDS,
                   f"{self.name} to be synced")
        assert self.process.poll() is None, f"{log.name} says why it has ended"

    def is_synced(self):
        """Whether it has all data and takes statements."""
        return self.cluster.state(self.name).get("wsrep_local_state_comment") == "Synced"

    def kill(self):
        """No time to say goodbye."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def give_back(self):
        """Lets the quick start run the node again."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.kill()
        self.cluster.release(self.name)
