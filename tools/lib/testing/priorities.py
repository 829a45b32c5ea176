# SPDX-License-Identifier: MIT
"""What nice(1) gives the programs of a job. Of a processor that both want, a program gets three times as much as one of
the next row, and nine tenths beside an ordinary one if it is prompt."""

import os

PROMPT = 0  # how soon it answers is tested
ORDINARY = 10
SPARE = 15


def lowered(priority):
    """The words before a command that is to have it. Whoever runs tools/test at a lower one keeps that."""
    return "nice", "-n", str(max(0, priority - os.getpriority(os.PRIO_PROCESS, 0)))
