# SPDX-License-Identifier: MIT
"""The test's side of preload/faults.c: which call of a worker is to fail, and what became of it."""

import mmap
import os
import struct

# In the order of enum operation in preload/faults.c.
OPERATIONS = ("openat", "write", "fsync", "close", "fchmod", "mkdirat", "linkat", "utimensat", "unlinkat", "fstat",
              "fstatat", "read", "pread")
HEAD = struct.Struct("<6I")
SIZE = HEAD.size + 4 * len(OPERATIONS)


class Faults:
    """The file that a preloaded worker shares with us."""

    def __init__(self, folder, library, watched):
        self.path = os.path.join(folder, "control")
        with open(self.path, "wb") as file:
            file.write(bytes(SIZE))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), SIZE)
        preload = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), str(library))))
        self.environment = {
            "LD_PRELOAD": preload, "TORTURE_CONTROL": self.path, "TORTURE_FOLDER": str(watched),
            "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"
        }

    def arm(self, operation=None, nth=0, number=0, lie=False):
        """The nth call of the kind fails with this errno, or moves half of its bytes (errno 0); clears the counts."""
        self.map[:] = bytes(SIZE)
        index = OPERATIONS.index(operation) if operation else 0
        self.map[:HEAD.size] = HEAD.pack(index, nth, number, int(lie), 0, 0)

    def fired(self):
        """Whether the call has failed."""
        return HEAD.unpack(self.map[:HEAD.size])[4] != 0

    def asked_again(self):
        """fsync() calls on a file whose fsync() had failed."""
        return HEAD.unpack(self.map[:HEAD.size])[5]

    def counts(self):
        """Calls of each kind since arm()."""
        return dict(zip(OPERATIONS, struct.unpack(f"<{len(OPERATIONS)}I", self.map[HEAD.size:])))
