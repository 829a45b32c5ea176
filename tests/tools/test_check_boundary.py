# SPDX-License-Identifier: MIT
"""tools/checks/check-boundary finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_boundary.py."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
FILE = "src/domain/file/file.c"
BOUND = '"SELECT 1 FROM file f WHERE f.id = ? AND f.organisation_id = ?"'


class Boundary(unittest.TestCase):
    """A copy of the statements and migrations, which a test may change."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("src/domain", "src/service", "sql"):
            shutil.copytree(TOP / name, self.root / name)

    def check(self):
        """The status of the check and what it says."""
        done = subprocess.run([CHECKS / "check-boundary", self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def fault(self, old, new, words):
        """With a text of the file replaced, the check must fail and say the words."""
        text = (self.root / FILE).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / FILE).write_text(text.replace(old, new, 1), encoding="utf-8")
        status, said = self.check()
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_this_tree_has_no_fault(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)

    def test_a_statement_that_binds_no_organisation_is_a_fault(self):
        self.fault(BOUND, '"SELECT 1 FROM file f WHERE f.id = ?"', f"{FILE}: find_status binds no organisation")

    def test_what_a_parameter_switches_off_binds_nothing(self):
        self.fault(BOUND, '"SELECT 1 FROM file f WHERE f.id = ? AND (? OR f.organisation_id = ?)"',
                   f"{FILE}: find_status binds no organisation")

    def test_what_is_written_binds_nothing(self):
        self.fault(BOUND, '"UPDATE file SET organisation_id = ? WHERE id = ?"',
                   f"{FILE}: find_status binds no organisation")

    def test_an_exception_that_nothing_needs_is_a_fault(self):
        self.fault('" FROM file f WHERE f.id = ?"}', '" FROM file f WHERE f.id = ? AND f.organisation_id = ?"}',
                   f"{FILE}: nothing needs the exception for find_any")

    def test_without_statements_nothing_was_checked(self):
        shutil.rmtree(self.root / "src")
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
