# SPDX-License-Identifier: MIT
"""What the web server has on the disk of bodies that it receives."""

import contextlib
import os
import pathlib
import stat
import threading
import time


def folder(stack):
    """The folder below which this stack's web server spools."""
    return pathlib.Path(stack.configuration).parent.parent / "tmp"


def spooled(stack):
    """How many bytes of bodies the web server holds in files, those without a name included."""
    below, found = str(folder(stack)) + "/", {}
    for pid in stack.processes(stack.pids_named("nginx") + stack.pids_named("apache")):
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{name}"
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    if stat.S_ISREG(status.st_mode) and os.readlink(path).startswith(below):
                        found[status.st_dev, status.st_ino] = status.st_size
    return sum(found.values())


class Watch:
    """Looks again and again while a test runs; `most` is the largest number of bytes seen."""

    def __init__(self, stack):
        self.stack = stack
        self.most = 0
        self.looks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join(10)

    def _look(self):
        while not self._ended.is_set():
            self.most = max(self.most, spooled(self.stack))
            self.looks += 1
            time.sleep(0.02)
