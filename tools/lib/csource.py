# SPDX-License-Identifier: MIT
"""What the checks know of a C file: which external names it defines, and which names it uses.

The text is read, nothing is compiled, so a check needs no build. It relies on the format of this tree (.clang-format):
the braces of a function's body stand alone in the first column.
"""

import pathlib
import re

# A comment, a text or a character; only these may hold what looks like code.
OPAQUE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
# A name that is no member and no tag: nothing of another file is reached with . or ->, and a struct is no symbol.
NAME = re.compile(r"(?<![\w.])(?<!->)(?<!struct )(?<!union )(?<!enum )[A-Za-z_]\w*")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Static_assert\s*\([^;]*\);")
CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
LAST_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$")
# The body of a type, without another one in it.
TYPE = re.compile(r"\b(?:struct|union|enum)(?:\s+\w+)?\s*\{[^{}]*\}")
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
FUNCTION = re.compile(r"\)$")
# Data without a value: at least a type and a name, and no body of a type.
DATA = re.compile(r"^(?:static\s+|const\s+|volatile\s+)*(?:(?:struct|union|enum)\s+|(?!struct|union|enum))\w+[\s*]+\w+"
                  r"(?:\s*\[[^\]]*\])*\s*;$")


def blank(match):
    """Spaces in the place of a comment; an empty text in that of a text. Lines keep their numbers."""
    text = match[0]
    return text[0] + text[0] if text[0] in "\"'" else " " + "\n" * text.count("\n")


def blank_lines(match):
    """What leaves the numbers of lines as they are."""
    return " " + "\n" * match[0].count("\n")


def without_members(code):
    """The code with the members of its types taken out: a member may be called like a function. Constants stay."""
    before = None
    while before != code:
        before = code
        code = TYPE.sub(lambda match: " ".join(CONSTANT.findall(match[0])), code)
    return code


def statements(code):
    """(text before the first brace, whole text, place) of each declaration and definition of the outermost level."""
    depth, start, body = 0, 0, None
    for match in re.finditer(r"[{};]", code):
        if match[0] == "{":
            if depth == 0:
                body = match.start()
            depth += 1
            continue
        if match[0] == "}":
            depth -= 1
            # A function's body ends its definition; behind any other brace there is a semicolon.
            if depth != 0 or "=" in code[start:body] or ")" not in code[start:body]:
                continue
        elif depth != 0:
            continue
        end = match.end()
        yield code[start:end if body is None else body].rstrip(";").strip(), code[start:end], start
        start, body = end, None


class Source:
    """One C file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.text = self.path.read_text(encoding="utf-8")
        self.plain = OPAQUE.sub(blank, self.text)
        self.code = ATTRIBUTE.sub(blank_lines, self.plain)
        self.macros = {match[1]: set(NAME.findall(match[2])) for match in MACRO.finditer(self.code)}
        self.defined = {}  # external name: line
        self.declared = {}  # external name: line
        self.inline = {}  # static function: names in it
        self.private = set()  # static data
        outer = DIRECTIVE.sub(blank_lines, self.code)
        for head, whole, place in statements(outer):
            line = outer.count("\n", 0, place + len(whole) - len(whole.lstrip())) + 1
            if FUNCTION.search(head) and "=" not in head:
                self.read_function(head, whole, line)
            else:
                self.read_data(head, whole, line)
        # What directives name counts as well: macros of the file itself, conditions.
        self.names = set(NAME.findall(without_members(self.code))) - self.inline.keys() - self.private

    def read_function(self, head, whole, line):
        """Notes a definition or a declaration of a function."""
        name = CALLED.search(head)
        if name is None or head.startswith("typedef") or name[1].isupper():
            return
        if head.startswith("static"):
            self.inline[name[1]] = set(NAME.findall(whole))
        else:
            (self.defined if "{" in whole else self.declared)[name[1]] = line

    def read_data(self, head, whole, line):
        """Notes a definition or a declaration of data; a type alone is neither."""
        if head.startswith("extern"):
            self.declared.update((name, line) for name in re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:,|$)", head))
            return
        has_value = "=" in whole.split("{")[0]
        if head.startswith("typedef") or (not has_value and not DATA.match(whole.strip())):
            return
        name = LAST_NAME.search(head.split("=")[0].strip())
        if name is None:
            return
        if head.startswith("static"):
            self.private.add(name[1])
        elif self.path.suffix == ".c":
            self.defined[name[1]] = line
        else:
            self.declared[name[1]] = line


def read(root, *tops):
    """Every C file below the folders, as {path below the root: Source}."""
    found = {}
    for top in tops:
        for path in sorted((root / top).glob("**/*")):
            if path.suffix in (".c", ".h", ".def") and path.is_file():
                found[str(path.relative_to(root))] = Source(path)
    return found


def reach(source, macros):
    """The names that a file uses, those in the macros and inline functions of headers that it uses included."""
    names, todo = set(), set(source.names)
    while todo:
        names |= todo
        todo = set().union(*(macros.get(name, ()) for name in todo)) - names
    return names


def shared_macros(sources):
    """Macros and inline functions of headers: name and the names in them."""
    found = {}
    for name, source in sources.items():
        if not name.endswith(".c"):
            for word, names in [*source.macros.items(), *source.inline.items()]:
                found.setdefault(word, set()).update(names)
    return found
