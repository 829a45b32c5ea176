# SPDX-License-Identifier: MIT
"""Health and authorised reads, against what the same machine can do at all and against peers."""

import statistics

import measure
from load import Target
from measure import Comparison, Tail
from stack import dashed

HEALTH = "health"
NULL = "null responder"
# What is compared with the authorised read is asked just as it is, path and token: what the web server and libfcgi do
# with those is no work of the service's.
ASKED = "null responder, the read's request"
ROUND_TRIP = "null responder + one bare round trip of the same SQL"
READ = "authorised file information"
FRESH = "authorised file information, RS256 token not seen before"
SCRIPT = "PHP-FPM script, persistent mysqli, same join, no token"


def of_statement(other, connections):
    """Why a read is not faster: what the same statement takes alone."""

    def why(measured):
        share = measure.rate(measured, ROUND_TRIP, connections) / measure.rate(measured, other, connections)
        return f"{ROUND_TRIP}, which does none of our work, reaches {share:.2f}."

    return why


def of_work(of, other, what):
    """Why `of` is slower than `other`: what it takes more of a processor, at 8 connections."""

    def why(measured):
        took = [statistics.median(entry["processor"] for entry in measured[8][name]) for name in (of, other)]
        return f"{what} takes {took[0] - took[1]:.0f} µs of processor more than the {took[1]:.0f} µs of the other."

    return why


COMPARISONS = [
    Comparison(HEALTH, NULL, 0.95),
    Comparison(READ, ASKED, 0.45, why=of_statement(ASKED, 8)),
    Comparison(READ, ROUND_TRIP, 0.95, why=of_work(READ, ROUND_TRIP, "To know the token, to decide and to write the "
                                                   "answer")),
    Comparison(FRESH, READ, 0.80, why=of_work(FRESH, READ, "To verify a signature and to remember the token")),
    Comparison(READ, SCRIPT, 2, why=of_statement(SCRIPT, 8)),
    Comparison(READ, ASKED, 0.45, 64, why=of_statement(ASKED, 64)),
    Comparison(READ, ROUND_TRIP, 0.95, 64),
    Tail(READ, 3, 64),
]

ROUNDS, SECONDS = 7, 1
# More than a round of the fastest machine we know can ask for, and so many that a token met again has been forgotten.
FRESH_TOKENS = 20000


def targets(stack, tokens):
    """Everything that is driven."""
    base = stack.facts["baseUrl"]
    reads = stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files])
    seen = stack.tokens("seen.txt", len(stack.readers))
    together = [(*stack.readers[number % len(stack.readers)], file) for number, file in enumerate(stack.files)]
    database = stack.facts["database"]
    null = stack.pool("null", "null")
    health = stack.note("health.txt", ["/system/health/live"])
    found = [
        Target(NULL, null, health),
        Target(ASKED, null, reads, seen),
        Target(HEALTH, base, health),
        Target(ROUND_TRIP, stack.pool("roundtrip", "roundtrip", database["socket"], database["user"], database["name"],
                                      stack.note("ids.txt", [" ".join(ids) for ids in together])), reads, seen),
        Target(READ, base, reads, seen),
    ]
    if tokens:
        found.append(Target(FRESH, base, reads, stack.tokens("fresh.txt", tokens), fresh=True))
    script = stack.php("php", "joined.php")
    if script:
        found.append(Target(SCRIPT, script, stack.note("php.txt", ["/" + "/".join(ids) for ids in together])))
    for target in found:
        target.look()
    return found


def comparable(wanted, there):
    """Those comparisons of which both sides are there."""
    return [one for one in wanted if one.of in there and getattr(one, "to", one.of) in there]


def run(stack, options):
    """The suite."""
    wanted = [one for one in COMPARISONS if not options.only or options.only in one.of]
    print("Making tokens", flush=True)
    driven = targets(stack, FRESH_TOKENS if any(one.of == FRESH for one in wanted) else 0)
    wanted = comparable(wanted, {target.name for target in driven})
    named = {name for one in wanted for name in (one.of, getattr(one, "to", None))}
    driven = [target for target in driven if target.name in named]
    connections = sorted({one.connections for one in wanted})
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    measured = measure.interleave(stack, driven, connections, rounds, seconds)
    return {"title": "Reads", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, wanted), "faults": measure.faults(measured)}
