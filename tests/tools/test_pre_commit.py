# SPDX-License-Identifier: MIT
"""tools/pre-commit chooses the checks that read a staged file: /usr/bin/python3 tests/tools/test_pre_commit.py."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
# Those that take too long for a commit.
LEFT_OUT = {"check-cppcheck", "check-musl", "check-fanalyzer", "check-tidy"}
SHELL = "#!/bin/sh\n"
# A file that is staged, its text, and checks of those that must start.
STARTED = (
    ("src/domain/file/file.c", "", {"check-format", "check-includes", "check-size", "check-dead", "check-boundary",
                                    "check-grants", "check-guides"}),
    ("src/api/routes_files.c", "", {"check-guides"}),
    ("include/base/errors.def", "", {"check-format", "check-guides"}),
    ("include/base/metrics.def", "", {"check-metrics"}),
    ("include/store/database/grants.def", "", {"check-grants"}),
    ("src/base/configuration_rows.c", "", {"check-docs"}),
    ("include/base/limits.h", "", {"check-docs"}),
    ("conf/gatehouse.conf.in", "", {"check-docs"}),
    ("share/monitoring/gatehouse-alerts.yml", "", {"check-metrics"}),
    ("sql/001-foundation.sql", "", {"check-boundary", "check-grants"}),
    ("web/console/router.js", "", {"check-console", "check-size"}),
    ("web/console/style/tokens.css", "", {"check-console"}),
    ("docs/monitoring.md", "", {"check-docs", "check-guides", "check-commands", "check-metrics"}),
    ("README.md", "", {"check-guides", "check-commands"}),
    ("CHANGELOG.md", "", {"check-guides", "check-version"}),
    ("tests/guides/commands.txt", "", {"check-commands"}),
    ("tests/http/files/test_list.py", "", {"check-python", "check-size", "check-dead", "check-docs"}),
    ("debian/tests/lib.sh", "", {"check-shell"}),
    ("debian/tests/nginx", SHELL, {"check-shell"}),
    ("debian/gatehouse.postinst", SHELL, {"check-shell"}),
    ("containers/set-up", SHELL, {"check-shell"}),
    ("share/gatehouse-run.in", SHELL, {"check-shell"}),
    ("tools/bench", "#!/usr/bin/env python3\n", {"check-python"}),
    ("tools/checks/check-ignored", SHELL, {"check-ignored", "check-shell"}),
    ("clients/python/pyproject.toml", "", {"check-version"}),
    ("web/local.mk", "", {"check-ignored", "check-console"}),
    ("LICENSE", "", {"check-spelling"}),
)


class Hook(unittest.TestCase):
    """A repository with the hook, and with checks that only say that they ran."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(TOP / "tools" / "pre-commit", self.root / "tools")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        self.run_git("init", "-q")

    def run_git(self, *arguments):
        """Runs git in the repository, as nobody in particular."""
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@localhost", *arguments], cwd=self.root,
                       env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def write(self, name, text):
        """A file of the repository, which is staged."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.run_git("add", name)

    def hook(self, *arguments):
        """The status of the hook and the words that it says."""
        done = subprocess.run([self.root / "tools" / "pre-commit", *arguments], cwd=self.root, env=self.environment,
                              stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, set(done.stdout.split())

    def started(self, name, text):
        """The checks that a staged file starts, by itself."""
        self.write(name, text)
        status, names = self.hook("--list")
        self.run_git("rm", "-q", "-f", "--cached", name)
        self.assertEqual(status, 0, name)
        return names

    def test_a_staged_file_starts_the_checks_that_read_it(self):
        for name, text, wanted in STARTED:
            self.assertEqual(wanted - self.started(name, text), set(), name)

    def test_each_check_is_started_by_some_file_or_left_out(self):
        every = {path.name for path in (TOP / "tools" / "checks").glob("check-*")}
        started = set().union(*(self.started(name, text) for name, text, _ in STARTED))
        self.assertEqual(every - started, LEFT_OUT)

    def test_a_text_starts_no_check_of_sources(self):
        self.assertEqual(self.started("LICENSE", ""), {"check-spelling"})

    def test_a_file_that_moves_starts_the_checks_of_what_names_it(self):
        self.write("tests/old.txt", "old\n")
        self.run_git("commit", "-q", "-m", "old")
        self.run_git("mv", "tests/old.txt", "tests/new.txt")
        self.assertLessEqual({"check-guides", "check-docs", "check-commands"}, self.hook("--list")[1])

    def test_nothing_is_started_where_nothing_is_staged(self):
        self.assertEqual(self.hook("--list"), (0, set()))

    def test_it_fails_where_one_check_fails_and_runs_the_others(self):
        for name, status in (("check-spelling", 1), ("check-ignored", 0)):
            self.write(f"tools/checks/{name}", f"{SHELL}: > ran-{name}\nexit {status}\n")
            (self.root / "tools" / "checks" / name).chmod(0o755)
        self.run_git("commit", "-q", "-m", "checks")
        self.write("some.mk", "")
        self.assertEqual(self.hook()[0], 1)
        self.assertTrue((self.root / "ran-check-spelling").exists() and (self.root / "ran-check-ignored").exists())
        self.write("tools/checks/check-spelling", f"{SHELL}exit 0\n")
        self.run_git("commit", "-q", "-m", "right")
        self.write("other.mk", "")
        self.assertEqual(self.hook()[0], 0)


if __name__ == "__main__":
    unittest.main()
