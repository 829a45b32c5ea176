# SPDX-License-Identifier: MIT
"""A thousand texts that break logs: a list of what people use, and the rest grown from a seed, so that every run
has the same ones. They are bytes, since the worst of them are no UTF-8."""

import random

SEED, COUNT = 20261121, 1000
# A line of the log has at most this many bytes; the texts are on both sides of it.
LINE = 8192

LISTED = [
    # ends of lines, in every way somebody has called one
    b"\n", b"\r\n", b"\r", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xa9", b"a\nb", b"a\r\nSet-Cookie: x=1\r\n\r\nb",
    # a second line that looks like ours, and members that were not there
    b'"}\n{"time":"2026-01-01T00:00:00.000Z","level":"fatal","module":"http","pid":1,"message":"forged"}',
    b'","userId":"01890000-0000-7000-8000-000000000000","x":"', b'"}', b'"', b'""', b"\\", b'\\"', b"\\\\", b'\\u0000',
    b'\\u2028', b"\\n", b"{", b"}", b"[", b"]", b",", b":", b'{"level":"info"}', b"null", b"'", b"`",
    # what terminals and viewers obey
    b"\x1b[31mred\x1b[0m", b"\x1b[2J\x1b[H", b"\x1b]0;title\x07", b"\x1b]8;;http://x\x07y\x1b]8;;\x07", b"\x9b31m",
    b"\xc2\x9b31m", b"\x07", b"\x08\x08\x08", b"\x7f", b"\x0e\x0f", b"\x90\x9c", b"\x1bP+q\x1b\\",
    # directions, marks, what cannot be seen
    b"\xe2\x80\xaeevil", b"\xe2\x80\xad", b"\xe2\x81\xa6x\xe2\x81\xa9", b"\xe2\x80\x8b", b"\xef\xbb\xbf", b"\xc2\xa0",
    b"\xc2\xad", b"\xe2\x81\xa0", b"\xef\xbf\xb9\xef\xbf\xbb", b"\xf3\xa0\x81\x81", b"a\xcc\x81" * 200,
    # no UTF-8
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"\xe0\x80\x80", b"\xe2\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf",
    b"\xed\xa0\xbd\xed\xb8\x80", b"\xf0\x80\x80\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
    b"\xf8\x88",
    b"\xfe", b"\xff", b"\xff\xfe", b"caf\xe9", b"\xc3\x28", b"\xa0\xa1", b"\xe2\x28\xa1", b"\xf0\x28\x8c\x28", b'\xc3"',
    b"\xe2\x80\"}\n", b"\xf0\x9f\\",
    # characters at the ends of the ranges
    b"\xc2\x80", b"\xdf\xbf", b"\xe0\xa0\x80", b"\xef\xbf\xbd", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xf0\x90\x80\x80",
    b"\xf4\x8f\xbf\xbf", "漢字🦊".encode(), "ﷺ".encode() * 100,
    # what other readers run or fill in
    b"%s%s%s%n", b"%x%x%d", b"${jndi:ldap://x/y}", b"{{7*7}}", b"<script>alert(1)</script>", b"=cmd|'/c calc'!A0",
    b"$(reboot)", b"`reboot`", b"; DROP TABLE audit; --", b"../../../etc/passwd", b"%0d%0a%00", b"\t\t\t", b" ", b"",
    # long
    b"x" * 100, b"x" * (LINE - 1), b"x" * LINE, b"x" * (LINE + 1), b"x" * 20000, b'"' * 5000, b"\n" * 5000,
    b"\x01" * 2000,
    b"\xff" * 9000, "🦊".encode() * 3000, b"\\" * 4095, b"\xe2\x80\xa8" * 2730, b"x" * 8100 + b"\xe2\x80",
    b"\x1b" * 1365,
]
ATOMS = [
    b"\n", b"\r", b'"', b"\\", b"\x00", b"\x1b", b"\x7f", b"\x85", b"\xc2", b"\xe2\x80", b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\xf0\x9f", b"\xff", b"{", b"}", b",", b":", b"%n", b"a", b" ", b"\t", b"\xc2\x9b", b"\xe2\x80\xae", "é".encode(),
    "🦊".encode()
]


def texts():
    """The thousand."""
    choose = random.Random(SEED)
    found = [bytes([byte]) for byte in range(256)] + LISTED
    while len(found) < COUNT:
        kind = choose.randrange(4)
        if kind == 0:
            found.append(bytes(choose.randrange(256) for _ in range(choose.randrange(1, 60))))
        elif kind == 1:
            found.append(bytes(choose.randrange(32) for _ in range(choose.randrange(1, 40))))
        elif kind == 2:
            found.append(b"".join(choose.choice(ATOMS) for _ in range(choose.randrange(1, 30))))
        else:
            # Round the length of a line, so that the cut falls into the middle of something.
            found.append(choose.choice(ATOMS) * ((LINE - 400 + choose.randrange(500)) // 6))
    assert len(found) == COUNT
    return found
