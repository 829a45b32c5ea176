# SPDX-License-Identifier: MIT
"""tools/checks/check-docs finds what it says that it finds: /usr/bin/python3 tests/tools/test_check_docs.py."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
COPIED = ("docs", "conf")
LINKED = ("include", "src", "tests", "tools", "nginx", "apache", "web", "debian", "systemd", "logrotate", "install.mk",
          "configure.ac", ".clang-tidy")
PAGE = "docs/gatehouse.conf.5"
PROMISES = "docs/security-promises.md"
ASVS = "docs/asvs.md"


class Docs(unittest.TestCase):
    """A tree like this one, whose pages and sample a test may change; all else leads to this one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in COPIED:
            (self.root / name).mkdir()
            for path in (TOP / name).iterdir():
                if path.is_file():
                    shutil.copy(path, self.root / name)
        for name in LINKED:
            (self.root / name).symlink_to(TOP / name)

    def check(self):
        """The status of the check and what it says."""
        done = subprocess.run([CHECKS / "check-docs", self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def fault(self, name, old, new, *words):
        """With a text of a file replaced, the check must fail and say the words."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        status, said = self.check()
        self.assertEqual(status, 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_this_tree_has_no_fault(self):
        status, said = self.check()
        self.assertEqual(status, 0, said)

    def test_a_setting_that_the_page_lacks_is_a_fault(self):
        self.fault(PAGE, ".It Ic base_url", ".It Ic base_uri", "[service] base_url is missing",
                   "[service] base_uri is no setting")

    def test_a_setting_that_the_sample_lacks_is_a_fault(self):
        self.fault("conf/gatehouse.conf.in", "\nbase_url =", "\n\n# base_url =", "[service] base_url is missing")

    def test_an_unknown_macro_is_a_fault_for_both_readers(self):
        self.fault("docs/gatehousectl.8", ".Sh DESCRIPTION\n", ".Sh DESCRIPTION\n.Foo bar\n",
                   "docs/gatehousectl.8: man says:", "docs/gatehousectl.8: mandoc says:")

    def test_a_list_that_does_not_end_is_a_fault(self):
        self.fault("docs/gatehouse.8", "\n.El\n", "\n", "docs/gatehouse.8: mandoc says:")

    def test_a_promise_whose_test_is_not_there_is_a_fault(self):
        self.fault(PROMISES, "::test_a_false_token_is_refused", "::test_a_false_token_is_taken",
                   "sessions/test_token_attacks.py has no case test_a_false_token_is_taken")

    def test_a_promise_whose_unit_test_does_not_run_is_a_fault(self):
        self.fault(PROMISES, "::a_token_has_one_spelling", "::with_kid",
                   "tests/unit/codec/test_token_attack.c has no case with_kid")

    def test_a_promise_whose_file_is_not_there_is_a_fault(self):
        self.fault(PROMISES, "`sessions/test_token_attacks.py::", "`sessions/test_attacks.py::",
                   "there is no file sessions/test_attacks.py")
        self.fault(PROMISES, "`src/codec/token_verify.c`", "`src/codec/verify.c`",
                   "there is no file src/codec/verify.c")

    def test_a_promise_without_a_test_is_a_fault(self):
        self.fault(PROMISES, "`tools/bench soak`", "an hour of soaking", "names no test")

    def test_a_requirement_that_is_missing_twice_or_unknown_is_a_fault(self):
        self.fault(ASVS, "| 4.3.1 |", "| 4.3.2 |", "4.3.1 is missing", "4.3.2 stands twice")
        self.fault(ASVS, "| 9.2.4 |", "| 9.2.5 |", "9.2.4 is missing", "9.2.5 is no requirement")

    def test_a_requirement_whose_evidence_is_not_there_is_a_fault(self):
        self.fault(ASVS, "`src/codec/csv.c`", "`src/codec/tables.c`", "1.2.10: there is no file src/codec/tables.c")
        self.fault(ASVS, "::formulas_are_text", "::formulas_are_numbers", "has no case formulas_are_numbers")
        self.fault(ASVS, "one place makes every error's reply (`src/api/error_reply.c`)", "see `api/no_such_test.py`",
                   "16.5.4: there is no file api/no_such_test.py")

    def test_what_is_held_without_evidence_is_a_fault(self):
        self.fault(ASVS, "| held | [below](#what-is-logged) |", "| held | we think so |",
                   "16.1.1: is held, and nothing shows it")

    def test_a_state_that_there_is_not_and_sums_that_are_wrong_are_faults(self):
        self.fault(ASVS, "| not applicable | no LDAP |", "| fine | no LDAP |", "1.2.6: has the state fine",
                   "the sums are 345, ")

    def test_cryptography_that_the_inventory_lacks_is_a_fault(self):
        self.fault(ASVS, "| `src/codec/token_memo.c` |", "| a memory |",
                   "the inventory of cryptography lacks src/codec/token_memo.c")

    def test_without_promises_nothing_was_checked(self):
        (self.root / PROMISES).write_text("# Nothing\n", encoding="utf-8")
        self.assertEqual(self.check()[0], 1)

    def test_without_a_page_nothing_was_checked(self):
        (self.root / PAGE).unlink()
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
