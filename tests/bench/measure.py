# SPDX-License-Identifier: MIT
"""Interleaved rounds, the ratios within them, and the rows of the table of goals."""

import dataclasses
import statistics

# As told and drawn: like an HDR histogram, a step further into the tail each.
PERCENTS = ("1", "5", "10", "25", "50", "75", "90", "95", "99", "99.9", "99.99")


@dataclasses.dataclass
class Comparison:
    """`of` against `to`, at so many connections: the ratio of their rates, or, where `least` is false, how many times
    as long `of` takes. The goal is a bound, from below or above, of the median of the rounds' ratios. `why`: makes of
    what was measured a sentence that says what keeps `of` from the goal."""

    of: str
    to: str
    goal: float
    connections: int = 8
    least: bool = True
    why: object = None


@dataclasses.dataclass
class Work(Comparison):
    """The processor time of `of` for a request against that of `to`: the goal is a bound from above."""

    least: bool = False


@dataclasses.dataclass
class Tail:
    """p99 against p50 of one target."""

    of: str
    goal: float
    connections: int = 64
    least: bool = False


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
        say(f"  round {number + 1} of {rounds}", flush=True)
    return measured


def percentile(ordered, percent):
    """The value below which so many of the ascending values lie: the nearest rank, never between two values."""
    return ordered[max(0, -(-len(ordered) * round(float(percent) * 100) // 10000) - 1)]


def latencies(seconds):
    """{percent: microseconds} of single times."""
    ordered = sorted(seconds)
    return {percent: 1e6 * percentile(ordered, percent) for percent in PERCENTS}


def entry(times, busy, taken=None, share=1):
    """One round's result from single times in seconds; `taken`: the seconds all took together, where they overlapped;
    `share`: how many units (mebibytes, say) one of them is."""
    return {"rate": share * len(times) / (taken or sum(times)), "processor": busy * 1e6 / len(times) / share,
            "latency": latencies(times), "requests": len(times), "refused": 0, "broken": 0}


def spread(values):
    """Median, minimum and maximum."""
    return {"median": statistics.median(values), "minimum": min(values), "maximum": max(values)}


def ratios(measured, comparison, value="rate"):
    """The ratio of each round."""
    rows = measured[comparison.connections]
    if isinstance(comparison, Work):
        return [of["processor"] / to["processor"] for of, to in zip(rows[comparison.of], rows[comparison.to])]
    if isinstance(comparison, Tail):
        return [entry["latency"]["99"] / entry["latency"]["50"] for entry in rows[comparison.of]]
    up = (comparison.of, comparison.to) if comparison.least else (comparison.to, comparison.of)
    return [of[value] / to[value] for of, to in zip(rows[up[0]], rows[up[1]])]


def evaluate(comparison, values, processor=None, unit=""):
    """A row of the table of goals: what, against what, the goal, what was found, whether it is reached."""
    found = spread(values)
    reached = found["median"] >= comparison.goal if comparison.least else found["median"] <= comparison.goal
    return {"of": comparison.of, "to": getattr(comparison, "to", "its p50, the p99 of"),
            "connections": comparison.connections, "goal": comparison.goal, "least": comparison.least, "unit": unit,
            "processor": processor, **found, "holds": reached}


def describe(measured, comparisons):
    """The rows of comparisons."""
    table = []
    for comparison in comparisons:
        busy, unit = None, ""
        if isinstance(comparison, Work):
            unit = "of its work"
        elif isinstance(comparison, Comparison):
            busy = 1 / spread(ratios(measured, comparison, "processor"))["median"]
        row = evaluate(comparison, ratios(measured, comparison), busy, unit)
        table.append({**row, "why": None if row["holds"] else reason(measured, comparison)})
    return table


def reason(measured, comparison):
    """Why the goal is not reached; None where what the sentence tells was not measured (--only)."""
    why = getattr(comparison, "why", None)
    try:
        return why and why(measured)
    except KeyError:
        return None


def rate(measured, name, connections):
    """The median of a target's rates, for sentences."""
    return statistics.median(entry["rate"] for entry in measured[connections][name])


def work(measured, name, connections):
    """The median of a target's processor time a request, in microseconds, for sentences."""
    return statistics.median(entry["processor"] for entry in measured[connections][name])


def faults(measured):
    """What must be zero: answers of 400 and above, and broken connections."""
    found = []
    for connections, rows in measured.items():
        for name, entries in rows.items():
            refused, broken = (sum(entry[key] for entry in entries) for key in ("refused", "broken"))
            if refused or broken:
                found.append(f"{name}, {connections} connections: {refused} refused, {broken} broken")
    return found
