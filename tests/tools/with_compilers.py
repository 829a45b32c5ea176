# SPDX-License-Identifier: MIT
"""The checks that look at the sources with a compiler find what they say that they find: /usr/bin/python3
tests/tools/with_compilers.py. The kind `analyse` of tools/test runs this, since it needs the compilers."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
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

    def write(self, name, body):
        """A file of one function with this body."""
        (self.root / "src" / "base" / name).write_text(FUNCTION % body, encoding="utf-8")

    def git(self, *arguments):
        """One command of git in the tree."""
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@example.com", *arguments], cwd=self.root,
                       stdout=subprocess.DEVNULL, check=True)

    def check(self, name, body, *options):
        """The status of a check that looks at a function with this body, and what it says."""
        self.write("first.c", body)
        done = subprocess.run([CHECKS / f"check-{name}", *options, self.root], stdout=subprocess.PIPE,
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

    def test_what_was_changed_last_is_looked_at_committed_or_not(self):
        for name in ("second.c", "third.c", "first.c"):
            self.write(name, SAFE if name != "second.c" else UNSAFE)
        self.git("init", "--quiet")
        self.git("add", "src")
        self.git("commit", "--quiet", "--message", "three")
        self.write("third.c", "/* once more */ " + SAFE)
        self.git("commit", "--quiet", "--all", "--message", "third")
        status, said = self.check("tidy", SAFE, "--last=1")
        self.assertEqual((status, "in 1 files" in said), (0, True), said)
        for body, last in ((SAFE, 3), (UNSAFE, 1)):
            status, said = self.check("tidy", body, f"--last={last}")
            self.assertEqual(status, 1, said)
        self.assertIn("first.c", said)
        self.git("commit", "--quiet", "--all", "--message", "first")
        status, said = self.check("tidy", UNSAFE, "--last=1")
        self.assertEqual(status, 1, said)
        self.write("third.c", SAFE)
        status, said = self.check("tidy", UNSAFE, "--last=1")
        self.assertEqual((status, "in 1 files" in said), (0, True), said)

    def test_without_git_the_first_files_are_looked_at(self):
        status, said = self.check("tidy", UNSAFE, "--last=16")
        self.assertEqual(status, 1, said)

    def test_what_does_not_compile_and_a_tree_without_sources_are_faults(self):
        for name in ("fanalyzer", "tidy"):
            self.assertEqual(self.check(name, "return numbers[0]")[0], 1)
            (self.root / "src" / "base" / "first.c").unlink()
            done = subprocess.run([CHECKS / f"check-{name}", self.root], check=False, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
