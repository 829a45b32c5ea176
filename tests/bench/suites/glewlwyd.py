# SPDX-License-Identifier: MIT
"""The authorised read against token introspection of Glewlwyd, on the same MariaDB server with as many processes."""

import pathlib

import measure
from load import Target
from measure import Comparison
from peers.glewlwyd import Glewlwyd
from peers.rounds import quiet
from suites.reads import READ, dashed

SCRIPT = pathlib.Path(__file__).parents[1] / "peers" / "requests.lua"
BEARER = "Glewlwyd, token introspection allowed by a token"
CLIENT = "Glewlwyd, token introspection allowed by the client's password"
CONNECTIONS, GOAL = 8, 12
ROUNDS, SECONDS = 7, 2
NOTES = """\
Glewlwyd is the package of Debian with the configuration that comes with it, logging included; only addresses and
paths are changed. It has a database of its own on the service's MariaDB server, over the same kind of socket. One
process of it has one connection to the database, however many requests it serves. So it runs as many processes as the
service has workers, behind the same nginx, over connections that stay open (those of the service do not). Its plugin
for OpenID Connect signs with RS256 and a key of 2048 bits, as the service does. The requests ask for the state of 16
users' access tokens in turn (the service: 64), in both ways that Glewlwyd allows: a client with its password, and a
bearer of another access token. Each token is checked before the first round: all are active, an invented one is not,
and an invented bearer is refused.
"""


def run(stack, options):
    """The suite."""
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    reads = stack.note("reads.txt", [f"/system/files/{dashed(file)}/info" for file in stack.files])
    driven = [Target(READ, stack.facts["baseUrl"], reads, stack.tokens("seen.txt", len(stack.readers)))]
    driven[0].look()
    with Glewlwyd(stack) as peer:
        driven += [Target(name, peer.address, peer.requests(how), script=SCRIPT)
                   for name, how in ((BEARER, "bearer"), (CLIENT, "client"))]
        measured, said = quiet(stack, driven, CONNECTIONS, rounds, seconds, any_load=True)
        peer.requests("client")  # its tokens are still what they were
    wanted = [Comparison(READ, name, GOAL, CONNECTIONS) for name in (BEARER, CLIENT)]
    return {"title": "Glewlwyd", "rounds": rounds, "seconds": seconds, "measured": measured,
            "comparisons": measure.describe(measured, wanted), "faults": measure.faults(measured),
            "notes": [NOTES, f"Load of others: {said}."]}
