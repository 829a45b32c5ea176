# SPDX-License-Identifier: MIT
"""The parts of the console that need no browser run in Node: what uploads do when lines break, what a filter says."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 120


def test_the_modules_of_uploads_and_filters_hold_what_their_tests_say(tmp_path):
    """Node takes files of this ending for modules only where a package says so; hence the copy."""
    shutil.copytree(HERE / "modules", tmp_path / "tests" / "web" / "modules")
    shutil.copytree(HERE.parents[1] / "web" / "console", tmp_path / "web" / "console")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    found = sorted((tmp_path / "tests").rglob("*.test.mjs"))
    assert found
    done = subprocess.run(["node", "--test", *found], cwd=tmp_path, capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
