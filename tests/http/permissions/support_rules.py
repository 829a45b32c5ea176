# SPDX-License-Identifier: MIT
"""The rules of docs/permissions.md as a reference model of a few lines, to compare the service
with."""

import re

WORD = r"(?:[a-z][a-z0-9-]*|\*)"
PATTERN = re.compile(rf"({WORD}):({WORD}):([arw])\Z")
GENERAL = re.compile(r"([rwx]{1,3}):\*\Z")
IMPLIED = {"a": "arw", "w": "rw", "r": "r"}


def grants(pattern, required):
    """Whether one pattern of a user grants one concrete permission."""
    module, area, letter = required.split(":")
    general = GENERAL.match(pattern)
    if general and len(set(general[1])) == len(general[1]):
        return any(letter in IMPLIED.get(one, "") for one in general[1])
    found = PATTERN.match(pattern)
    return bool(found) and found[1] in ("*", module) and found[2] in ("*",
                                                                      area) and letter in IMPLIED[found[3]]


def allowed(patterns, required):
    """Whether a set of patterns grants it."""
    return any(grants(pattern, required) for pattern in patterns)
