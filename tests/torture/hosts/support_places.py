# SPDX-License-Identifier: MIT
"""The test's side of preload/places.c: at which place of a command a call is to fail, and which places there are."""

import errno
import mmap
import os
import random
import signal
import struct

from support.runs.effort import FULL

# In the order of enum kind in preload/places.c, with the ways in which a call of the kind fails: errno, or 0 where half
# of the bytes move. 1 and 0 of a statement: refused by the server, lost on its way.
KINDS = {
    "open": (errno.EACCES, errno.ENOSPC, errno.EMFILE, errno.EIO),
    "fopen": (errno.EACCES, errno.EMFILE, errno.EIO),
    "fdopen": (errno.ENOMEM, ),
    "opendir": (errno.EACCES, errno.EMFILE, errno.EIO),
    "readdir": (errno.EIO, ),
    "read": (errno.EIO, errno.EINTR, 0),
    "pread": (errno.EIO, errno.EINTR, 0),
    "getline": (errno.EIO, ),
    "fgets": (errno.EIO, ),
    "fread": (errno.EIO, ),
    "write": (errno.ENOSPC, errno.EINTR, 0, errno.EIO, errno.EDQUOT),
    "fwrite": (errno.ENOSPC, errno.EIO),
    "fflush": (errno.ENOSPC, errno.EIO),
    "fclose": (errno.ENOSPC, errno.EIO),
    "close": (errno.EIO, errno.EINTR, errno.ENOSPC),
    "fsync": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "syncfs": (errno.EIO, errno.ENOSPC),
    "stat": (errno.EACCES, errno.EIO),
    "fchmod": (errno.EPERM, errno.EIO),
    "fchown": (errno.EPERM, errno.EIO),
    "rename": (errno.EACCES, errno.ENOSPC, errno.EIO),
    "link": (errno.EMLINK, errno.EXDEV, errno.EEXIST, errno.ENOSPC, errno.EIO),
    "unlink": (errno.EACCES, errno.EIO),
    "mkdir": (errno.EACCES, errno.ENOSPC, errno.EIO),
    "connect": (1, ),
    "query": (1, 0),
}
# The command is asked to end, or is killed.
SIGNALS = (-signal.SIGTERM, -signal.SIGKILL)
FRAMES, PLACES = 40, 4096
PLACE = struct.Struct(f"<II{FRAMES}Q")
TAIL = struct.Struct("<iIII")
COUNTED = PLACE.size + TAIL.size
SIZE = COUNTED + PLACES * PLACE.size
# The places of a command that are tried in an ordinary run; tools/coverage wants each.
MOST = 3
WORDS = ("cut short or lost", "refused")
EVERY = FULL or bool(os.environ.get("GATEHOUSE_EVERY_PLACE"))
WAYS = None if FULL else 1


class Places:
    """The file that a command shares with us; calls on files below `watched` count."""

    def __init__(self, folder, library, watched):
        self.path = os.path.join(folder, "places")
        with open(self.path, "wb") as file:
            file.truncate(SIZE)
        os.chmod(self.path, 0o666)
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), SIZE)
        self.environment = {
            "LD_PRELOAD": " ".join(filter(None, (os.environ.get("LD_PRELOAD"), str(library)))),
            "PLACES_CONTROL": self.path, "PLACES_FOLDER": str(watched),
            "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"
        }
        self.failed = set()

    def arm(self, place=None, number=0):
        """The next call at that place fails in this way; places are noted from here on."""
        count = TAIL.unpack_from(self.map, PLACE.size)[3]
        self.map[COUNTED:COUNTED + count * PLACE.size] = bytes(count * PLACE.size)
        self.map[:PLACE.size] = place or bytes(PLACE.size)
        TAIL.pack_into(self.map, PLACE.size, number, int(place is not None), 0, 0)

    def fired(self):
        """Whether the call has failed."""
        return TAIL.unpack_from(self.map, PLACE.size)[2] != 0

    def seen(self):
        """The places noted since arm()."""
        count = TAIL.unpack_from(self.map, PLACE.size)[3]
        assert count < PLACES, "there are more places than the library has room for"
        return [bytes(self.map[at:at + PLACE.size])
                for at in range(COUNTED, COUNTED + count * PLACE.size, PLACE.size)]

    def draw(self, places):
        """(place, way to fail): a few, the same of each run, others in a full one; or, where each place is wanted,
        those that pass through code in which nothing has failed yet."""
        chance = random.Random() if EVERY else random.Random(1)
        places = sorted(places)
        chance.shuffle(places)
        if not EVERY:
            yield from ((place, chance.choice(KINDS[kind_of(place)] + SIGNALS)) for place in places[:MOST])
            return
        for place in sorted(places, key=depth_of, reverse=True):
            if not parts_of(place) <= self.failed:
                yield from ((place, number) for number in KINDS[kind_of(place)][:WAYS] + SIGNALS[:WAYS])

    def learn(self, place, ended):
        """The call has failed, and so has everything that it was made for where the command has ended with an error."""
        self.failed |= parts_of(place) if ended else innermost_of(place)


def kind_of(place):
    return list(KINDS)[PLACE.unpack(place)[0]]


def depth_of(place):
    return PLACE.unpack(place)[1]


def frames_of(place):
    _, depth, *frames = PLACE.unpack(place)
    return frames[:depth]


def innermost_of(place):
    """The call itself."""
    return {(kind_of(place), frames_of(place)[0])}


def parts_of(place):
    """The call, and where each function in between was called."""
    return innermost_of(place) | set(frames_of(place)[1:])


def told(place, number):
    """How a failure is named in an assertion; addr2line says where in the program the addresses are."""
    what = f"signal {-number}" if number < 0 else os.strerror(number) if number > 1 else WORDS[number]
    return f"{kind_of(place)} {what} at {' '.join(f'{frame:x}' for frame in frames_of(place)[:6])}"
