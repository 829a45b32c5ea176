# SPDX-License-Identifier: MIT
"""The Debian packages that the chosen kinds need."""

import pathlib
import platform
import subprocess
import sys

from problem import Problem

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import needs  # noqa: E402

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
    "sanitizers": ("database", "workers", "nginx", "apache", "fcgid", "http", "torture"),
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
    if any(kind in chosen.kinds for kind in ROOTED):
        leave_out(chosen)
    groups = sorted({*ALWAYS, *(group for kind in chosen.kinds if kind not in chosen.left_out
                     for group in GROUPS.get(kind, ()))})
    try:
        needs.meet(groups, not chosen.no_install, lambda line: print(line, flush=True))
    except needs.Unmet as unmet:
        raise Problem(str(unmet)) from None
