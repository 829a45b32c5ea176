# SPDX-License-Identifier: MIT
"""tools/checks/check-commands finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_commands.py."""

import pathlib
import subprocess
import tempfile
import unittest

CHECKS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "checks"
GUIDE = """# A guide

```sh
# no heading
run
```

```text
printed
```

## Below

1. A list

   ```sh
   more
   ```
"""
TABLE = """# guide | heading | block | test
docs/guide.md | A guide | 1 | tests/run
docs/guide.md | Below | * | none: nobody can run this here
"""


class Commands(unittest.TestCase):
    """A tree with one guide of two blocks, of which a test runs one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in (("docs/guide.md", GUIDE), ("README.md", "# Nothing\n"), ("tests/guides/commands.txt", TABLE),
                           ("tests/run", "guide.md: A guide\n")):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")

    def check(self, *options):
        """The status of the check and what it says."""
        done = subprocess.run([CHECKS / "check-commands", *options, self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def fault(self, name, old, new, words):
        """With a text of a file replaced, the check must fail and say the words."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")
        status, said = self.check()
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_each_block_has_a_test_or_a_reason(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)
        self.assertIn("tests run 1 of 2 blocks of commands", said)

    def test_each_block_is_listed_with_that(self):
        _, said = self.check("--list")
        self.assertIn("docs/guide.md, A guide, block 1: tests/run\n", said)
        self.assertIn("docs/guide.md, Below, block 1: no test: nobody can run this here\n", said)

    def test_a_new_block_needs_a_row(self):
        self.fault("docs/guide.md", "## Below\n", "```sql\nSELECT 1\n```\n\n## Below\n",
                   'docs/guide.md: block 2 below "A guide" has neither a test nor a reason')

    def test_a_row_needs_a_block(self):
        self.fault("docs/guide.md", "## Below\n", "## Above\n", "there is no block docs/guide.md | Below | *")

    def test_a_test_must_be_there(self):
        self.fault("tests/guides/commands.txt", "tests/run", "tests/walk", "there is no test tests/walk")

    def test_a_test_must_read_the_guide_and_the_section(self):
        self.fault("tests/run", ": A guide", "", 'tests/run does not name the section "A guide"')
        self.fault("tests/run", "guide.md", "", "tests/run does not name docs/guide.md")

    def test_a_reason_must_be_one(self):
        self.fault("tests/guides/commands.txt", "nobody can run this here", "later", 'has no reason, only "later"')

    def test_a_row_that_cannot_be_read_is_named(self):
        self.fault("tests/guides/commands.txt", " | tests/run", "", "a row is guide | heading | block | test")


if __name__ == "__main__":
    unittest.main()
