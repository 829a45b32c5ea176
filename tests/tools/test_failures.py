# SPDX-License-Identifier: MIT
"""What tools/test shows of a failed run: /usr/bin/python3 tests/tools/test_failures.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "lib" / "testing"))

import failures  # noqa: E402

MAKE_CHECK = """\
PASS: tests/unit/test-base 24 - clock: now
FAIL: tests/unit/test-base 25 - clock: times_are_written_as_rfc_3339
ERROR: tests/unit/test-base - exited with status 1
ERROR: tests/unit/test-base
===========================

1..3
ok 24 - clock: now
PASS: tests/unit/test-base 24 - clock: now
{"level":"error","message":"the log of the failed test"}
not ok 25 - clock: times_are_written_as_rfc_3339
FAIL: tests/unit/test-base 25 - clock: times_are_written_as_rfc_3339
# 0x3 != 0x4
# ../../tests/unit/base/test_clock.c:26: error: Failure!
{"level":"info","message":"the log of the next test"}
ok 26 - clock: dates
PASS: tests/unit/test-base 26 - clock: dates
# not ok - base
ERROR: tests/unit/test-base - exited with status 1
"""

PYTEST = """\
.F.                                              [100%]
=================================== FAILURES ===================================
________________________________ TestA.test_one ________________________________

    def test_one(self):
>       assert a == {"a": 2}, "told so"
E       AssertionError: told so
E       assert {'a': 1} == {'a': 2}

test_x.py:7: AssertionError
----------------------------- Captured stdout call -----------------------------
E    of the output
=========================== short test summary info ============================
FAILED test_x.py::TestA::test_one - AssertionError: told so
"""


class Reports(unittest.TestCase):
    """Each form of report."""

    def test_a_failed_unit_test_is_shown_with_its_assertion_and_its_log(self):
        self.assertEqual(failures.find(MAKE_CHECK.splitlines()), [
            "ERROR: tests/unit/test-base - exited with status 1",
            '{"level":"error","message":"the log of the failed test"}',
            "not ok 25 - clock: times_are_written_as_rfc_3339",
            "# 0x3 != 0x4",
            "# ../../tests/unit/base/test_clock.c:26: error: Failure!"])

    def test_a_failed_case_of_pytest_is_shown_with_its_values_and_its_place(self):
        self.assertEqual(failures.find(PYTEST.splitlines()), [
            "________________________________ TestA.test_one ________________________________",
            "E       AssertionError: told so",
            "E       assert {'a': 1} == {'a': 2}",
            "test_x.py:7: AssertionError"])

    def test_what_was_shown_is_shown_again_by_an_outer_run(self):
        for log in (MAKE_CHECK, PYTEST):
            shown = failures.find(log.splitlines())
            self.assertEqual(failures.find(["ok 1 - before", *shown, "", "---- the end", *log.splitlines()]), shown)

    def test_a_failure_far_from_the_end_is_shown(self):
        lines = [*MAKE_CHECK.splitlines(), *[f"ok {number} - passed" for number in range(5000)]]
        self.assertIn("# 0x3 != 0x4", failures.find(lines))

    def test_a_log_without_failures_shows_none(self):
        self.assertEqual(failures.find(["ok 1 - here", "# ok - base", "PASS: x 1 - here", "3 passed in 0.05s"]), [])

    def test_endless_failures_are_cut(self):
        lines = [line for number in range(1000) for line in (f"not ok {number} - case", "# said")]
        found = failures.find(lines)
        self.assertEqual(len(found), failures.LINES_MAX + 1)
        self.assertIn("1400 lines more", found[-1])


if __name__ == "__main__":
    unittest.main()
