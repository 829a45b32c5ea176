# SPDX-License-Identifier: MIT
"""Whether two kinds of requests take the same time, told on a machine that does other things as well.

They are asked in turn, so that whatever slows the machine down slows both down alike. Their medians may differ by two
milliseconds where the machine is at rest. Where it is not, all that a request does takes longer, that difference too: once the
median of each kind exceeds its own fastest tenth by half, the bound grows by that factor, which a difference between the two
leaves as it is. Noise may spoil a round, so there are many, and the more there were the less there is in all of them together; what is
really slower is so in each."""

import os
import statistics

import pytest

BOUND_SECONDS = 0.002
AT_REST = 1.5
ROUNDS = 20


def stretch(seconds):
    """By how much others have slowed down what took so long; 1 on a machine at rest."""
    found = statistics.median(seconds) / sorted(seconds)[len(seconds) // 10]
    return found if found > AT_REST else 1


def take_as_long(measure):
    """measure() answers the seconds of a round's requests, one list a kind."""
    seen, together = [], ([], [])
    for _ in range(ROUNDS):
        this = tuple(measure())
        for one, all_of_it in zip(this, together):
            all_of_it.extend(one)
        for first, second in (this, together):
            difference = statistics.median(first) - statistics.median(second)
            bound = BOUND_SECONDS * min(stretch(first), stretch(second))
            if abs(difference) <= bound:
                return
        seen.append(f"{1000 * difference:.2f} ms (bound {1000 * bound:.2f})")
    pytest.fail(f"medians differ by {', '.join(seen)}, load {os.getloadavg()[0]:.1f}")
