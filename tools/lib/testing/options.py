# SPDX-License-Identifier: MIT
"""The command line."""

import argparse
import os
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[3]
SERVERS = ("nginx", "apache", "apache-fcgid")
KINDS = {
    "checks": "the rules of the sources: floors, documented settings, sizes",
    "unit": "make check, compiler warnings being errors",
    "http": "the whole stack over HTTP: every case behind nginx, and what depends on the web server behind Apache, too",
    "quickstart": "tools/quickstart itself: what it starts, restarts, refuses and leaves",
    "providers": "the account cases with each identity provider that can be had, fetched once from the registries of "
                 "packages",
    "store": "the cases of files with an S3 store, versitygw, which is built once with Go from the module proxy",
    "ceph": "a real Ceph, three storage daemons and two gateways of Debian's packages: the cases of files with it, and "
            "what happens when its daemons die; only when named",
    "cluster": "three hosts, three nodes of Galera, HAProxy and a store of several addresses, and what happens when "
               "one of them dies",
    "clients": "the clients in clients/, the OpenAPI document with Spectral, Redocly and Schemathesis (300 s for each "
               "of three people in a full run), and resumable uploads with tus-js-client, Uppy and tuspy; what they "
               "need is fetched once from the registries of packages",
    "web": "the pages for people in Debian's Chromium; pictures of each screen are kept in .build/test/pictures",
    "torture": "faults of memory, disk and network on purpose",
    "dist": "make distcheck",
    "debian13": "checks and unit in a clean root of Debian 13; everything in a full run; only root can, who may mount",
    "bench": "tools/bench quick: no errors and no growth under load, whatever the times",
    "sanitizers": "unit, http and torture once more, on builds with AddressSanitizer and UndefinedBehaviorSanitizer: "
                  "no report; only when named",
    "package": "the Debian packages, built and tried in clean roots of Debian 12 and Debian 13, the commands of the "
               "guides there, and the images for containers of Debian 12, in a full run of Debian 13 as well; only "
               "root can, who may mount; only when named",
    "fuzz": "each parser of bytes from outside under libFuzzer, a minute each, ten in a full run; only when named",
    "analyse": "the sources with gcc -fanalyzer, clang-tidy and cppcheck, and each SQL text: when named or in a full "
               "run every file, ten minutes the first time, then only what has changed; else the files that were "
               "changed last",
}
ONLY_NAMED = ("ceph", "fuzz", "package", "sanitizers")
EPILOG = """kinds:
{}
  full         every kind, every case behind every web server, the unit tests in distcheck once more

Without a kind all of them run, but for those that run only when named. Logs are kept in .build/test/log."""


def read(arguments):
    """The options as a namespace."""
    lines = "\n".join(f"  {name:<12} {text}" for name, text in KINDS.items())
    parser = argparse.ArgumentParser(
        prog="tools/test", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="tools/test [KIND...] [OPTION...] [-- PYTEST ARGUMENT...]", epilog=EPILOG.format(lines),
        description="Builds Gatehouse and runs its tests, or only the named kinds.")
    parser.add_argument("kinds", metavar="KIND", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--web-server", choices=SERVERS, help="http behind this one only, with every case")
    parser.add_argument("--sanitizers", action="store_true",
                        help="build with AddressSanitizer and UndefinedBehaviorSanitizer")
    parser.add_argument("--folder", metavar="DIR", type=pathlib.Path, default=TOP / ".build" / "test",
                        help="where it builds and keeps its logs (default: .build/test)")
    parser.add_argument("--lanes", metavar="N", type=int, default=default_lanes(),
                        help="how many jobs run side by side (default: twice the cores and two)")
    parser.add_argument("--no-install", action="store_true", help="say which packages are missing, install none")
    own, pytest = split(arguments)
    chosen = parser.parse_args(own)
    chosen.full = "full" in chosen.kinds
    kinds = [kind for kind in chosen.kinds if kind != "full"]
    for kind in kinds:
        if kind not in KINDS:
            parser.error(f"there is no kind of tests called {kind}; tools/test --help names them")
    if not 1 <= chosen.lanes <= 64:
        parser.error("argument --lanes: a number from 1 to 64")
    chosen.kinds = [kind for kind in KINDS if kind in kinds or not kinds and (chosen.full or kind not in ONLY_NAMED)]
    chosen.named = kinds
    chosen.left_out = {}
    chosen.pytest = pytest
    chosen.top = TOP
    chosen.out = chosen.folder.resolve()
    chosen.configure = "--enable-werror" + (" --enable-sanitizers" if chosen.sanitizers else "")
    return chosen


def split(arguments):
    """What stands before and after --."""
    if "--" not in arguments:
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1:]


def default_lanes():
    """Most cases wait for something most of the time, so two cores serve four jobs, and two more that mostly wait."""
    return 2 * len(os.sched_getaffinity(0)) + 2
