# SPDX-License-Identifier: MIT
"""The test's side of preload/memory.c: which allocation of a worker is to fail, and what became of it."""

import contextlib
import mmap
import os
import signal
import struct

from support.stack import wait_until

# As struct control in preload/memory.c: what is to fail, what is to be kept, and what the worker has.
MEMORY = struct.Struct("<4I")
KEPT = struct.Struct("<2I")
FOUND = struct.Struct("<4Iq")
SIZE = MEMORY.size + KEPT.size + FOUND.size
# Our own last words without memory, and those of libfcgi, which holds an assertion against it.
WORDS = ("gatehouse: out of memory: ", "fcgiapp.c")


class Memory:
    """The file that a preloaded worker shares with us."""

    def __init__(self, folder, library):
        self.path = os.path.join(folder, "memory")
        with open(self.path, "wb") as file:
            file.write(bytes(SIZE))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), SIZE)
        self.environment = {"LD_PRELOAD": str(library), "TORTURE_MEMORY": self.path}

    def arm(self, nth=0):
        """Allocations are counted from here on, and the nth one fails."""
        self.map[:MEMORY.size] = MEMORY.pack(1, nth, 0, 0)

    def disarm(self):
        """Nothing fails any more; (how many allocations there were, whether one has failed)."""
        _, _, count, fired = MEMORY.unpack(self.map[:MEMORY.size])
        self.map[:MEMORY.size] = bytes(MEMORY.size)
        return count, bool(fired)

    def keep(self, memory=0, descriptors=0):
        """The worker leaks: so many allocations are not freed, so many descriptors not closed."""
        self.map[MEMORY.size:MEMORY.size + KEPT.size] = KEPT.pack(memory, descriptors)

    def met_by_database(self):
        """Whether the last allocation that failed was one of libmariadb."""
        return bool(FOUND.unpack(self.map[MEMORY.size + KEPT.size:])[3])

    def held(self):
        """What the worker has when it waits for its next connection: (allocations, descriptors)."""

        def found():
            taken, seen, descriptors, _, live = FOUND.unpack(self.map[MEMORY.size + KEPT.size:])
            return (live, descriptors) if taken == seen else None

        return wait_until(found, 30, "the worker to wait for its next connection", pause=0.001)


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
