# SPDX-License-Identifier: MIT
"""tools/checks/check-console finds each kind of fault in a copy of the pages, and none in the pages themselves."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"


class Faults(unittest.TestCase):
    """A copy of web/ with one change."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.root = pathlib.Path(self.place.name)
        shutil.copytree(TOP / "web", self.root / "web")

    def change(self, name, before, after):
        path = self.root / "web" / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(before, text)
        path.write_text(text.replace(before, after, 1), encoding="utf-8")

    def run_check(self):
        done = subprocess.run([sys.executable, CHECKS / "check-console", self.root], stdout=subprocess.PIPE,
                              text=True, check=False)
        return done.returncode, done.stdout

    def check_fault(self, words):
        status, said = self.run_check()
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_the_pages_have_no_fault(self):
        self.assertEqual(self.run_check(), (0, ""))

    def test_a_changed_vendored_file_is_found(self):
        self.change("console/vendor/htm.js", "var ", "let ")
        self.check_fault("vendor/htm.js has another digest")

    def test_a_vendored_file_without_a_digest_is_found(self):
        (self.root / "web/console/vendor/more.js").write_text("")
        self.check_fault("vendor/more.js is not in the README")

    def test_an_import_that_is_not_preloaded_is_found(self):
        self.change("console.html", '    <link rel="modulepreload" href="console/router.js">\n', "")
        self.check_fault('console.html lacks <link rel="modulepreload" href="console/router.js">')

    def test_a_preload_that_nothing_imports_is_found(self):
        self.change("reset.html", "assets/form.js", "assets/confirm.js")
        self.check_fault("reset.html preloads assets/confirm.js")

    def test_a_text_without_a_translation_is_found(self):
        self.change("console/shell.js", 't("Menu")', 't("Another menu")')
        self.check_fault("de.js lacks 'Another menu'")

    def test_a_translation_of_no_text_is_found(self):
        self.change("console/texts/de.js", '    "Cancel":', '    "Gone": "Weg",\n    "Cancel":')
        self.check_fault("de.js translates 'Gone'")

    def test_a_name_that_a_translation_lost_is_found(self):
        self.change("console/texts/de.js", ': "{name} auswählen"', ': "Auswählen"')
        self.check_fault("de.js: other names than in ")

    def test_a_file_that_is_not_installed_is_found(self):
        (self.root / "web/console/screens/new.js").write_text("")
        self.check_fault("web/console/screens/new.js is not in web/local.mk")

    def test_a_console_that_grows_too_large_is_found(self):
        (self.root / "web/console/screens/large.js").write_text(os.urandom(60000).hex(), encoding="utf-8")
        self.check_fault("large.js has ")

    def test_a_start_of_too_many_files_is_found(self):
        for number in range(2):
            (self.root / f"web/console/style/more{number}.css").write_text("", encoding="utf-8")
        self.check_fault("the start of the console is 24 files, 22 are allowed")

    def test_a_module_that_a_screen_would_ask_for_late_is_found(self):
        self.change("console/router.js", '        "./system/parts.js",\n', "")
        self.check_fault("router.js lacks console/system/parts.js for home")

    def test_a_colour_outside_of_the_tokens_is_found(self):
        self.change("console/style/base.css", "var(--text)", "#123456")
        self.check_fault("base.css:15: a colour of its own")


if __name__ == "__main__":
    unittest.main()
