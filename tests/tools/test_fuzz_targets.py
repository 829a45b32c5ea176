# SPDX-License-Identifier: MIT
"""Each fuzz target has a corpus to begin with, and the dictionary without which libFuzzer does not start."""

import pathlib
import re
import unittest

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz"
INPUTS_LEAST = 20


class Targets(unittest.TestCase):
    def setUp(self):
        text = (FUZZ / "fuzz.h").read_text(encoding="utf-8")
        self.targets = re.findall(r"^    X\(fuzz_(\w+)\)", text, re.MULTILINE)
        self.assertGreater(len(self.targets), 20)

    def names(self, folder, ending):
        return sorted(path.stem for path in (FUZZ / folder).glob(f"*{ending}"))

    def test_each_has_a_dictionary(self):
        self.assertEqual(self.names("dictionary", ".dict"), sorted(self.targets))

    def test_each_has_a_corpus(self):
        self.assertEqual(self.names("corpus", ".txt"), sorted(self.targets))
        for target in self.targets:
            with self.subTest(target):
                lines = (FUZZ / "corpus" / f"{target}.txt").read_text(encoding="utf-8").splitlines()
                self.assertGreaterEqual(len(lines), INPUTS_LEAST)


if __name__ == "__main__":
    unittest.main()
