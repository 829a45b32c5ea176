# SPDX-License-Identifier: MIT
"""Ports for servers that are started in a moment: /usr/bin/python3 tests/tools/test_ports.py."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools" / "lib" / "quickstart" / "ports.py"
sys.path.insert(0, str(PROGRAM.parent))

import ports  # noqa: E402


def draw(folder):
    """How the program ended that draws a port."""
    return subprocess.run([PROGRAM], capture_output=True, text=True, check=False,
                          env={**os.environ, "GATEHOUSE_TEST_PORTS": folder})


class TestPorts(unittest.TestCase):
    def test_a_port_that_was_drawn_is_given_to_no_other_program(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = [draw(folder).stdout.strip() for _ in range(3)]
            self.assertEqual(sorted(os.listdir(folder)), sorted(drawn))
            for port in range(ports.LOWEST, ports.HIGHEST + 1):
                pathlib.Path(folder, str(port)).touch()
            refused = draw(folder)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("could be had", refused.stderr)

    def test_without_the_folder_any_free_port_is_given(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertGreaterEqual(int(draw(f"{folder}/missing").stdout), ports.LOWEST)


if __name__ == "__main__":
    unittest.main()
