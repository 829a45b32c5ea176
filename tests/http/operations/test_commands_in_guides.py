# SPDX-License-Identifier: MIT
"""What the guides write of gatehousectl: commands and options that exist, and none without what it needs."""

import re

import pytest

from api.test_replies import ROOT
from operations.test_commands import commands, run

GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"(?ms)^ *```\w*\n(.*?)^ *```$")
INLINE = re.compile(r"`(gatehousectl [^`]*)`")
CALL = re.compile(r"(?:^|[\s\"(/;])gatehousectl ([a-z][^\n#|&;)\"`]*)")


def in_text(text):
    """The commands inside sentences; they may name a part only."""
    return [" ".join(found.split())[len("gatehousectl "):] for found in INLINE.findall(BLOCK.sub("", text))]


def in_blocks(text):
    """The commands that a reader runs."""
    joined = (block.replace("\\\n", " ") for block in BLOCK.findall(text))
    return [call for block in joined for call in CALL.findall(block)]


@pytest.fixture(name="known", scope="module")
def fixture_known(stack):
    """{command: (all options, those that it needs)} as the program itself says it."""
    found = {}
    for name in commands(run(stack, "--help").stdout):
        said = run(stack, *name.split(), "--help").stdout
        usage = re.sub(r"\[[^]]*\]", "", said.splitlines()[0])
        found[name] = (set(re.findall(r"(?m)^  (--[a-z-]+)", said)), set(re.findall(r"--[a-z-]+", usage)))
    assert "--older-than" in found["purge"][1] and not found["fsck"][1]
    return found


def options_of(call):
    return set(re.findall(r"(?<!\S)--[a-z-]+", call))


def command_of(known, call):
    """The longest command that the words begin with; a group such as `user` stands for its commands."""
    names = [name for name in known if f"{call} ".startswith(f"{name} ")]
    return max(names, key=len, default=None)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_commands_and_options_of_a_guide_exist(known, guide):
    text = guide.read_text(encoding="utf-8")
    groups = {name.split()[0] for name in known if " " in name}
    for call in in_text(text) + in_blocks(text):
        name = command_of(known, call)
        assert name is not None or call.split()[0] in groups and len(call.split()) == 1, f"{guide.name}: {call}"
        assert options_of(call) <= (known[name][0] if name else set()) | {"--help"}, f"{guide.name}: {call}"
    for call in in_blocks(text):
        name = command_of(known, call)
        assert name is not None and known[name][1] <= options_of(call), f"{guide.name}: {call}"


def test_the_commands_of_the_guides_are_found():
    found = [call for guide in GUIDES for call in in_blocks(guide.read_text(encoding="utf-8"))]
    assert len(found) > 40 and "purge --older-than 90" in [call.strip() for call in found]
