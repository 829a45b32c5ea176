# SPDX-License-Identifier: MIT
"""The failed tests in a log, each with what its assertion said: the end of a long log often shows neither."""

import collections
import re

LINES_MAX = 600
LINES_OF_ONE = 60
LINES_BEFORE = 15


class Form:
    """How a runner reports a failed test: the first line of a report, the lines that belong to it, and those that may
    stand between them. Any other line ends the report."""

    def __init__(self, head, said, between, before=False):
        self.head, self.said, self.between = (re.compile(pattern) for pattern in (head, said, between))
        self.before = before  # the test's own log lines stand before its result


NEVER = r"(?!)"
FORMS = (
    # TAP by cmocka, as it is or with the lines of automake's driver.
    Form(r"not ok ", r"# (?!not ok|ok|[A-Z]+: )", r"FAIL: ", before=True),
    # A section of pytest: the case, the values, the places; sources and output stand in between.
    Form(r"_{3,} .+ _{3,}$", r"E( |$)|\S+:\d+: \w", r"(?!(=|-){3,} .+ (=|-){3,}$)"),
    # A program of tests that ended too early, as automake's driver says it.
    Form(r"ERROR: \S+ - \S", NEVER, NEVER, before=True),
)
PASSED = re.compile(r"ok |PASS: |SKIP: |FAIL: |1\.\.|# ")


def read(path):
    """The failures in a log, as text; empty when it names none."""
    return "\n".join(find(path.read_text(encoding="utf-8", errors="replace").splitlines()))


def find(lines):
    """The lines that tell of failed tests; a failure that the log holds twice is told once."""
    found = [line for report in dict.fromkeys(tuple(report) for report in reports(lines)) for line in report]
    if len(found) > LINES_MAX:
        return found[:LINES_MAX] + [f"... and {len(found) - LINES_MAX} lines more, which are in the log"]
    return found


def goes_on(form, line):
    """Whether the line belongs to a report that has begun."""
    return bool(form.said.match(line) or form.between.match(line))


def reports(lines):
    """The lines of each report in turn."""
    form, report, before = None, [], collections.deque(maxlen=LINES_BEFORE)
    for line in lines:
        begun = next((other for other in FORMS if other.head.match(line)), None)
        if form and (begun or not goes_on(form, line)):
            yield report
            form = None
        if begun:
            form, report = begun, [*(before if begun.before else ()), line]
        elif form and form.said.match(line) and len(report) < LINES_OF_ONE:
            report.append(line)
        if form or PASSED.match(line):
            before.clear()
        else:
            before.append(line)
    if form:
        yield report
