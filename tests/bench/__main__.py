# SPDX-License-Identifier: MIT
"""tools/bench: measures the service on the quick-start stack, on the loopback address.

The way through the modules: suites/NAME says what is compared with what, stack starts everything, load drives one
target for one round, measure interleaves the targets and forms the ratios, report prints them and keeps the results,
page writes docs/benchmarks.md, plot draws.
"""

import argparse
import importlib
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import report
from stack import Stack, Trouble

TOP = pathlib.Path(__file__).resolve().parents[2]
SUITES = sorted(path.stem for path in (pathlib.Path(__file__).parent / "suites").glob("*.py"))
# What `all` stands for, in order: not the zeros that `quick` counts again, nor what needs programs to be fetched.
ALL = ("reads", "glewlwyd", "login", "files", "scale", "pool", "worker", "overload", "soak")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tools/bench", allow_abbrev=False,
        description="Measures the service against what it stands on and against its peers. Absolute times depend on "
                    "the machine and on what else it does; the result is the table of ratios within each round. "
                    "Everything that is compared runs in turn within each round.")
    parser.add_argument("suites", nargs="+", choices=["all", *SUITES], metavar="SUITE",
                        help=f"one of: {', '.join(SUITES)}; or all, which is: {', '.join(ALL)}")
    parser.add_argument("--rounds", type=int, help="how often each is measured")
    parser.add_argument("--seconds", type=int, help="how long one target is driven in a round")
    parser.add_argument("--state", metavar="DIR", help="a folder for the quick start that is kept (default: a new one)")
    parser.add_argument("--build-directory", metavar="DIR", default=str(TOP / ".build" / "bench"),
                        help="where the programs are built (default: .build/bench)")
    parser.add_argument("--configure-arguments", metavar="TEXT", default="", help="for ./configure")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md and its plots")
    parser.add_argument("--soak-minutes", type=float, metavar="N", default=10,
                        help="how long soak goes on (default: 10)")
    parser.add_argument("--rows", type=int, metavar="N", default=5_000_000,
                        help="scale: the sizes up to so many rows only (default: all, 5000000; they take minutes to "
                             "make)")
    parser.add_argument("--only", metavar="TEXT", help="only comparisons whose name holds the text")
    parser.add_argument("--any-load", action="store_true",
                        help="peers: keep rounds in which other programs were busy too; no result comes of it")
    parser.add_argument("--no-install", action="store_true", help="say which packages are missing, install none")
    options = parser.parse_args()
    options.command = " ".join(["tools/bench", *options.suites, *said(parser, options)])
    options.suites = list(dict.fromkeys(name for one in options.suites for name in (ALL if one == "all" else [one])))
    return options


# What the result depends on; the rest is about this machine.
TOLD = ("rounds", "seconds", "soak_minutes", "rows", "only", "any_load", "write")


def said(parser, options):
    """The options as they were given, those that are not what they are by themselves."""
    for name in TOLD:
        value = getattr(options, name)
        if value != parser.get_default(name):
            told = shlex.quote(str(value).removesuffix(".0"))
            yield f"--{name.replace('_', '-')}" + ("" if value is True else f" {told}")


def on_signal(number, _frame):
    """Whoever ends us has ended all that we have started, too: it would go on by itself."""
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    """Runs the suites one after the other; the exit status tells of errors, never of times."""
    options = read_options()
    for number in ENDING:
        signal.signal(number, on_signal)
    wholes, troubles = [], []
    with Stack(TOP, options) as stack:
        for name in options.suites:
            started = time.monotonic()
            try:
                result = importlib.import_module(f"suites.{name}").run(stack, options)
            except (Trouble, OSError, subprocess.SubprocessError) as trouble:  # the other suites may well run
                troubles.append(f"{name}: {trouble}")
                print(f"bench: {troubles[-1]}", file=sys.stderr, flush=True)
                continue
            report.show(name, result)
            wholes.append(report.keep(TOP, name, result, stack, options))
            print(f"  took {time.monotonic() - started:.0f} s", flush=True)
    if len(wholes) > 1:
        report.summarise(TOP, wholes, troubles, options)
    return 2 if troubles else 1 if any(whole["faults"] for whole in wholes) else 0


try:
    sys.exit(main())
except Trouble as trouble:
    print(f"bench: {trouble}", file=sys.stderr)
    sys.exit(2)
