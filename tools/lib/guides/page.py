# SPDX-License-Identifier: MIT
"""One document as HTML: its title, its sections with their plain text, and the files that it leads to."""

import os
import posixpath
import re
import subprocess

from anchor import anchor
from markdown_it import MarkdownIt
from places import MANUAL, place

COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)
OUTSIDE = re.compile(r"[a-z]+:")
ALIGNED = re.compile(r"text-align:(left|center|right)")


class Problem(Exception):
    """A document that cannot be rendered."""


class Section:
    """A heading, its anchor, and the text below it."""

    def __init__(self, level, heading, name):
        self.level, self.heading, self.name, self.texts = level, heading, name, []


def read(path):
    """The text of a document as Markdown."""
    if not MANUAL.search(path.name):
        return path.read_text(encoding="utf-8")
    done = subprocess.run(["mandoc", "-Tmarkdown", path], stdout=subprocess.PIPE, encoding="utf-8", check=True,
                          env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"})
    # The first and the last line name the machine; headings are one level too high below a title of our own.
    body = "\n".join(done.stdout.strip().split("\n")[1:-1])
    name, _, section = path.name.rpartition(".")
    return f"# {name}({section})\n" + re.sub(r"(?m)^(#+ )", r"#\1", body)


class Page:
    """`path`: the document; `root`: the top of the sources."""

    def __init__(self, root, path):
        self.root, self.path = root, path
        self.place = place(path.relative_to(root))
        self.sections, self.names, self.files = [], {}, []
        parser = MarkdownIt("commonmark").enable("table")
        self.tokens = parser.parse(read(path))
        for token, following in zip(self.tokens, [*self.tokens[1:], None]):
            self._look_at(token, following)
        if not self.sections or self.sections[0].level != 1:
            raise Problem(f"{path}: does not begin with a title")
        parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0">\n<table>\n')
        parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
        parser.add_render_rule("fence", fence)
        self.html = parser.renderer.render(self.tokens, parser.options, {})

    @property
    def title(self):
        """The first heading."""
        return self.sections[0].heading

    def address(self, target):
        """How this page names another place of the book, `target`."""
        return posixpath.relpath(target, self.place.parent)

    def _look_at(self, token, following):
        if token.type == "heading_open":
            self._begin(token, following)
        elif token.type == "inline":
            for child in token.children:
                self._look_into(child)
            self._say(" ".join(plain(token).split()))
        elif token.type in ("fence", "code_block"):
            self._say(" ".join(token.content.split()))
        elif token.type == "html_block":
            self._drop(token)
        elif "style" in token.attrs:
            # Pages may have no style of their own.
            token.attrs = {"class": ALIGNED.fullmatch(token.attrs["style"])[1]}

    def _say(self, text):
        if self.sections and text and text != self.sections[-1].heading:
            self.sections[-1].texts.append(text)

    def _begin(self, token, following):
        name = anchor(following.content)
        count = self.names[name] = self.names.get(name, -1) + 1
        name = f"{name}-{count}" if count else name
        token.attrSet("id", name)
        self.sections.append(Section(int(token.tag[1]), " ".join(plain(following).split()), name))

    def _look_into(self, child):
        if child.type == "link_open":
            child.attrs["href"] = self._lead(child.attrs["href"])
        elif child.type == "image":
            child.attrs["src"] = self._lead(child.attrs["src"])
        elif child.type == "html_inline":
            self._drop(child)

    def _drop(self, token):
        if not COMMENT.fullmatch(token.content):
            raise Problem(f"{self.path}: HTML that is no comment: {token.content}")
        token.content = ""

    def _lead(self, target):
        """The address in the book of what a link leads to."""
        if OUTSIDE.match(target) or target.startswith("#"):
            return target
        name, _, inside = target.partition("#")
        path = (self.path.parent / name).resolve()
        if not path.is_file():
            raise Problem(f"{self.path}: the link {target} leads nowhere")
        self.files.append(path)
        return self.address(place(path.relative_to(self.root))) + (f"#{inside}" if inside else "")


def fence(parser, tokens, index, _options, _environment):
    """A block of code, which may be wider than the page: who has no mouse must be able to move it."""
    escaped = tokens[index].content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<pre tabindex="0"><code>{escaped}</code></pre>\n'


def plain(token):
    """The text of an inline token without its marks."""
    words = {"softbreak": " ", "hardbreak": " "}
    return "".join(child.content if child.type in ("text", "code_inline", "image") else words.get(child.type, "")
                   for child in token.children)
