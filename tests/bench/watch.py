# SPDX-License-Identifier: MIT
"""The memory of the workers while something goes on."""

import threading

from stack import private_kib


class Watch(threading.Thread):
    """The highest private memory, in KiB, of any worker while it runs."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack = stack
        self.peak = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.is_set():
            roots = [self.stack.facts["pids"]["workers"], *(child.pid for child in self.stack.children)]
            for pid in {pid for root in roots for pid in self.stack.worker_pids(root)}:
                self.peak = max(self.peak, private_kib(pid))
            self.done.wait(0.02)

    def end(self):
        """Stops; returns the peak."""
        self.done.set()
        self.join()
        return self.peak
