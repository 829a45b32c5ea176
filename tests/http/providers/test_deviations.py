# SPDX-License-Identifier: MIT
"""tests/providers: the list of deviations names cases that exist, and README.md says the same to people. That each
listed case still fails is seen where it is run (support/deviations.py)."""

import json
import pathlib
import re

import pytest

from support.runs.deviations import PATH

HERE = pathlib.Path(__file__).resolve().parents[1]
LISTS = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("emulator", list(LISTS))
def test_every_entry_names_a_case_and_says_why_and_where_else(emulator):
    for name, entry in LISTS[emulator].items():
        file, case = re.fullmatch(r"([\w/]+\.py)::(\w+)(?:\[.*\])?", name).groups()
        assert f"\ndef {case}(" in (HERE / file).read_text(encoding="utf-8"), name
        assert entry["reason"].endswith(".") and entry["covered"], name
        assert entry.get("run", True) == ("fails" in entry), f"{name}: a case that is run fails in a known way"


def rows(emulator):
    """The README's rows of an emulator: [(case, reason, covered)]."""
    text = (PATH.parent / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(emulator)}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"README.md has no section {emulator}"
    return re.findall(r"^\| `(.*?)` \| (.*?) \| (.*?) \|$", section[1], re.MULTILINE)


@pytest.mark.parametrize("emulator", list(LISTS))
def test_the_table_for_people_says_the_same(emulator):
    expected = [(name, entry["reason"], entry["covered"]) for name, entry in LISTS[emulator].items()]
    assert rows(emulator) == expected
