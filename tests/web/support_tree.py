# SPDX-License-Identifier: MIT
"""Compares what a screen reader is told of a page, the tree of roles and names, with the one that is kept in trees/.

While a drawer or a question is open, the tree is of that alone. What differs from run to run (numbers, dates, ids,
addresses, the names of the test's organisations) is the same word in each tree. Of the rows of a table only the kind of
the first is kept: what is in each cell, and that it has a name.

A tree that has changed on purpose is written anew with GATEHOUSE_TREES=write; read the difference before you keep it.
"""

import difflib
import os
import pathlib
import re
import time

from playwright.sync_api import expect

from support_visit import PATIENCE_MS

FOLDER = pathlib.Path(__file__).resolve().parent / "trees"
# What moves, and the word for it, in this order.
MOVING = [(re.compile(pattern), word) for pattern, word in (
    (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "ADDRESS"),
    (r"https?://[\w.:\[\]/-]+", "ADDRESS"),
    (r"\bTest [0-9a-f]{8} \d+ Ltd\b|\bMade for [\w.+-]+", "ORGANISATION"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|…[\w@-]{4,}|\b[0-9a-f]{16,}\b"
     r"|(?<=mention this: )[\w@-]+", "ID"),
    (r"\b\d{1,2}\.? [A-Z][a-zä]{2,3}\.? \d{4}(?:, \d\d:\d\d(?::\d\d)?)?|\b\d{1,2}\.\d{1,2}\.\d{4}(?:, [\d:]+)?"
     r"|\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r"\b(?:this minute|yesterday|tomorrow|in \d+ (?:minute|hour|day|month|year)s?|\d+ (?:minute|hour|day|month|year)s?"
     r" ago|(?:in|vor) \d+ [A-Z]\w+|gestern|morgen|in dieser Minute)(?!\w)|(?<=time: )(?:now|jetzt)$", "WHEN"),
    (r"\b\d\d:\d\d(?::\d\d)?\b", "TIME"),
    (r"(?<![\w=#])\d[\d.,]*(?!\w)", "N"),
    # A thousand has a comma, and so no quotes; what was not measured yet is a dash.
    (r'(?<=: )"N"$', "N"),
    (r'(?<=now )–(?=")|(?<=text: )–$', "N ms"),
    (r"\bN (?:bytes?|[kMGT]B)\b", "SIZE"),
    (r"\bN (?:entry|entries)\b", "N entries"),
    (r"\bN (?:person|people)\b", "N people"),
    (r"\bN (?:seconds?|minutes?)\b", "N minutes"),
)]
PART = re.compile(r"""( *- )'?([a-z]+)( ".*")?""")
# In a row: links lead elsewhere in each, and what was never used has no time yet.
LEFT_OUT = re.compile(r" *- (?:/url|time)\b")


def neutral(line):
    """A line without what moves."""
    for pattern, word in MOVING:
        line = pattern.sub(word, line)
    return line


def depth(line):
    return len(line) - len(line.lstrip(" "))


def kind(line):
    """Of a line in a row: its role, and that it has a name."""
    indent, role, name = PART.match(line).groups()
    return f"{indent}{role}{' NAME' if name and role not in ('row', 'cell') else ''}"


def blocks(lines):
    """Lines with what is below each."""
    place = 0
    while place < len(lines):
        end = place + 1
        while end < len(lines) and depth(lines[end]) > depth(lines[place]):
            end += 1
        yield lines[place], lines[place + 1:end]
        place = end


def without_repetition(lines):
    """The same with the kind of the first row of a table instead of its rows, and equal neighbours once."""
    kept, rows = [], 0
    for line, below in blocks(lines):
        if re.match(" *- '?row\\b", line) and not any("columnheader" in one for one in below):
            rows += 1
            line, below = kind(line), [kind(one) for one in below if not LEFT_OUT.match(one)]
        if rows > 1:
            continue
        block = [line, *without_repetition(below)]
        if kept[-len(block):] != block:
            kept += block
    return kept


def tree(page):
    """The tree of a page as text, once it waits for nothing: the pages outside of the console get their head last."""
    expect(page.locator("#console, header").first).to_be_attached()
    expect(page.locator(".waiting")).to_have_count(0)
    dialogs = page.locator("dialog[open]")
    told = (dialogs.last if dialogs.count() else page.locator("body")).aria_snapshot().splitlines()
    return "\n".join(without_repetition([neutral(line) for line in told])) + "\n"


def difference(page, name):
    """How the page differs from the tree of that name, as text; empty where it does not. What the page still asks the
    service for, such as the links of a file, has some time to come."""
    path, found = FOLDER / f"{name}.yaml", tree(page)
    if os.environ.get("GATEHOUSE_TREES") == "write":
        path.write_text(found, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while found != kept and time.monotonic() < deadline:
        page.wait_for_timeout(100)
        found = tree(page)
    return "\n".join(difflib.unified_diff(kept.splitlines(), found.splitlines(), path.name, "the page", "", "", 2, ""))
