# SPDX-License-Identifier: MIT
"""Where the tests write: databases, files and logs of the stacks lie in memory where there is room.

MariaDB waits for the disk at every commit and in every change of a table. On a disk that several jobs share, these
waits are most of the time that a stack takes to start. A file system in memory does not wait. What tests the disk
itself (the unit tests, torture, the root of Debian 13) and everything in a full run lies in /tmp.
"""

import os
import tempfile

MEMORY = "/dev/shm"
ROOM = 8 << 30


def on_disk():
    """A new folder in /tmp, which goes at the end of the with statement."""
    return folder("/tmp")


def quick(chosen):
    """A new folder in memory, or in /tmp where there is too little room for it; in a full run in /tmp."""
    return folder("/tmp" if chosen.full or not memory_serves() else MEMORY)


def folder(where):
    """A new folder, removed at the end. The path is short, for the sockets' sake."""
    return tempfile.TemporaryDirectory(prefix="gatehouse-test.", dir=where, ignore_cleanup_errors=True)


def memory_serves():
    """Whether /dev/shm and the memory behind it have room, and programs may be run from there."""
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return False
    if found.f_flag & os.ST_NOEXEC or not os.access(MEMORY, os.W_OK):
        return False
    return min(found.f_bavail * found.f_frsize, memory_available()) >= ROOM


def memory_available():
    """The bytes of memory that programs may still have, as the kernel estimates them."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)
