# SPDX-License-Identifier: MIT
"""The SQL texts of the sources, and the tables of the migrations."""

import re

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
TEXT = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"|\b[A-Z][A-Z0-9_]+\b)(?:\s*(?:"(?:[^"\\\n]|\\.)*"|\b[A-Z][A-Z0-9_]+\b))*')
VERB = re.compile(r"SELECT\s|INSERT (?:IGNORE )?INTO\s|UPDATE [a-z_]+\s|DELETE (?:[a-z]+ )?FROM\s|REPLACE INTO\s")
DEFINE = re.compile(r"^#define (\w+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)


def expand(text, macros, depth=0):
    """The characters of adjacent literals and of macros that stand for literals; "" for anything else."""
    parts = []
    for token in re.findall(r'"(?:[^"\\\n]|\\.)*"|\b[A-Z][A-Z0-9_]+\b', text):
        if token.startswith('"'):
            parts.append(LITERAL.fullmatch(token)[1])
        elif depth < 8:
            parts.append(expand(macros.get(token, ""), macros, depth + 1))
    return "".join(parts)


def texts(root):
    """(path, name or None, SQL) of every text of the code that begins with a verb of SQL."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((root / "src").rglob("*.[ch]"))}
    shared = {}
    for path, source in sources.items():
        if path.name.endswith(".h"):
            shared |= dict(DEFINE.findall(source))
    for path, source in sources.items():
        macros = shared | dict(DEFINE.findall(source))
        plain = re.sub(r"/\*.*?\*/", " ", source, flags=re.DOTALL)
        plain = re.sub(r"^#.*(?:\\\n.*)*$", "", plain, flags=re.MULTILINE)
        for match in TEXT.finditer(plain):
            sql = expand(match[0], macros)
            if VERB.match(sql):
                names = re.findall(r"(\w+)(?:\[\])? = \{?$", plain[:match.start()].rstrip(" \n(\"") + "")
                yield path.relative_to(root).as_posix(), names[-1] if names else None, sql


def read_tables(root):
    """The names of all tables."""
    tables = {"schema_migration"}
    for path in (root / "sql").glob("[0-9]*.sql"):
        text = path.read_text(encoding="utf-8")
        tables |= set(re.findall(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", text, re.MULTILINE))
    return tables
