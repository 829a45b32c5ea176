# SPDX-License-Identifier: MIT
"""tools/check-docs finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_docs.py."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
COPIED = ("docs", "conf")
PAGE = "docs/gatehouse.conf.5"


class Docs(unittest.TestCase):
    """A tree like this one, whose pages and sample a test may change; all else leads to this one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in COPIED:
            (self.root / name).mkdir()
            for path in (TOP / name).iterdir():
                if path.is_file():
                    shutil.copy(path, self.root / name)
        for name in ("include", "src"):
            (self.root / name).symlink_to(TOP / name)

    def check(self):
        """The status of the check and what it says."""
        done = subprocess.run([TOP / "tools" / "check-docs", self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def fault(self, name, old, new, *words):
        """With a text of a file replaced, the check must fail and say the words."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        status, said = self.check()
        self.assertEqual(status, 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_this_tree_has_no_fault(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)

    def test_a_setting_that_the_page_lacks_is_a_fault(self):
        self.fault(PAGE, ".It Ic base_url", ".It Ic base_uri", "[service] base_url is missing",
                   "[service] base_uri is no setting")

    def test_a_setting_that_the_sample_lacks_is_a_fault(self):
        self.fault("conf/gatehouse.conf.in", "\nbase_url =", "\n\n# base_url =", "[service] base_url is missing")

    def test_an_unknown_macro_is_a_fault_for_both_readers(self):
        self.fault("docs/gatehousectl.8", ".Sh DESCRIPTION\n", ".Sh DESCRIPTION\n.Foo bar\n",
                   "docs/gatehousectl.8: man says:", "docs/gatehousectl.8: mandoc says:")

    def test_a_list_that_does_not_end_is_a_fault(self):
        self.fault("docs/gatehouse.8", "\n.El\n", "\n", "docs/gatehouse.8: mandoc says:")

    def test_without_a_page_nothing_was_checked(self):
        (self.root / PAGE).unlink()
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
