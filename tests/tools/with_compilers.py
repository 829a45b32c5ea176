# SPDX-License-Identifier: MIT
"""The checks that look at the sources with a compiler find what they say that they find: /usr/bin/python3
tests/tools/with_compilers.py. `tools/test analyse` runs this, since it needs the compilers."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = "int first(const int *numbers);\n\nint first(const int *numbers)\n{\n    %s\n}\n"
SAFE = "return numbers[0];"
UNSAFE = "int *copy = __builtin_malloc(sizeof *copy);\n    return copy == (void *)0 ? 0 : *numbers;"


class Tree(unittest.TestCase):
    """A tree of one file, and a memory of its own for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "include").mkdir()
        (self.root / "src" / "base").mkdir(parents=True)
        (self.root / ".clang-tidy").write_bytes((TOP / ".clang-tidy").read_bytes())

    def check(self, name, body):
        """The status of a check that looks at a function with this body, and what it says."""
        (self.root / "src" / "base" / "first.c").write_text(FUNCTION % body, encoding="utf-8")
        done = subprocess.run([TOP / "tools" / f"check-{name}", self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache")})
        return done.returncode, done.stdout

    def test_memory_that_nobody_gives_back_is_a_fault_each_time(self):
        for name, words in (("fanalyzer", "leak of 'copy'"), ("tidy", "Potential leak of memory")):
            for _ in range(2):
                status, said = self.check(name, UNSAFE)
                self.assertEqual(status, 1, said)
                self.assertIn(words, said)
                self.assertIn("first.c", said)

    def test_a_file_without_a_finding_is_remembered_until_it_changes(self):
        for name in ("fanalyzer", "tidy"):
            for body, known in ((SAFE, 0), (SAFE, 1), ("/* once more */ " + SAFE, 0)):
                status, said = self.check(name, body)
                self.assertEqual(status, 0, said)
                self.assertIn(f"finds nothing in 1 files, {known} of which it had seen before", said)

    def test_what_does_not_compile_and_a_tree_without_sources_are_faults(self):
        for name in ("fanalyzer", "tidy"):
            self.assertEqual(self.check(name, "return numbers[0]")[0], 1)
            (self.root / "src" / "base" / "first.c").unlink()
            done = subprocess.run([TOP / "tools" / f"check-{name}", self.root], check=False, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
