# SPDX-License-Identifier: MIT
"""The processes of a running quick start: killed, kept dead, let live again."""

import contextlib
import json
import os
import pathlib
import signal

from support.stack import wait_until

GONE_SECONDS = 60


class Parts:
    """The processes of a stack by their names in quickstart.json. What dies is started again unless it is held."""

    def __init__(self, stack):
        self.stack = stack
        self.hold_folder = pathlib.Path(stack.path).parent / "hold"

    def pid(self, name):
        """The process of that name now, or None."""
        return json.loads(self.stack.path.read_text())["pids"].get(name)

    def everything(self):
        """The names of all that runs but the one that starts it again."""
        return [name for name, _ in self.stack.pids() if name != "quickstart"]

    def hold(self, *names):
        """What dies from now on stays dead."""
        for name in names:
            (self.hold_folder / name).touch()

    def release(self, *names):
        """What was kept dead is started again; all of it without a name."""
        for name in names or [path.name for path in self.hold_folder.iterdir()]:
            with contextlib.suppress(FileNotFoundError):
                (self.hold_folder / name).unlink()

    def kill(self, *names, number=signal.SIGKILL):
        """A signal to the processes, in the order of their names. SIGKILL goes to all that they have started as well,
        and is waited for."""
        roots = [pid for pid in map(self.pid, names) if pid]
        whole = number == signal.SIGKILL
        targets = [pid for root in roots for pid in (self.stack.processes([root]) if whole else [root])]
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if whole:
            wait_until(lambda: not any(os.path.isdir(f"/proc/{pid}") for pid in targets), GONE_SECONDS,
                       "the end of what was killed")
