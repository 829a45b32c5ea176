# SPDX-License-Identifier: MIT
"""The commands of a guide, and what the guide says that they print.

One shell runs the commands of a guide from its top to its end. Its commands are the blocks ```sh. A block ```json or
```text right after one is what the commands print. Values that differ from run to run are compared like this:

  - an id stands for any id, and the same id stands for the same one everywhere in the guide;
  - a time stands for any time;
  - … stands for any text; "…": "…" in an object stands for more members, "…" in a list for more items."""

import json
import re
import subprocess

BLOCK = re.compile(r"^```(sh|json|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z"
SPECIAL = re.compile(f"({ID})|({TIME})|(…)")
MORE = "…"
MARK = "\x01"
ADDRESS = "http://127.0.0.1:8080"  # as the guides write it


class Step:
    """One block of commands and what it prints; `kind` is None where the guide does not say."""

    def __init__(self, commands):
        self.commands = commands
        self.kind = None
        self.said = None
        self.printed = None

    def __str__(self):
        return f"{self.commands}---- is said to print\n{self.said}\n---- printed\n{self.printed}"


def read(text):
    """The steps of a guide."""
    steps, end = [], None
    for found in BLOCK.finditer(text):
        if found[1] == "sh":
            steps.append(Step(found[2]))
        elif end is not None and not text[end:found.start()].strip():
            steps[-1].kind, steps[-1].said = found[1], found[2]
        end = found.end() if found[1] == "sh" else None
    return steps


def run(steps, folder, environment, address):
    """Runs all steps in one shell and notes what each has printed. Every command must succeed."""
    script = "set -eu -o pipefail\n" + "".join(f"printf '{MARK}'\n{step.commands}" for step in steps)
    done = subprocess.run(["/bin/bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    printed = done.stdout.replace("\r\n", "\n").replace(address, ADDRESS).split(MARK)[1:]
    for step, text in zip(steps, printed):
        step.printed = text
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}\n{steps[max(0, len(printed) - 1)]}"


class Comparison:
    """Says what is wrong in what a guide's commands have printed; one for each guide, since it knows the ids."""

    def __init__(self):
        self.ids = {}

    def faults(self, step):
        """A sentence for each difference."""
        if step.kind is None:
            return []
        if step.kind == "text":
            said, printed = step.said.strip().split("\n"), step.printed.strip().split("\n")
            return list(self.items(said, printed, "line"))
        said, printed = (list(documents(text)) for text in (step.said, step.printed))
        return list(self.items(said, printed, "document"))

    def items(self, said, printed, path):
        """Two lists, item by item."""
        more = bool(said) and said[-1] == MORE
        said = said[:-1] if more else said
        if len(printed) < len(said) or (len(printed) > len(said) and not more):
            yield f"{path}: {len(printed)} items where the guide has {len(said)}"
        for number, (one, other) in enumerate(zip(said, printed)):
            yield from self.value(one, other, f"{path}[{number}]")

    def members(self, said, printed, path):
        """Two objects."""
        more = MORE in said
        names = [name for name in said if name != MORE]
        if [name for name in printed if name in said] != names or (len(printed) > len(names) and not more):
            yield f"{path}: the members {list(printed)} where the guide has {list(said)}"
        for name in names:
            if name in printed:
                yield from self.value(said[name], printed[name], f"{path}.{name}")

    def value(self, said, printed, path):
        """Two values of any type."""
        if isinstance(said, str) and isinstance(printed, str):
            if not self.text(said, printed):
                yield f"{path}: {printed!r} where the guide has {said!r}"
        elif isinstance(said, dict) and isinstance(printed, dict):
            yield from self.members(said, printed, path)
        elif isinstance(said, list) and isinstance(printed, list):
            yield from self.items(said, printed, path)
        elif type(said) is not type(printed) or said != printed:
            yield f"{path}: {printed!r} where the guide has {said!r}"

    def text(self, said, printed):
        """Whether a text is what the guide says, but for what may differ."""
        parts = [(kind, part) for kind, part in pieces(said)]
        anything = {"id": f"({ID})", "time": TIME, "more": ".*"}
        pattern = "".join(anything.get(kind) or re.escape(part) for kind, part in parts)
        found = re.fullmatch(pattern, printed, re.DOTALL)
        if not found:
            return False
        pairs = zip((part for kind, part in parts if kind == "id"), found.groups())
        return all(self.ids.setdefault(one, other) == other for one, other in pairs)


def pieces(text):
    """The text in pieces: (kind, piece)."""
    at = 0
    for found in SPECIAL.finditer(text):
        yield "plain", text[at:found.start()]
        yield ("id" if found[1] else "time" if found[2] else "more"), found[0]
        at = found.end()
    yield "plain", text[at:]


def documents(text):
    """The JSON documents of a text, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value
