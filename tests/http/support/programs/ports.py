# SPDX-License-Identifier: MIT
"""Ports for servers of the tests' own, chosen as the quick start chooses them (tools/lib/quickstart/ports.py)."""

import pathlib
import subprocess

PROGRAM = pathlib.Path(__file__).parents[4] / "tools" / "lib" / "quickstart" / "ports.py"


def free_port():
    """A port of the loopback address that nobody has, nor gets by chance."""
    return int(subprocess.run([PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout)
