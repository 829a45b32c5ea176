# SPDX-License-Identifier: MIT
"""The files that the checks read: what a clone holds, and in which language each is."""

import os
import pathlib
import re
import subprocess

LANGUAGES = {".c": "c", ".h": "c", ".def": "c", ".py": "python", ".sh": "shell", ".js": "javascript",
             ".ts": "javascript", ".postinst": "shell", ".postrm": "shell", ".prerm": "shell"}
# What tools/generate-clients writes: no check of ours looks at it.
GENERATED = re.compile(r"clients/[^/]+/src/(?:.+/)?generated/")
# Folders that a build, a quick start or a tool makes, where there is no git to ask.
MADE = {".build", ".quickstart", "build-aux", "autom4te.cache", "m4", "node_modules", "__pycache__", ".pytest_cache"}
# And what autotools leave at the top, in a release as well.
MADE_AT_TOP = re.compile(r"configure~?|aclocal\.m4|config\..*|Makefile(\.in)?|libtool|stamp-h1")


def names(root):
    """Every file below the root that a person has written, sorted: those that git knows or would add; in an unpacked
    archive all that was not made."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        return sorted({name for name in listed if name and not GENERATED.match(name) and (root / name).is_file()})
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [str((pathlib.Path(folder) / name).relative_to(root)) for name in files]
    return sorted(name for name in found if not MADE_AT_TOP.fullmatch(name) and not GENERATED.match(name))


def language(path):
    """"c", "python", "shell", "javascript" or None; that of a program without an ending stands in its first line. A
    template (NAME.in) is in the language of what configure makes of it."""
    ending = path.with_suffix("").suffix if path.suffix == ".in" else path.suffix
    if ending:
        return LANGUAGES.get(ending)
    try:
        with path.open("rb") as file:
            first = file.readline(80)
    except FileNotFoundError:  # the passing file of a program that runs beside the checks
        return None
    if not first.startswith(b"#!"):
        return None
    return "python" if b"python" in first else "shell" if first.rstrip().endswith((b"sh", b"sh -e",
                                                                                   b"sh -eu")) else None


def files(root, *wanted):
    """(name, language) of every file in a language that is known, or in one of those wanted."""
    for name in names(root):
        kind = language(root / name)
        if kind and (not wanted or kind in wanted):
            yield name, kind
