# SPDX-License-Identifier: MIT
"""The command line."""

import argparse
import os
import pathlib
import re

import providers

TOP = pathlib.Path(__file__).resolve().parents[3]


class Parser(argparse.ArgumentParser):
    """Wrong usage is one sentence, not a page."""

    def error(self, message):
        self.exit(2, f"quickstart: {message[:1].upper()}{message[1:]}. tools/quickstart --help tells more.\n")


def number(minimum, maximum):
    """An argparse type: a whole number within the bounds."""
    def read(text):
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text} is no whole number from {minimum} to {maximum}")
        return value
    return read


def setting(text):
    """An argparse type: SECTION.NAME=VALUE as ((section, name), value)."""
    found = re.fullmatch(r"(\w+)\.(\w+)=([^\r\n]*)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is not SECTION.NAME=VALUE")
    return (found[1], found[2]), found[3]


def read(arguments):
    """The options as a namespace; `state` is an absolute path."""
    parser = Parser(
        prog="tools/quickstart", allow_abbrev=False,
        description="Builds Gatehouse, then runs all of it until Ctrl-C: a private MariaDB, the workers, the job "
                    "runner and a web server, on the loopback address only. Everything lies in one folder; started "
                    "again, it finds its data.")
    parser.add_argument("--state", metavar="DIR", default=str(TOP / ".quickstart"),
                        help="the folder (default: .quickstart in the source folder)")
    parser.add_argument("--port", metavar="N", type=number(1, 65535), default=8080, help="the port (default: 8080)")
    parser.add_argument("--web-server", choices=("nginx", "apache", "apache-fcgid"), default="nginx",
                        help="the web server in front (default: nginx)")
    parser.add_argument("--provider", metavar="NAME", choices=("embedded", *providers.KNOWN), default="embedded",
                        help="the identity provider (default: embedded); cognito brings the emulator cognito-local "
                             "along, from the npm registry, keycloak its own server, from the Maven repository, on a "
                             "loopback port of their own")
    parser.add_argument("--cluster", action="store_true",
                        help="three hosts behind HAProxy, a Galera cluster of three databases, and an S3 store with "
                             "three addresses, each on a loopback address of its own")
    parser.add_argument("--store", choices=("directory", "s3", "ceph"),
                        help="where the bytes of files are (default: directory); s3 brings the store versitygw along, "
                             "built from the Go module proxy (needs Go), on a loopback port of its own; ceph a small "
                             "Ceph cluster of Debian's packages, which takes a minute and 1 GiB of memory")
    parser.add_argument("--workers", metavar="N", type=number(1, 256),
                        help="number of workers (default: twice the cores, at least 4; of each host of a cluster, 3); "
                             "those that hash passwords come on top, one a core")
    parser.add_argument("--uploads", choices=("buffered", "file", "unbuffered"),
                        help="how nginx hands the bodies of uploads on: spooled, then sent (all that Apache does); "
                             "spooled, as a file; as they come, to workers of their own (default: file)")
    parser.add_argument("--demo", action="store_true",
                        help="make an example customer with people, roles and forty files, so that there is something "
                             "to look at; later starts find it again")
    parser.add_argument("--background", action="store_true", help="return when the service is ready")
    parser.add_argument("--stop", action="store_true", help="end what was started with the same --state")
    parser.add_argument("--no-install", action="store_true", help="say which packages are missing, install none")
    # For tools/test and tools/bench: one build for several state folders, other compiler options, other settings.
    parser.add_argument("--build-directory", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--configure-arguments", metavar="TEXT", default="", help=argparse.SUPPRESS)
    either = parser.add_mutually_exclusive_group()
    for option in ("--build-only", "--no-build"):
        either.add_argument(option, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--emulator", metavar="NAME", choices=providers.EMULATORS, help=argparse.SUPPRESS)
    parser.add_argument("--set", metavar="SECTION.NAME=VALUE", dest="settings", type=setting, action="append",
                        default=[], help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    complete(chosen, parser)
    return chosen


def complete(chosen, parser):
    """Refuses options that do not go together, and fills in what follows from the others."""
    if not chosen.state:
        parser.error("argument --state: the folder has no name")
    chosen.uploads = chosen.uploads or ("file" if chosen.web_server == "nginx" else "buffered")
    if chosen.uploads != "buffered" and chosen.web_server != "nginx":
        parser.error("argument --uploads: only nginx hands uploads on in another way than buffered")
    if chosen.cluster and chosen.web_server != "nginx":
        parser.error("argument --cluster: the hosts of a cluster run nginx; leave out --web-server")
    if chosen.cluster and chosen.store == "directory":
        parser.error("argument --cluster: the hosts of a cluster share a store of kind s3 or ceph, no directory; "
                     "leave out --store")
    chosen.store = chosen.store or ("s3" if chosen.cluster else "directory")
    chosen.workers = chosen.workers or (3 if chosen.cluster else max(4, 2 * cores()))
    chosen.state = pathlib.Path(os.path.realpath(chosen.state))
    chosen.build_directory = pathlib.Path(os.path.realpath(chosen.build_directory or chosen.state))
    chosen.login_workers = cores()
    chosen.top = TOP


def cores():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
