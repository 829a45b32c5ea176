# SPDX-License-Identifier: MIT
"""The test's side of support_memory.c: which allocation of a worker is to fail, and what became of it."""

import mmap
import os
import struct

# As struct control in support_memory.c.
MEMORY = struct.Struct("<4I")


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
