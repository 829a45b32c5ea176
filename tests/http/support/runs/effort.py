# SPDX-License-Identifier: MIT
"""How much a test that draws random cases does: a part of them in each run, all of them in tools/test full."""

import os

FULL = bool(os.environ.get("GATEHOUSE_TEST_FULL"))


def cases(usual, whole):
    """How many cases to draw."""
    return whole if FULL else usual
