# SPDX-License-Identifier: MIT
"""Where an emulator of an identity provider does not do what the provider does: tests/providers/deviations.json.

A listed case is run like the others, and must fail in the way that the list says. One that passes is a fault: the list
would not be true any more. What cannot be run at all ("run": false) is reported as skipped, with the reason."""

import json
import pathlib
import re

import pytest

PATH = pathlib.Path(__file__).resolve().parents[3] / "providers" / "deviations.json"


def listed(emulator):
    """{test: entry} of an emulator; nothing for the embedded provider."""
    return json.loads(PATH.read_text(encoding="utf-8")).get(emulator, {})


def skip_what_cannot_run(items, emulator):
    """Marks the cases that would stop the others."""
    for item in items:
        entry = listed(emulator).get(item.nodeid)
        if entry and not entry.get("run", True):
            item.add_marker(pytest.mark.skip(reason=f"{emulator}: {entry['reason']} See {entry['covered']}."))


def compare(item, call, report, emulator):
    """Turns the report of a listed case round."""
    entry = listed(emulator).get(item.nodeid)
    if entry is None or report.skipped or report.when == "teardown":
        return
    if report.failed and re.search(entry["fails"], str(call.excinfo.value), re.DOTALL):
        report.outcome, report.wasxfail = "skipped", f"{emulator}: {entry['reason']}"
    elif report.passed and report.when == "call":
        report.outcome = "failed"
        report.longrepr = (f"{item.nodeid} passes with {emulator}, though {PATH.name} says that it does not: "
                           "take it out there and in README.md.")
