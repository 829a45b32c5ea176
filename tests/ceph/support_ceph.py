# SPDX-License-Identifier: MIT
"""The daemons of the running Ceph: killed, frozen, kept dead, let live again."""

import contextlib
import json
import os
import signal
import subprocess

from support.connections import ask
from support.parts import Parts
from support.stack import wait_until

OSDS = ("ceph-osd0", "ceph-osd1", "ceph-osd2")
GATEWAYS = ("store1", "store2")
WHOLE_SECONDS = 240
ASK_SECONDS = 60


class Ceph(Parts):
    """The store of the quick start, and the service that uses it."""

    def __init__(self, stack):
        super().__init__(stack)
        self.frozen = []
        self.environment = {**os.environ, "CEPH_CONF": stack.facts["store"]["cephConfiguration"], "CEPH_ARGS": ""}

    def ask(self, *words):
        """What Ceph answers to a question; nothing while it cannot."""
        done = subprocess.run(["ceph", "--connect-timeout", "5", "-f", "json", *words], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=ASK_SECONDS)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None

    def up(self):
        """How many OSDs are up, as the monitor knows."""
        return (self.ask("osd", "stat") or {}).get("num_up_osds")

    def is_clean(self):
        """Whether every OSD is up and holds all copies that it should."""
        state = self.ask("status")
        if not state or state["osdmap"].get("num_up_osds") != len(OSDS):
            return False
        groups = state["pgmap"]
        clean = sum(one["count"] for one in groups["pgs_by_state"] if one["state_name"] == "active+clean")
        return clean == groups["num_pgs"] > 0

    def is_ready(self):
        """Whether the service says that it is ready."""
        try:
            return ask("GET", self.stack.url("/system/health/ready"), timeout=10).status_code == 200
        except OSError:
            return False

    def await_whole(self):
        """Waits until all parts run, and all bytes have all their copies."""
        names = {*OSDS, *GATEWAYS, "ceph-mon", "ceph-mgr"}
        wait_until(lambda: names <= {name for name, _ in self.stack.pids()}, WHOLE_SECONDS, "all daemons", pause=0.2)
        wait_until(self.is_clean, WHOLE_SECONDS, "all copies", pause=0.5)
        wait_until(self.is_ready, WHOLE_SECONDS, "the service to be ready", pause=0.2)

    def freeze(self, name):
        """The daemon does nothing any more, and its connections stay open."""
        self.frozen.append(self.pid(name))
        os.kill(self.frozen[-1], signal.SIGSTOP)

    def thaw(self):
        """It goes on."""
        while self.frozen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.frozen.pop(), signal.SIGCONT)

    def heal(self):
        """Ends everything that a test has begun."""
        self.thaw()
        self.release()
