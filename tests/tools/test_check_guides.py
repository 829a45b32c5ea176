# SPDX-License-Identifier: MIT
"""tools/checks/check-guides finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_guides.py."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
COPIED = ("docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE")


class Guides(unittest.TestCase):
    """A tree like this one, whose documents a test may change; all else leads to this one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in TOP.iterdir():
            if path.name in COPIED:
                (shutil.copytree if path.is_dir() else shutil.copy)(path, self.root / path.name)
            elif not path.name.startswith("."):
                (self.root / path.name).symlink_to(path)

    def check(self, *options):
        """The status of the check and what it says."""
        done = subprocess.run([CHECKS / "check-guides", *options, self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def change(self, name, old, new):
        """Replaces a text that stands in a document."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def fault(self, words):
        """The check must fail with one fault, which has these words."""
        status, said = self.check()
        self.assertEqual((status, said.count("\n")), (1, 1), said)
        self.assertIn(words, said)

    def own(self, name):
        """A copy of a folder in place of the link to it."""
        (self.root / name).unlink()
        shutil.copytree(TOP / name, self.root / name)

    def test_this_tree_has_no_fault(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)

    def test_a_code_that_the_guide_lacks_is_a_fault_until_it_is_written_and_explained(self):
        row = "| 409 | `file.active` | This file is active already. | Nothing: the file is as it should be. |\n"
        self.change("docs/errors.md", row, "")
        self.fault("docs/errors.md: the table of codes")
        self.check("--write")
        self.fault("docs/errors.md: says not what a program does about file.active")
        self.change("docs/errors.md", "This file is active already. | ? |",
                    "This file is active already. | Nothing: the file is as it should be. |")
        self.assertEqual(self.check()[0], 0)
        self.assertEqual((self.root / "docs/errors.md").read_text(), (TOP / "docs/errors.md").read_text())

    def test_a_sentence_that_changed_is_a_fault(self):
        self.own("include")
        self.change("include/base/errors.def", "This file is active already.", "This file is active.")
        self.fault("docs/errors.md: the table of codes")

    def test_an_endpoint_with_another_permission_is_a_fault(self):
        self.change("docs/openapi.json", '"x-permission":"cus:org:a"', '"x-permission":"cus:org:w"')
        self.fault("docs/permissions.md: the table of endpoints")

    def test_a_picture_of_another_text_is_a_fault_until_it_is_drawn(self):
        self.change("docs/pictures/login.txt", "audit row", "a row of the audit trail")
        self.fault("docs/pictures/login.svg")
        self.assertEqual(self.check("--write")[0], 0)
        self.assertIn("a row of the audit trail", (self.root / "docs/pictures/login.svg").read_text())

    def test_a_picture_without_a_text_is_a_fault(self):
        shutil.copy(self.root / "docs/pictures/login.svg", self.root / "docs/pictures/other.svg")
        self.fault("docs/pictures/other.svg: has no text")

    def test_a_text_that_is_no_picture_is_named(self):
        self.change("docs/pictures/login.txt", "actor client Client", "actress client Client")
        self.fault("login.txt: cannot read: actress client Client")

    def test_a_folder_of_sources_that_no_guide_describes_is_a_fault(self):
        self.change("docs/architecture.md", "| `src/worker/` |", "| the worker |")
        self.fault("src/worker/ is not described")

    def test_a_path_that_is_not_there_is_a_fault(self):
        self.change("docs/decisions/0012-own-sigv4.md", "`include/codec/sigv4.h`", "`include/codec/sigv5.h`")
        self.fault("there is no include/codec/sigv5.h")

    def test_an_error_that_nothing_answers_is_a_fault(self):
        self.change("docs/accounts.md", "401 `auth.userDisabled`", "403 `auth.userDisabled`")
        self.fault("docs/accounts.md: nothing is answered with 403 auth.userDisabled")

    def test_a_line_of_the_log_that_nothing_writes_is_a_fault(self):
        self.change("docs/troubleshooting.md", "`the sandbox is not whole`", "`the sandbox has holes`")
        self.fault('docs/troubleshooting.md: no line of the log is "the sandbox has holes"')

    def test_without_lines_of_the_log_nothing_was_checked(self):
        self.change("docs/troubleshooting.md", "| `message` |", "| message |")
        self.fault("docs/troubleshooting.md explains no line of the log")

    def test_a_link_that_leads_nowhere_is_a_fault(self):
        self.change("docs/files.md", "(api.md)", "(interface.md)")
        self.fault("docs/files.md: the link interface.md leads nowhere")

    def test_a_link_to_a_heading_that_is_not_there_is_a_fault(self):
        self.change("SECURITY.md", "#waits-after-failures", "#waiting")
        self.fault("SECURITY.md: the link docs/accounts.md#waiting names no heading")

    def test_a_document_that_nobody_finds_is_a_fault(self):
        (self.root / "docs" / "decisions" / "lost.md").write_text("# Lost\n", encoding="utf-8")
        self.fault("docs/decisions/lost.md: README.md does not lead to it")

    def test_a_document_that_has_no_place_in_the_book_is_a_fault(self):
        self.change("docs/README.md", "[Monitoring](monitoring.md)", "Monitoring")
        self.fault("docs/README.md: monitoring.md has no place in the book")

    def test_without_codes_nothing_was_checked(self):
        self.own("include")
        (self.root / "include/base/errors.def").write_text("", encoding="utf-8")
        self.fault("include/base/errors.def has no rows")


if __name__ == "__main__":
    unittest.main()
