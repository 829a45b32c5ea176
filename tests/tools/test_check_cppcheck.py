# SPDX-License-Identifier: MIT
"""tools/checks/check-cppcheck finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_cppcheck.py.
Where no cppcheck reads our macros, only that it says so."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
LEFT_OUT = "left out"


class Cppcheck(unittest.TestCase):
    """A copy of one folder of the sources, which a test may change."""

    def check(self, root):
        """The status of the check and what it says."""
        done = subprocess.run([CHECKS / "check-cppcheck", root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_a_fault_is_told_and_so_is_a_reason_that_nothing_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(TOP / "include" / "base", root / "include" / "base")
            (root / "src").mkdir()
            (root / "src" / "wrong.c").write_text(
                "#include <stdlib.h>\nint wrong(int i)\n{\n    int a[3] = {0};\n    if (i == 7)\n        return a[i];\n"
                "    return 0;\n}\n", encoding="ascii")
            status, said = self.check(root)
        if LEFT_OUT in said:
            self.assertEqual(status, 0, said)
            return
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"src/wrong\.c:6: .*arrayIndexOutOfBounds")
        self.assertIn("src/base/arena.c: nullPointerOutOfMemory: block: nothing is found there any more", said)

    def test_no_sources_are_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said = self.check(folder)
        self.assertEqual(status, 1, said)
        self.assertIn("no file to read", said)


if __name__ == "__main__":
    unittest.main()
