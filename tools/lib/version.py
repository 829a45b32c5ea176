# SPDX-License-Identifier: MIT
"""The places that name the version of Gatehouse. configure.ac is the one that decides; the others repeat it."""

import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")
DECIDES = "configure.ac"
# What stands before and behind the version. CHANGELOG.md names a version that is to come in the first text below
# [Unreleased], and a released one in the newest heading.
PLACES = {
    DECIDES: r"(?m)(^AC_INIT\(\[gatehouse\], \[)([^]]*)(\])",
    "debian/changelog": r"(\Agatehouse \()(.*)(-\d+\) )",
    "CHANGELOG.md": r"(\A(?:(?!^## ).*\n)*(?:## \[Unreleased\]\n+What |## \[))([\w.]+)"
                    r"( will bring|\] - \d{4}-\d\d-\d\d$)",
    "clients/typescript/package.json": r'(?m)(^  "version": ")([^"]*)(")',
    "clients/python/pyproject.toml": r'(?m)(^version = ")([^"]*)(")',
}
# A release has no debian, and the clients are released by themselves.
OPTIONAL = ("debian/changelog", "clients/typescript/package.json", "clients/python/pyproject.toml")


def find(root, name):
    """The match of the version in a file of the tree: None where an optional file is not there."""
    path = root / name
    if name in OPTIONAL and not path.exists():
        return None
    found = re.search(PLACES[name], path.read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise ValueError(f"{name}: the version does not stand where it should")
    return found


def replace(root, name, version):
    """Writes another version into a file, where that names one."""
    found = find(root, name)
    if found:
        start, end = found.span(2)
        (root / name).write_text(found.string[:start] + version + found.string[end:], encoding="utf-8")
