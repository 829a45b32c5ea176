# SPDX-License-Identifier: MIT
"""The Debian packages that a start needs; tools/lib/packages does the work."""

import os
import subprocess
import sys

import providers
from output import say
from problem import Problem

GROUPS = {"nginx": ("nginx",), "apache": ("apache",), "apache-fcgid": ("apache", "fcgid")}


def require(chosen):
    """Installs what is missing, or says what is."""
    tool = str(chosen.top / "tools" / "lib" / "packages")
    provider = providers.kind(chosen)
    groups = ("base", "build")
    if not chosen.build_only:
        groups += ("database", "workers", *GROUPS[chosen.web_server],
                   *(("cluster",) if chosen.cluster else ()), *(("ceph",) if chosen.store == "ceph" else ()),
                   *(provider.packages if provider else ()))
    missing = subprocess.run([tool, "missing", *groups], stdout=subprocess.PIPE, text=True, check=False,
                             stdin=subprocess.DEVNULL)
    if missing.returncode != 0:
        raise Problem("The installed packages could not be listed; is this a Debian machine?")
    names = missing.stdout.split()
    if not names:
        return
    if chosen.no_install:
        noun = "These packages are" if len(names) > 1 else "This package is"
        raise Problem(f"{noun} missing: {', '.join(names)}. Install with apt-get install {' '.join(names)}, or leave "
                      "out --no-install.")
    say(f"Installing packages: {' '.join(names)}")
    sys.stdout.flush()
    keyboard = None if os.isatty(0) else subprocess.DEVNULL  # sudo may ask for a password
    if subprocess.run([tool, "install", *names], check=False, stdin=keyboard).returncode != 0:
        raise Problem("The packages could not be installed; the lines above say why.")
