# SPDX-License-Identifier: MIT
"""The Debian packages that the chosen kinds need; tools/lib/packages does the work."""

import subprocess
import sys

from problem import Problem

ALWAYS = ("base", "build", "unit")
GROUPS = {
    "unit": ("database", ),
    "dist": ("database", ),
    "debian13": ("debian13", ),
    "quickstart": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "http": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "providers": ("database", "workers", "nginx", "http", "cognito-local", "moto", "keycloak"),
    "torture": ("database", "workers", "nginx", "http", "torture"),
    "bench": ("database", "workers", "nginx", "http", "bench"),
}


def require(chosen):
    """Installs what is missing, or says what is."""
    tool = str(chosen.top / "tools" / "lib" / "packages")
    groups = sorted({*ALWAYS, *(group for kind in chosen.kinds for group in GROUPS.get(kind, ()))})
    missing = subprocess.run([tool, "missing", *groups], stdout=subprocess.PIPE, text=True, check=False,
                             stdin=subprocess.DEVNULL)
    if missing.returncode != 0:
        raise Problem("The installed packages could not be listed; is this a Debian machine?")
    names = missing.stdout.split()
    if not names:
        return
    if chosen.no_install:
        raise Problem(f"These packages are missing: {' '.join(names)}. Install with apt-get install {' '.join(names)}, "
                      "or leave out --no-install.")
    print(f"Installing packages: {' '.join(names)}", flush=True)
    if subprocess.run([tool, "install", *names], check=False, stdin=subprocess.DEVNULL).returncode != 0:
        raise Problem("The packages could not be installed; the lines above say why.")
