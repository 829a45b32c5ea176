# SPDX-License-Identifier: MIT
"""What tools/lib/emulators/fetch keeps for the next build folder: /usr/bin/python3 tests/tools/test_fetch.py."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FETCH = pathlib.Path(__file__).resolve().parents[2] / "tools" / "lib" / "emulators" / "fetch"
# Counts its runs, and fails when the folder it was copied to says so.
EMULATOR = """#!/bin/sh
# source: a folder
echo run >> "$(dirname "$0")/../runs"
[ ! -e "$(dirname "$0")/../offline" ] || exit 1
echo program > program
"""


class Fetch(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        (self.top / "pins" / "one").mkdir(parents=True)
        shutil.copy(FETCH, self.top / "pins" / "fetch")
        self.write(EMULATOR)

    def write(self, text):
        program = self.top / "pins" / "one" / "fetch"
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def fetch(self, folder):
        return subprocess.run([self.top / "pins" / "fetch", "one", self.top / folder],
                              env={**os.environ, "XDG_CACHE_HOME": str(self.top / "cache")}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def runs(self):
        return len((self.top / "pins" / "runs").read_text(encoding="utf-8").split())

    def test_another_build_folder_finds_what_was_fetched(self):
        self.assertEqual(self.fetch("a").returncode, 0)
        (self.top / "pins" / "offline").touch()
        done = self.fetch("b")
        self.assertEqual((done.returncode, self.runs()), (0, 1), done.stderr)
        self.assertEqual((self.top / "b" / "one" / "program").read_text(encoding="utf-8"), "program\n")

    def test_other_pins_are_fetched_anew_and_the_old_ones_go(self):
        self.fetch("a")
        self.write(EMULATOR + "# another version\n")
        self.assertEqual((self.fetch("a").returncode, self.runs()), (0, 2))
        kept = [path for path in (self.top / "cache" / "gatehouse" / "emulators").iterdir() if path.is_dir()]
        self.assertEqual(len(kept), 1)

    def test_what_could_not_be_fetched_is_not_kept(self):
        (self.top / "pins" / "offline").touch()
        done = self.fetch("a")
        self.assertEqual(done.returncode, 1)
        self.assertIn("one could not be fetched from a folder", done.stderr)
        (self.top / "pins" / "offline").unlink()
        self.assertEqual((self.fetch("a").returncode, self.runs()), (0, 2))

    def test_a_cache_that_cannot_be_written_is_done_without(self):
        (self.top / "cache").write_text("a file in its place", encoding="utf-8")
        self.assertEqual(self.fetch("a").returncode, 0)
        self.assertTrue((self.top / "a" / "one" / "program").exists())


if __name__ == "__main__":
    unittest.main()
