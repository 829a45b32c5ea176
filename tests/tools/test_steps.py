# SPDX-License-Identifier: MIT
"""The programs that tools/test runs: /usr/bin/python3 tests/tools/test_steps.py."""

import os
import pathlib
import signal
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "lib" / "testing"))

import processes  # noqa: E402
from steps import Steps  # noqa: E402

WITH_A_CHILD = ["sh", "-c", "sleep 60 & wait"]
ORDINARY = os.getpriority(os.PRIO_PROCESS, 0)


class GivingWay(unittest.TestCase):
    """What takes only what others leave."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.steps = Steps(types.SimpleNamespace(out=pathlib.Path(folder.name)), folder.name, folder.name)

    def start(self, kind, arguments=("sleep", "60")):
        """The process id of a program of that kind."""
        self.steps.here.kind = kind
        _, child = self.steps.start(kind, arguments)
        self.addCleanup(child.wait)
        self.addCleanup(os.killpg, child.pid, signal.SIGKILL)
        return child.pid

    def priorities(self, pid, count):
        """Of a program and those below it, once there are so many."""
        deadline = time.monotonic() + 10
        while len(found := processes.descendants([pid])) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return [os.getpriority(os.PRIO_PROCESS, one) for one in found]

    def test_a_running_program_gives_way_with_all_that_it_started(self):
        spare, other = self.start("spare", WITH_A_CHILD), self.start("other", WITH_A_CHILD)
        self.assertEqual(self.priorities(spare, 2), [ORDINARY, ORDINARY])
        self.steps.give_way({"spare"})
        self.assertEqual(self.priorities(spare, 2), [processes.LOWEST, processes.LOWEST])
        self.assertEqual(self.priorities(other, 2), [ORDINARY, ORDINARY])

    def test_so_does_a_program_that_starts_later(self):
        self.steps.give_way({"spare"})
        self.assertEqual(self.priorities(self.start("spare", WITH_A_CHILD), 2), [processes.LOWEST, processes.LOWEST])
        self.assertEqual(self.priorities(self.start("other"), 1), [ORDINARY])


if __name__ == "__main__":
    unittest.main()
