# SPDX-License-Identifier: MIT
"""The figures at the end of tools/test: /usr/bin/python3 tests/tools/test_summary.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "lib" / "testing"))

import summary  # noqa: E402
from steps import Step  # noqa: E402


def step(kind, began, seconds, processor, **counts):
    """A step that has ended."""
    made = Step(kind, None)
    made.kind, made.began, made.seconds, made.processor = kind, began, seconds, processor
    for name, number in counts.items():
        setattr(made, name, number)
    return made


class Figures(unittest.TestCase):
    """A line a kind."""

    def test_a_kind_lasts_from_its_first_beginning_to_its_last_end(self):
        lines = summary.kinds([step("http", 10, 30, 5, passed=7, skipped=2), step("unit", 0, 50, 40, passed=9),
                               step("http", 5, 20, 2.5, passed=1, failed=1)])
        self.assertEqual([" ".join(line.split()) for line in lines],
                         ["http 8 passed, 1 failed, 2 skipped; 35 s; 8 s of processor",
                          "unit 9 passed; 50 s; 40 s of processor"])

    def test_cases_of_all_kinds_are_added(self):
        self.assertEqual(summary.cases([step("http", 0, 1, 1, passed=7), step("unit", 0, 1, 1, failed=2, skipped=1)]),
                         [7, 2, 1])


if __name__ == "__main__":
    unittest.main()
