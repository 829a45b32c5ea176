# SPDX-License-Identifier: MIT
"""What is said to the person who started it, and what log files say."""

import sys


def say(text):
    """A line on the standard output; nobody may be there any more to read it."""
    try:
        print(text, flush=True)
    except OSError:
        pass


def complain(text):
    """A line on the standard error output."""
    try:
        print(f"quickstart: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass


def tail(path, lines=15):
    """The last lines of a log file, indented, for a message."""
    try:
        text = path.read_bytes()[-16384:].decode("utf-8", "replace")
    except OSError:
        return "    (no log)"
    return "\n".join("    " + line for line in text.splitlines()[-lines:]) or "    (the log is empty)"
