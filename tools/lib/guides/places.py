# SPDX-License-Identifier: MIT
"""Which page each document becomes. Documents keep their places below docs/; those outside come into a folder of their
own, in which the path is the name."""

import pathlib
import re

MANUAL = re.compile(r"\.[1-8]$")


def is_page(path):
    """Whether a document becomes a page; all else that a guide leads to is copied."""
    return path.suffix == ".md" or bool(MANUAL.search(path.name))


def place(path):
    """The place in the rendered book, below its top, of a path below the top of the sources."""
    inside = path.parts[0] == "docs"
    if inside:
        made = pathlib.PurePosixPath(*path.parts[1:])
    else:
        made = pathlib.PurePosixPath("project", "-".join(path.parts).lower())
    if not is_page(path):
        return made if made.suffix else made.with_name(f"file-{made.name}.txt")
    if inside and made.name == "README.md":
        return made.with_name("index.html")
    return made.with_name(re.sub(r"\.md$", "", made.name) + ".html")
