# SPDX-License-Identifier: MIT
"""What nice(1) gives the programs of a job. Of a processor that both want, an ordinary program gets three times as much
as a spare one, and a prompt one nine times as much as an ordinary one. That holds within one session (autogroups,
sched(7)). A quick start in the background, which some tests use, has a session of its own: the kernel first shares the
processor between the sessions, and looks at nice only within each."""

import os

PROMPT = 0  # how soon it answers is tested
ORDINARY = 10
SPARE = 15


def lowered(priority):
    """The words before a command that is to have it. Whoever runs tools/test at a lower one keeps that."""
    return "nice", "-n", str(max(0, priority - os.getpriority(os.PRIO_PROCESS, 0)))
