# SPDX-License-Identifier: MIT
"""Interleaved rounds and the ratios within them."""

import dataclasses
import statistics


@dataclasses.dataclass
class Comparison:
    """`of` against `to`, at so many connections. The goal is a bound of the median of the rounds' ratios."""

    of: str
    to: str
    goal: float
    connections: int = 8


@dataclasses.dataclass
class Tail:
    """p99 against p50 of one target."""

    of: str
    goal: float
    connections: int = 64


def interleave(stack, targets, connections, rounds, seconds, say=print):
    """Drives every target once a round, at each number of connections, starting elsewhere each round.
    Returns {connections: {name: [one entry a round]}}."""
    measured = {number: {target.name: [] for target in targets} for number in connections}
    for target in targets:  # so that what is opened or prepared at first use is not measured
        target.drive(stack, max(connections), 1)
    for number in range(rounds):
        for count in connections:
            turn = number % len(targets)
            for target in targets[turn:] + targets[:turn]:
                measured[count][target.name].append(target.drive(stack, count, seconds))
        say(f"  round {number + 1} of {rounds}")
    return measured


def spread(values):
    """Median, minimum and maximum."""
    return {"median": statistics.median(values), "minimum": min(values), "maximum": max(values)}


def ratio(measured, comparison, value="rate"):
    """The spread of the ratios of the rounds."""
    rows = measured[comparison.connections]
    if isinstance(comparison, Tail):
        return spread([entry["latency"]["99"] / entry["latency"]["50"] for entry in rows[comparison.of]])
    return spread([of[value] / to[value] for of, to in zip(rows[comparison.of], rows[comparison.to])])


def describe(measured, comparisons):
    """The table of comparisons: what, against what, the goal, what was found, whether it holds."""
    table = []
    for comparison in comparisons:
        found = ratio(measured, comparison)
        tail = isinstance(comparison, Tail)
        table.append({
            "of": comparison.of, "to": "its p50, the p99 of" if tail else comparison.to,
            "connections": comparison.connections,
            "processor": None if tail else 1 / ratio(measured, comparison, "processor")["median"], "goal": comparison.goal, "least": not tail,
            **found, "holds": found["median"] <= comparison.goal if tail else found["median"] >= comparison.goal})
    return table


def faults(measured):
    """What must be zero: answers of 400 and above, and broken connections."""
    found = []
    for connections, rows in measured.items():
        for name, entries in rows.items():
            refused, broken = (sum(entry[key] for entry in entries) for key in ("refused", "broken"))
            if refused or broken:
                found.append(f"{name}, {connections} connections: {refused} refused, {broken} broken")
    return found
