# SPDX-License-Identifier: MIT
"""Results in words and round numbers, as the terminal and the page tell them."""

import statistics


def goal(row):
    """The goal of a row."""
    return f"{'≥' if row['least'] else '≤'} {row['goal']:.3g}{row['unit'] and ' ' + row['unit']}"


def found(row):
    """What was found: the median, from the minimum to the maximum."""
    return f"{row['median']:.2f} [{row['minimum']:.2f}..{row['maximum']:.2f}]"


def middle(entries, value):
    """The median over the rounds."""
    return statistics.median(value(entry) for entry in entries)


def latency(entries, percent):
    """The median of a percentile over the rounds, in milliseconds."""
    return middle(entries, lambda one: one["latency"][percent] / 1000)
