# SPDX-License-Identifier: MIT
"""What a test runner reported, as numbers in a step."""

import re
import xml.etree.ElementTree

TAP = re.compile(r"^# (PASS|XFAIL|FAIL|XPASS|ERROR|SKIP): +(\d+)$", re.MULTILINE)

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


def one(step):
    """A program that reports nothing is one test."""
    step.passed, step.failed = (1, 0) if step.status == 0 else (0, 1)


def tap(step):
    """The totals that automake's TAP driver printed; after a failure the log has them twice."""
    found = {word: int(number) for word, number in TAP.findall(step.log.read_text(encoding="utf-8", errors="replace"))}
    step.passed = found.get("PASS", 0) + found.get("XFAIL", 0)
    step.failed = sum(found.get(word, 0) for word in ("FAIL", "XPASS", "ERROR"))
    step.skipped = found.get("SKIP", 0)
    fail_without_a_test(step)


def summary(step):
    """The totals at the end of another run of tools/test."""
    found = SUMMARY.findall(step.log.read_text(encoding="utf-8", errors="replace"))
    if found:
        step.passed, step.failed, step.skipped = map(int, found[-1])
    fail_without_a_test(step)


def junit(step, path):
    """What pytest wrote into its JUnit file."""
    try:
        suites = list(xml.etree.ElementTree.parse(path).getroot().iter("testsuite"))
    except (OSError, xml.etree.ElementTree.ParseError):
        step.failed, step.why = 1, step.why or "pytest left no report"
        return
    total = {name: sum(int(suite.get(name, 0)) for suite in suites)
             for name in ("tests", "failures", "errors", "skipped")}
    step.failed = total["failures"] + total["errors"]
    step.skipped = total["skipped"]
    step.passed = max(0, total["tests"] - step.failed - step.skipped)
    fail_without_a_test(step)


def fail_without_a_test(step):
    """A runner that ended badly without a failed test, or ran none, has failed all the same."""
    if step.status == 0 and not step.passed and not step.failed:
        step.why, step.status = "it ran no test at all", 1
    if step.status != 0 and not step.failed:
        step.failed = 1
