# SPDX-License-Identifier: MIT
"""The test's side of preload/memory.c: which allocation of a worker is to fail, and what became of it."""

import contextlib
import mmap
import os
import signal
import struct

# As struct control in preload/memory.c.
MEMORY = struct.Struct("<4I")
# Our own last words without memory, and those of libfcgi, which holds an assertion against it.
WORDS = ("gatehouse: out of memory: ", "fcgiapp.c")


class Memory:
    """The file that a preloaded worker shares with us."""

    def __init__(self, folder, library):
        self.path = os.path.join(folder, "memory")
        with open(self.path, "wb") as file:
            file.write(bytes(MEMORY.size))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), MEMORY.size)
        self.environment = {"LD_PRELOAD": str(library), "TORTURE_MEMORY": self.path}

    def arm(self, nth=0):
        """Allocations are counted from here on, and the nth one fails."""
        self.map[:] = MEMORY.pack(1, nth, 0, 0)

    def disarm(self):
        """Nothing fails any more; (how many allocations there were, whether one has failed)."""
        _, _, count, fired = MEMORY.unpack(self.map[:])
        self.map[:] = bytes(MEMORY.size)
        return count, bool(fired)


def leaves(pool, answer):
    """Whether the worker ends: without an answer it must, with one it may still do so before it takes the next
    request."""
    process = pool.processes[0]
    if answer is None:
        process.wait(30)
    for _ in range(10):
        if process.poll() is not None:
            return True
        # Who waits in the queue of a worker that ends is not answered.
        with contextlib.suppress(OSError):
            last = pool.call("GET", "/system/health/live", timeout=2)
            if last.ended and last.status == 200:
                return process.poll() is not None
    raise AssertionError("the worker neither answers nor ends")


def revive(pool, said):
    """Starts a worker in place of the one that has ended; what is wrong with its end."""
    ended, last = pool.processes[0].returncode, pool.log.read_text(errors="replace")[said:]
    pool.kill()
    pool.start()
    in_order = ended == 0 or (ended == -signal.SIGABRT and any(words in last for words in WORDS))
    return None if in_order else f"the worker ended by {ended} with the words {last!r}"
