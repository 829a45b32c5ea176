# SPDX-License-Identifier: MIT
"""The Debian packages that a start needs."""

import pathlib
import sys

import providers
from output import say
from problem import Problem

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import needs  # noqa: E402

GROUPS = {"nginx": ("nginx",), "apache": ("apache",), "apache-fcgid": ("apache", "fcgid")}


def require(chosen):
    """Installs what is missing, or says what is."""
    provider = providers.kind(chosen)
    groups = ("base", "build")
    if not chosen.build_only:
        groups += ("database", "workers", *GROUPS[chosen.web_server],
                   *(("cluster",) if chosen.cluster else ()), *(("ceph",) if chosen.store == "ceph" else ()),
                   *(provider.packages if provider else ()))
    try:
        needs.meet(groups, not chosen.no_install, say)
    except needs.Unmet as unmet:
        raise Problem(str(unmet)) from None
