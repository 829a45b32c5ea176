# SPDX-License-Identifier: MIT
"""The Debian packages that a tool needs; tools/lib/packages does the work."""

import os
import pathlib
import subprocess

TOOL = str(pathlib.Path(__file__).resolve().parent / "packages")


class Unmet(Exception):
    """They are not there; the text is the whole message."""


def missing(groups):
    """The names of the packages of the groups that are not installed."""
    done = subprocess.run([TOOL, "missing", *groups], stdout=subprocess.PIPE, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Unmet("The installed packages could not be listed; is this a Debian machine?")
    return done.stdout.split()


def meet(groups, install, say):
    """Installs what is missing, or says what is; `say` prints a line."""
    names = missing(groups)
    if not names:
        return
    if not install:
        noun = "These packages are" if len(names) > 1 else "This package is"
        raise Unmet(f"{noun} missing: {', '.join(names)}. Install with apt-get install {' '.join(names)}, or leave "
                    "out --no-install.")
    say(f"Installing packages: {' '.join(names)}")
    keyboard = None if os.isatty(0) else subprocess.DEVNULL  # sudo may ask for a password
    if subprocess.run([TOOL, "install", *names], check=False, stdin=keyboard).returncode != 0:
        raise Unmet("The packages could not be installed; the lines above say why.")
