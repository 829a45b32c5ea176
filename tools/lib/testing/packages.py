# SPDX-License-Identifier: MIT
"""The Debian packages that the chosen kinds need; tools/lib/packages does the work."""

import platform
import subprocess

from problem import Problem

ALWAYS = ("base", "build", "unit")
ROOTED = ("debian13", "package")
GROUPS = {
    "checks": ("checks", ),
    "unit": ("database", ),
    "dist": ("database", ),
    "debian13": ("debian13", ),
    "quickstart": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "http": ("database", "workers", "nginx", "apache", "fcgid", "http"),
    "providers": ("database", "workers", "nginx", "http", "cognito-local", "moto", "keycloak"),
    "store": ("database", "workers", "nginx", "http"),
    "ceph": ("database", "workers", "nginx", "http", "ceph"),
    "cluster": ("database", "workers", "nginx", "http", "cluster", "tus-clients"),
    "clients": ("database", "workers", "nginx", "http", "tus-clients", "api-clients"),
    "web": ("database", "workers", "nginx", "apache", "http", "web"),
    "torture": ("database", "workers", "nginx", "http", "torture"),
    "bench": ("database", "workers", "nginx", "http", "bench"),
    "sanitized": ("database", "workers", "nginx", "apache", "fcgid", "http", "torture"),
    "package": ("debian13", "package"),
    "fuzz": ("fuzz", ),
    "analyse": ("analyse", ),
}


def leave_out(chosen):
    """Where this machine cannot have a clean root, or is Debian 13 itself, the kinds that need one are left out, unless
    they were asked for."""
    able = subprocess.run([chosen.top / "tools" / "lib" / "debian13", "able"], stdout=subprocess.PIPE, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    release = platform.freedesktop_os_release()
    reasons = {}
    if able.returncode != 0:
        reasons = {kind: able.stdout.strip() for kind in ROOTED if kind in chosen.kinds}
    elif "debian13" in chosen.kinds and (release.get("ID"), release.get("VERSION_ID")) == ("debian", "13"):
        reasons = {"debian13": "This machine is Debian 13 itself."}
    for kind, why in reasons.items():
        if kind not in chosen.named:
            chosen.left_out[kind] = why
        elif able.returncode != 0:
            raise Problem(why)


def require(chosen):
    """Installs what is missing, or says what is."""
    tool = str(chosen.top / "tools" / "lib" / "packages")
    if any(kind in chosen.kinds for kind in ROOTED):
        leave_out(chosen)
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
