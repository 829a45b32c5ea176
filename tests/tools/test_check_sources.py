# SPDX-License-Identifier: MIT
"""The checks of the sources find what they say that they find: /usr/bin/python3 tests/tools/test_check_sources.py."""

import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECKS = TOP / "tools" / "checks"
LICENCE = "/* SPDX-License-Identifier: MIT */\n"


def function(name, body="    return 0;\n"):
    """A function of C."""
    return f"int {name}(void)\n{{\n{body}}}\n"


class Tree(unittest.TestCase):
    """A small tree of two modules, in which one uses the other, and a test that uses both."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in (".clang-format", ".flake8"):
            self.write(name, (TOP / name).read_text(encoding="utf-8"))
        self.write("include/base/low.h", "int low(void);\n")
        self.write("src/base/low.c", '#include "base/low.h"\n\n' + function("low"))
        self.write("include/codec/high.h", "int high(void);\n")
        self.write("src/codec/high.c", '#include "codec/high.h"\n\n#include "base/low.h"\n\n'
                   + function("high", "    return low();\n"))
        self.write("src/codec/main.c", '#include "codec/high.h"\n\n' + function("main", "    return high();\n"))
        self.write("tests/unit/base/test_low.c", '#include "base/low.h"\n')
        self.write("tools/tool.py", "def tool():\n    print(1)\n\n\ntool()\n")

    def write(self, name, text):
        """A file of the tree; one of C has a licence."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((LICENCE if path.suffix in (".c", ".h") else "") + text, encoding="utf-8")

    def check(self, name):
        """The status of a check and what it says."""
        options = ["--root"] if name == "format" else []
        done = subprocess.run([CHECKS / f"check-{name}", *options, self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def good(self, name):
        """The check must find nothing."""
        status, said = self.check(name)
        self.assertEqual(status, 0, said)

    def fault(self, name, words):
        """The check must fail and say these words."""
        status, said = self.check(name)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)


class Checks(Tree):
    """Every check finds nothing in the tree as it is, and fails where there is nothing to read."""

    NAMES = ("includes", "dead", "size", "format", "spelling")

    def test_a_good_tree_has_no_fault(self):
        for name in self.NAMES:
            self.good(name)

    def test_a_check_without_input_fails(self):
        with tempfile.TemporaryDirectory() as empty:
            self.root = pathlib.Path(empty)
            for name in (*self.NAMES, "python", "shell"):
                self.assertEqual(self.check(name)[0], 1, name)


class Includes(Tree):
    """check-includes."""

    def test_an_include_that_goes_up_is_a_fault(self):
        self.write("src/base/low.c", '#include "base/low.h"\n#include "codec/high.h"\n\n' + function("low"))
        self.fault("includes", 'src/base/low.c:3: "codec/high.h": base must not see codec')

    def test_two_files_that_use_each_other_are_a_fault_although_no_include_shows_it(self):
        self.write("src/base/low.c", "int again(void);\n" + function("low", "    return again();\n"))
        self.write("src/base/other.c", '#include "base/low.h"\n\n' + function("again", "    return low();\n"))
        self.fault("includes", "src/base/low.c uses src/base/other.c: again")

    def test_a_circle_through_a_macro_of_a_header_is_found(self):
        self.write("include/base/low.h", "int low(void);\nint again(void);\n#define AGAIN() again()\n")
        self.write("src/base/low.c", '#include "base/low.h"\n\n' + function("low", "    return AGAIN();\n"))
        self.write("src/base/other.c", '#include "base/low.h"\n\n' + function("again", "    return low();\n"))
        self.fault("includes", "src/base/low.c uses src/base/other.c: again")

    def test_a_member_or_a_static_function_of_the_same_name_is_no_use(self):
        self.write("src/base/low.c", "struct pair {\n    int high;\n};\n\nstatic " + function("other")
                   + function("low", "    struct pair pair = {.high = other()};\n    return pair.high;\n"))
        self.write("src/base/other.c", '#include "base/low.h"\n\n' + function("again", "    return low();\n"))
        self.good("includes")

    def test_a_private_header_of_a_wing_belongs_to_the_wing(self):
        self.write("src/codec/wing/part_int.h", "int part(void);\n")
        self.write("src/codec/wing/part.c", '#include "codec/wing/part_int.h"\n\n' + function("part"))
        self.good("includes")
        self.write("src/codec/other/user.c", '#include "codec/wing/part_int.h"\n\n'
                   + function("user", "    return part();\n"))
        self.fault("includes", "codec/wing/part_int.h is private to codec/wing")

    def test_a_header_in_src_is_called_private(self):
        self.write("src/codec/part.h", "int part(void);\n")
        self.fault("includes", "src/codec/part.h: a header in src is private, so its name ends in _int.h")

    def test_an_include_names_the_whole_path(self):
        self.write("src/base/part_int.h", "int part(void);\n")
        self.write("src/base/low.c", '#include "part_int.h"\n\n' + function("low"))
        self.fault("includes", "a header of ours is included by its path")


class Dead(Tree):
    """check-dead."""

    def test_what_nothing_uses_is_a_fault(self):
        self.write("src/codec/main.c", function("main"))
        self.fault("dead", "src/codec/high.c:6: high: nothing uses it")

    def test_what_its_own_file_alone_uses_should_be_static(self):
        self.write("src/base/low.c", '#include "base/low.h"\n\n' + function("alone")
                   + "\n" + function("low", "    return alone();\n"))
        self.fault("dead", "alone: its own file alone uses it: make it static")

    def test_what_tests_alone_use_must_say_so(self):
        self.write("src/codec/high.c", '#include "codec/high.h"\n\n' + function("high"))
        self.write("tests/unit/base/test_low.c", '#include "base/low.h"\n\nstatic '
                   + function("test", "    return low();\n"))
        self.fault("dead", "low: tests alone use it")
        self.write("include/base/low.h", "\n/* What a test asks. */\nint low(void);\n")
        self.good("dead")

    def test_a_declaration_needs_a_definition(self):
        self.write("include/base/low.h", "int low(void);\nint missing(void);\n")
        self.fault("dead", "include/base/low.h:3: missing: nothing defines it")

    def test_macros_and_python_are_read_as_well(self):
        self.write("include/base/low.h", "#define LONELY 1\nint low(void);\n")
        self.fault("dead", "LONELY: nothing uses this macro")
        self.write("tools/tool.py", "def lonely():\n    print(1)\n")
        self.fault("dead", "unused function 'lonely'")


class Size(Tree):
    """check-size."""

    def test_each_bound_holds(self):
        self.write("src/base/low.c", function("low", "    ;\n" * 58))
        self.fault("size", "src/base/low.c:2 low: lines of C functions: 61, at most 60")
        self.write("src/base/low.c", function("low", "    return 1 " + "|| 1" * 15 + ";\n"))
        self.fault("size", "src/base/low.c:2 low: complexity of functions: 16, at most 15")
        self.write("src/base/low.c", "\n" * 500)
        self.fault("size", "src/base/low.c: lines of files: 501, at most 500")
        self.write("src/base/low.c", f"/* {'x' * 115} */\n")
        self.fault("size", "src/base/low.c:2: longest lines: 121, at most 120")
        self.write("src/base/low.c", function("low", "    ;\n" * 22))
        self.fault("size", "lines of C functions: one of ten exceeds 25, at most 24")

    def test_a_folder_has_a_bound(self):
        for number in range(24):
            self.write(f"src/base/part{number}.c", "\n")
        self.fault("size", "src/base: files of folders: 25, at most 24")

    def test_a_folder_of_tests_has_that_bound_too(self):
        for number in range(25):
            self.write(f"tests/http/part/test_{number}.py", "pass\n")
        self.fault("size", "tests/http/part: files of folders: 25, at most 24")

    def test_the_folder_of_tools_has_that_bound_too(self):
        for number in range(24):
            self.write(f"tools/tool-{number}", "#!/bin/sh\n")
        self.fault("size", "tools: files of folders: 25, at most 24")

    def test_lines_that_are_no_source_have_a_bound_where_they_can_be_broken(self):
        words = "word " * 30
        for name in ("src/base/local.mk", "web/page.html", "nginx/site.conf.in", "systemd/unit.in", "configure.ac"):
            self.write(name, words + "\n")
            self.fault("size", f"{name}:1: longest lines: 150, at most 120")
            (self.root / name).unlink()
        self.write("sql/001-first.sql", f"-- {words}\n")
        self.write("nginx/site.conf.in", f"return 200 '{words}';\n")
        self.write("configure.ac", f"AC_MSG_ERROR([{words}])\n")
        self.good("size")

    def test_functions_of_python_are_measured(self):
        self.write("tools/tool.py", "def long():\n" + "    print(1)\n" * 60)
        self.fault("size", "tools/tool.py:1 long: lines of Python functions: 61, at most 60")
        self.write("tools/tool.py", "def ways(a):\n    return " + " or ".join("a" * 16) + "\n")
        self.fault("size", "tools/tool.py:1 ways: complexity of functions: 16, at most 15")


class Form(Tree):
    """check-format, check-python, check-shell and check-spelling."""

    def test_c_that_is_written_otherwise_is_a_fault_until_it_is_written(self):
        self.good("format")
        self.write("src/base/low.c", "int low(void) { return 0; }\n")
        status, said = self.check("format")
        if "skipped" in said:
            self.skipTest(said)
        self.assertEqual(status, 1, said)
        self.assertIn("check-format: src/base/low.c:2", said)
        subprocess.run([CHECKS / "check-format", "--write", "--root", self.root], stdout=subprocess.DEVNULL,
                       check=True)
        self.good("format")
        self.assertIn(function("low"), (self.root / "src/base/low.c").read_text(encoding="utf-8"))

    def test_scripts_are_known_by_their_first_line(self):
        self.good("python")
        self.write("tools/other", "#!/usr/bin/env python3\nimport os\n")
        self.fault("python", "tools/other:2:1: F401")
        self.write("tools/script", '#!/bin/sh\necho "$1"\n')
        self.good("shell")
        self.write("tools/script", "#!/bin/sh\necho $1\n")
        self.fault("shell", "SC2086")

    def test_a_template_is_in_the_language_of_what_is_made_of_it(self):
        self.write("tools/script.in", '#!/bin/sh\nexec @bindir@/one "$1"\n')
        self.good("shell")
        self.write("tools/script.in", "#!/bin/sh\nexec @bindir@/one $1\n")
        self.fault("shell", "SC2086")

    def test_prose_is_british_and_spelt_right_and_code_is_left_alone(self):
        self.write("src/base/low.c", "/* Its colour. */\nint color;\nint normalize(void);\n")
        self.good("spelling")
        for text in ("/* Its color. */\n", 'const char *text = "one color of many";\n', "/* To normalize it. */\n",
                     "/* Their behavior. */\n"):
            self.write("src/base/low.c", text)
            self.fault("spelling", "in British English")
        self.write("src/base/low.c", "/* To recieve it. */\n")
        self.fault("spelling", "recieve ==> receive")
        self.write("src/base/low.c", "\n")
        self.write("guide.md", "Say `color: red`, and no more of that center.\n")
        self.fault("spelling", "guide.md:1: center: centre in British English")


if __name__ == "__main__":
    unittest.main()
