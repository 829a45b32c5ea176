# SPDX-License-Identifier: MIT
"""tools/set-version and tools/checks/check-version: /usr/bin/python3 tests/tools/test_version.py."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FILES = ("configure.ac", "debian/changelog", "CHANGELOG.md")


class Version(unittest.TestCase):
    """The files of this tree that name the version, and a client's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FILES:
            if (TOP / name).exists():
                (self.root / name).parent.mkdir(exist_ok=True)
                shutil.copy(TOP / name, self.root / name)
        self.write("clients/typescript/package.json", '{\n  "name": "a",\n  "version": "1.0.0",\n  "b": "2.2.2"\n}\n')
        self.assertEqual(self.run_tool("set-version", "1.0.0", "--root", self.root), (0, ""))

    def write(self, name, text):
        """A file of the tree."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name):
        """Its text."""
        return (self.root / name).read_text(encoding="utf-8")

    def run_tool(self, name, *arguments):
        """The status of a tool and what it says."""
        done = subprocess.run([TOP / "tools" / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1800000000"})
        return done.returncode, done.stdout

    def check(self):
        """What tools/checks/check-version says."""
        return self.run_tool("checks/check-version", self.root)

    def test_every_file_names_the_new_version_and_nothing_else_changes(self):
        before = self.read("clients/typescript/package.json")
        self.assertEqual(self.run_tool("set-version", "1.2.10", "--root", self.root), (0, ""))
        status, said = self.check()
        self.assertEqual(status, 0, said)
        self.assertIn("1.2.10", said)
        self.assertIn("AC_INIT([gatehouse], [1.2.10]", self.read("configure.ac"))
        self.assertEqual(self.read("clients/typescript/package.json"), before.replace("1.0.0", "1.2.10"))
        self.assertIn("What 1.2.10 will bring", self.read("CHANGELOG.md"))

    @unittest.skipUnless((TOP / "debian").exists(), "a release has no debian")
    def test_debian_keeps_the_entries_of_the_versions_before(self):
        before = self.read("debian/changelog")
        self.run_tool("set-version", "1.1.0", "--root", self.root)
        text = self.read("debian/changelog")
        self.assertTrue(text.startswith("gatehouse (1.1.0-1) unstable; urgency=medium\n"), text)
        self.assertIn("  Fri, 15 Jan 2027 08:00:00 +0000\n", text)
        self.assertTrue(text.endswith(before))

    def test_a_release_has_its_day_and_the_next_version_begins_anew(self):
        self.assertEqual(self.run_tool("set-version", "--release", "--root", self.root), (0, ""))
        self.assertIn("## [1.0.0] - 2027-01-15\n", self.read("CHANGELOG.md"))
        self.assertNotIn("Unreleased", self.read("CHANGELOG.md"))
        self.assertEqual(self.check()[0], 0)
        status, said = self.run_tool("set-version", "--release", "--root", self.root)
        self.assertEqual(status, 1)
        self.assertIn("released already", said)
        self.run_tool("set-version", "1.1.0", "--root", self.root)
        self.assertIn("## [Unreleased]\n\nWhat 1.1.0 will bring.\n\n## [1.0.0] - 2027-01-15\n",
                      self.read("CHANGELOG.md"))
        self.assertEqual(self.check()[0], 0)

    def test_the_check_names_the_file_that_differs(self):
        for name in ("CHANGELOG.md", "clients/typescript/package.json"):
            text = self.read(name)
            self.write(name, text.replace("1.0.0", "1.0.1", 1))
            status, said = self.check()
            self.assertEqual(status, 1)
            self.assertIn(f"{name} says 1.0.1, and configure.ac 1.0.0", said)
            self.write(name, text)

    def test_a_file_without_a_version_is_a_fault(self):
        self.write("CHANGELOG.md", "# Changelog\n")
        self.assertIn("CHANGELOG.md: the version does not stand where it should", self.check()[1])

    def test_what_is_no_version_changes_nothing(self):
        before = self.read("configure.ac")
        for wrong in ("1.0", "v1.0.0", "1.0.0-rc1", "01.0.0", "1.0.0]", ""):
            self.assertNotEqual(self.run_tool("set-version", wrong, "--root", self.root)[0], 0, wrong)
        self.assertEqual(self.read("configure.ac"), before)


if __name__ == "__main__":
    unittest.main()
