# SPDX-License-Identifier: MIT
"""tools/bench: measures the service on the quick-start stack, on the loopback address.

The way through the modules: suites/NAME says what is compared with what, stack starts everything, load drives one target
for one round, measure interleaves the targets and forms the ratios, report prints them and keeps the results, plot draws.
"""

import argparse
import importlib
import pathlib
import sys

import report
from stack import Stack, Trouble

TOP = pathlib.Path(__file__).resolve().parents[2]
SUITES = sorted(path.stem for path in (pathlib.Path(__file__).parent / "suites").glob("*.py"))


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tools/bench", allow_abbrev=False,
        description="Measures the service against what it stands on and against its peers. Absolute times depend on the "
                    "machine and on what else it does; the result is the table of ratios within each round. Everything "
                    "that is compared runs in turn within each round.")
    parser.add_argument("suites", nargs="+", choices=SUITES, metavar="SUITE", help="one of: " + ", ".join(SUITES))
    parser.add_argument("--rounds", type=int, help="how often each is measured")
    parser.add_argument("--seconds", type=int, help="how long one target is driven in a round")
    parser.add_argument("--state", metavar="DIR", help="a folder for the quick start that is kept (default: a new one)")
    parser.add_argument("--build-directory", metavar="DIR", default=str(TOP / ".build" / "bench"),
                        help="where the programs are built (default: .build/bench)")
    parser.add_argument("--configure-arguments", metavar="TEXT", default="", help="for ./configure")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md and its plots")
    parser.add_argument("--only", metavar="TEXT", help="only comparisons whose name holds the text")
    parser.add_argument("--any-load", action="store_true",
                        help="peers, glewlwyd: keep rounds in which other programs were busy too; no result comes of it")
    parser.add_argument("--no-install", action="store_true", help="say which packages are missing, install none")
    return parser.parse_args()


def main():
    """Runs the suites one after the other; the exit status tells of errors, never of times."""
    options = read_options()
    failed = False
    with Stack(TOP, options) as stack:
        for name in options.suites:
            result = importlib.import_module(f"suites.{name}").run(stack, options)
            report.show(name, result)
            report.keep(TOP, name, result, stack, options)
            failed = failed or bool(result["faults"])
    return 1 if failed else 0


try:
    sys.exit(main())
except Trouble as trouble:
    print(f"bench: {trouble}", file=sys.stderr)
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)
