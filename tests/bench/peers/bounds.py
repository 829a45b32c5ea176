# SPDX-License-Identifier: MIT
"""What no service can go below on the machine: an answer without work, a static file, the digest of an upload. Said of
where a goal against a peer is not reached."""

import hashlib
import pathlib
import statistics
import time

import measure
from load import Target
from peers.client import raw
from suites.files import static

NOTHING = "a responder that does nothing"
STATIC = "a static file of 10 MiB"
SCRIPT = pathlib.Path(__file__).with_name("requests.lua")
DIGESTS = 20


def nothing(stack):
    """Behind the service's own site."""
    address = stack.pool("null", "null")
    return Target(NOTHING, address, stack.note("nothing.txt", [raw(address, "GET", "/system/health/live", {})]),
                  script=SCRIPT)


def plain(stack, place):
    """The bytes that were uploaded, from the web server alone. `place`: the path at which the service has them."""
    address, name = static(stack), place.rpartition("/")[2].replace("-", "")
    return Target(STATIC, address, stack.note("static.txt", [raw(address, "GET", f"/{name[-2:]}/{name}", {})]),
                  script=SCRIPT)


def digest_milliseconds(data):
    """The processor time of one SHA-256 of the bytes: the median."""
    times = []
    for _ in range(DIGESTS):
        before = time.process_time()
        hashlib.sha256(data).digest()
        times.append(1000 * (time.process_time() - before))
    return statistics.median(times)


def of_read(peer, goal, connections):
    """Why a read is not so many times as fast."""

    def why(measured):
        return (f"{goal:g} times its rate are {goal * measure.rate(measured, peer, connections):,.0f} a second; "
                f"{NOTHING}, behind the same web server, gives {measure.rate(measured, NOTHING, connections):,.0f}.")

    return why


def of_upload(ours, peer, data, connections):
    """Why an upload takes as long as it does."""

    def why(measured):
        mine, its = (measure.work(measured, name, connections) / 1000 for name in (ours, peer))
        client = statistics.median(entry["generator"] for entry in measured[connections][ours])
        return (f"of our {mine:.1f} ms of processor time ({its:.1f} ms), SHA-256 of the bytes takes "
                f"{digest_milliseconds(data):.1f} ms and the client {client * mine:.1f} ms; only we make a digest and "
                "wait for the disk.")

    return why


def of_download(ours, peer, connections):
    """Why a download takes as long as it does."""

    def why(measured):
        mine, its, least = (measure.work(measured, name, connections) / 1000 for name in (ours, peer, STATIC))
        return (f"our download takes {mine:.1f} ms of processor time ({its:.1f} ms), client included; {STATIC} from "
                f"the web server alone takes {least:.1f} ms, which would be {least / its:.2f}.")

    return why
