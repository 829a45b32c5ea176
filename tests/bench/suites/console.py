# SPDX-License-Identifier: MIT
"""The console's first screen in a browser with an empty cache, on a line that takes 100 ms there and back. What the
line takes is most of it, so these few times are told as they are."""

import pathlib
import subprocess

import first_screen
import measure
from measure import Comparison

DRIVER = "playwright"
GOAL_SECONDS = 1
OLD = "HTTP/1.1"
LINE = "100 ms there and back, empty cache"


def fetch(folder):
    """The place of what drives the browser, at its pinned version."""
    tool = pathlib.Path(__file__).resolve().parents[3] / "tools" / "lib" / "emulators" / "fetch"
    subprocess.run([tool, DRIVER, folder], check=True)
    return folder / DRIVER


def why(best):
    """What keeps a screen from its goal."""
    return ("a browser opens six connections for HTTP/1.1, each of which begins with a way there and back, and sends "
            f"one request at a time over each; over HTTP/2 the same screen takes {best:.2f} s.")


def run(stack, _options):
    """The suite."""
    place = fetch(stack.build_directory / "emulators")
    rows, painted, medians = [], {}, {}
    for protocol, screen, found in first_screen.screens(stack.facts, place):
        row = Comparison(f"the whole of {screen} in the console, {protocol}", LINE, GOAL_SECONDS, 1, False)
        rows.append(measure.evaluate(row, [whole / 1000 for _, whole in found], unit="s"))
        medians[protocol, screen] = rows[-1]["median"]
        painted[f"ms until something of {screen} was painted, {protocol}"] = sorted(round(one) for one, _ in found)
    for row, (protocol, screen) in zip(rows, medians):
        if not row["holds"] and protocol == OLD:
            row["why"] = why(next(seconds for (other, of), seconds in medians.items() if of == screen and other != OLD))
    return {"title": "The console's first screen", "rounds": first_screen.ROUNDS, "seconds": 0, "measured": {},
            "comparisons": rows, "memory": painted, "faults": []}
