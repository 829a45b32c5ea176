# SPDX-License-Identifier: MIT
"""Whether two kinds of requests take the same time, told on a machine that does other things as well.

They are asked in turn, so that whatever slows the machine down slows both down alike. Their medians may differ by two
milliseconds where the machine is at rest. Where it is not, all that a request does takes longer, that difference too:
once the median of each kind exceeds its own fastest tenth by half, the bound grows by that factor, which a difference
between the two leaves as it is. Noise may spoil a round, so there are many, and the more there were the less there is
in all of them together; what is really slower is so in each.

A difference far below a millisecond shows in the ranks of many requests: see not_told_apart()."""

import math
import os
import random
import statistics
import time

import pytest

BOUND_SECONDS = 0.002
AT_REST = 1.5
ROUNDS = 20


def by_chance(count, *kinds):
    """The seconds of so many requests of each kind, one list a kind; a kind is what asks once. Which comes first is
    left to chance, and so is whether one that is not timed comes before: workers take turns, and an order that repeats
    would give each kind workers of its own."""
    times = [[] for _ in kinds]
    for _ in range(count):
        for which in random.sample(range(len(kinds)), len(kinds)):
            if random.getrandbits(1):
                random.choice(kinds)()
            started = time.perf_counter()
            kinds[which]()
            times[which].append(time.perf_counter() - started)
    return times


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


# ---- ranks ----------------------------------------------------------------------------------------------

Z_BOUND = 2
Z_PAIRS = (400, 800, 1600)


def _ranks(values):
    """The rank of each value from 1, equal ones sharing the mean of theirs; and how many are equal, group by group."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, groups, start = [0.0] * len(values), [], 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        groups.append(end - start)
        start = end
    return ranks, groups


def mann_whitney_z(first, second):
    """How far the ranks of the first lie from what chance gives, in standard deviations (Mann and Whitney's U by its
    normal approximation, corrected for ties): below 0 when the first are smaller."""
    ranks, groups = _ranks(list(first) + list(second))
    total, pairs = len(ranks), len(first) * len(second)
    u = sum(ranks[:len(first)]) - len(first) * (len(first) + 1) / 2
    ties = sum(size**3 - size for size in groups) / (total * (total - 1))
    deviation = math.sqrt(pairs / 12 * (total + 1 - ties))
    return (u - pairs / 2) / deviation if deviation else 0.0


def not_told_apart(measure):
    """The ranks of the two kinds' seconds do not tell them apart; measure(pairs) answers the seconds of a round.

    A sequential test, whose rounds were chosen beforehand. A round whose |z| is below 2 ends it: the kinds are alike.
    After any other one twice as many pairs are measured afresh. The kinds differ where |z| is 2 or more in all three
    rounds, of 400, 800 and 1600 pairs, and the same kind is the slower one each time.

    Its errors: kinds that are alike fail with a probability of 2 * 0.0228^3 = 0.000024, so seven cases fail in one run
    of 6,000. No time is compared with a bound, so a busy machine does not change that. Of kinds that differ, it finds
    what exceeds the noise. On a machine at rest requests of 1.6 ms (nine of ten within 2.2 ms) that differed by 0.03 ms
    had z of 2.4 to 3.2 with 400 pairs; z grows with the difference and with the root of the pairs. So 0.1 ms gives 8,
    11 and 16 and is found with a probability of more than 0.999999, 0.05 ms of 0.98, 0.03 ms of 0.7. Where the times
    spread ten times as wide, 0.1 ms is as hard to find as 0.01 ms is at rest. The test of equal work
    (tests/unit/service/account/test_equal_work.c) does not depend on the machine.

    All but the figures for 0.03 ms is worked out, not measured. To measure it, give a machine nothing else to do
    for half an hour. Ask for two names that nobody has, 100 rounds of 400 pairs, and keep the seconds. Then add d
    to the seconds of one of the two and count in how many rounds |z| is 2 or more, for d of 0, 0.01, 0.03, 0.05
    and 0.1 ms: so the noise is the machine's and the difference is known. At 0 there should be some 5 of 100, at
    0.1 ms all. Repeat it with 800 and 1600 pairs where they are not. Write the load, the median and the fastest
    and slowest tenth beside the figures."""
    seen = []
    for pairs in Z_PAIRS:
        first, second = measure(pairs)
        seen.append(mann_whitney_z(first, second))
        if abs(seen[-1]) < Z_BOUND or seen[-1] * seen[0] < 0:
            return
    pytest.fail(f"z of {Z_PAIRS} pairs: {', '.join(f'{z:.1f}' for z in seen)}, load {os.getloadavg()[0]:.1f}")
