# SPDX-License-Identifier: MIT
"""The Debian packages that the chosen kinds need; tools/lib/packages does the work."""

import platform
import subprocess

from problem import Problem

ALWAYS = ("base", "build", "unit")
GROUPS = {
    "checks": ("checks", ),
    "unit": ("database", ),
    "dist": ("database", ),
    "debian13": ("debian13", ),
    "quickstart": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "http": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "providers": ("database", "workers", "nginx", "http", "cognito-local", "moto", "keycloak"),
    "store": ("database", "workers", "nginx", "http"),
    "cluster": ("database", "workers", "nginx", "http", "cluster", "tus-clients"),
    "clients": ("database", "workers", "nginx", "http", "tus-clients", "api-clients"),
    "web": ("database", "workers", "nginx", "apache", "http", "web"),
    "torture": ("database", "workers", "nginx", "http", "torture"),
    "bench": ("database", "workers", "nginx", "http", "bench"),
    "package": ("debian13", "checks"),
    "fuzz": ("fuzz", ),
    "analyse": ("analyse", ),
}


def leave_out_debian13(chosen):
    """Where this machine cannot have a clean root, or is Debian 13 itself, that kind is left out, unless it was asked
    for."""
    able = subprocess.run([chosen.top / "tools" / "lib" / "debian13", "able"], stdout=subprocess.PIPE, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    release = platform.freedesktop_os_release()
    if able.returncode == 0 and (release.get("ID"), release.get("VERSION_ID")) != ("debian", "13"):
        return
    if "debian13" not in chosen.named:
        chosen.left_out["debian13"] = able.stdout.strip() or "This machine is Debian 13 itself."
    elif able.returncode != 0:
        raise Problem(able.stdout.strip())


def require(chosen):
    """Installs what is missing, or says what is."""
    tool = str(chosen.top / "tools" / "lib" / "packages")
    if "debian13" in chosen.kinds:
        leave_out_debian13(chosen)
    groups = sorted({*ALWAYS, *(group for kind in chosen.kinds if kind not in chosen.left_out
                     for group in GROUPS.get(kind, ()))})
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
