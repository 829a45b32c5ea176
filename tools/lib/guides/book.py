# SPDX-License-Identifier: MIT
"""The book: its contents as docs/README.md has them, and each page in its frame."""

import html
import json
import pathlib
import re

from page import Page
from places import is_page, place

FRAME = """<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>{title} · Gatehouse</title>
<link rel="stylesheet" href="{top}frame.css">
<link rel="stylesheet" href="{top}style.css">
{head}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<p class="product"><a href="{top}index.html">Gatehouse</a> <span>Guides</span></p>
<form role="search" action="{top}search.html">
<label class="unseen" for="search">Search the guides</label>
<input id="search" name="q" type="search" placeholder="Search the guides" autocomplete="off" spellcheck="false"
 maxlength="100">
</form>
<p class="version">{version}</p>
</header>
<div class="columns">
<nav aria-label="Contents">
{contents}</nav>
<main id="content" tabindex="-1">
{body}</main>
</div>
</body>
</html>
"""
# What the guides share with the page "Interface".
FRAME_STYLE = pathlib.Path(__file__).resolve().parents[3] / "web" / "api" / "frame.css"
SEARCH = """<h1>Search</h1>
<noscript><p>Searching needs JavaScript. The contents name every guide.</p></noscript>
<p id="state" role="status">Type a word or several above.</p>
<ol id="found"></ol>
"""
SCRIPTS = '<script defer src="search-index.js"></script>\n<script defer src="search.js"></script>\n'


class Book:
    """All pages that can be reached from docs/README.md, the pictures and other files that they name."""

    def __init__(self, root, version):
        self.root, self.version = root, version
        self.pages, self.files = {}, set()
        self.contents = root / "docs" / "README.md"
        waiting = [self.contents]
        while waiting:
            path = waiting.pop()
            if path not in self.pages:
                page = self.pages[path] = Page(root, path)
                waiting += [file for file in page.files if is_page(file)]
                self.files.update(file for file in page.files if not is_page(file))
        self.groups = list(self._groups())
        self.order = [page for _, entries in self.groups for _, page, name in entries if not name]

    def _groups(self):
        """(heading, [(text, page, anchor)]): the links in the lists of docs/README.md below each heading."""
        heading, entries, depth = None, [], 0
        for token, before in zip(self.pages[self.contents].tokens, [None, *self.pages[self.contents].tokens]):
            depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
            if token.type == "inline" and before.type == "heading_open" and before.tag == "h2":
                heading, entries = token.content, []
                yield heading, entries
            elif token.type == "inline" and depth:
                entries.extend(self._entries(token))

    def _entries(self, token):
        places = {str(page.place): page for page in self.pages.values()}
        for link, text in zip(token.children, token.children[1:]):
            if link.type == "link_open":
                name, _, inside = link.attrs["href"].partition("#")
                if name in places:
                    yield text.content, places[name], inside

    def write(self, folder):
        """Writes all of it."""
        for page in self.pages.values():
            self._write(folder / page.place, page, page.title, page.html + self._neighbours(page))
        self._write(folder / "search.html", None, "Search", SEARCH, SCRIPTS)
        for file in self.files:
            copy(file, folder / place(file.relative_to(self.root)))
        for name in ("style.css", "search.js"):
            copy(pathlib.Path(__file__).parent / name, folder / name)
        copy(FRAME_STYLE, folder / FRAME_STYLE.name)
        (folder / "search-index.js").write_text(self._index(), encoding="utf-8")

    def _write(self, path, page, title, body, head=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        top = "../" * (len(page.place.parts) - 1) if page else ""
        path.write_text(FRAME.format(title=html.escape(title), top=top, head=head, version=self.version, body=body,
                                     contents=self._contents(page, top)), encoding="utf-8")

    def _contents(self, page, top):
        lines = []
        for heading, entries in self.groups:
            lines += [f"<h2>{html.escape(heading)}</h2>", "<ul>"]
            for text, other, inside in entries:
                here = page is other and not inside
                address = f"{top}{other.place}" + (f"#{inside}" if inside else "")
                lines.append(f'<li><a href="{address}"{" aria-current=" + chr(34) + "page" + chr(34) if here else ""}>'
                             f"{html.escape(text)}</a>")
                lines += parts(page) if here else []
                lines.append("</li>")
            lines.append("</ul>")
        return "\n".join(lines) + "\n"

    def _neighbours(self, page):
        """The links to the page before and to the next one."""
        if page not in self.order:
            return ""
        index = self.order.index(page)
        lines = ['<p class="neighbours">']
        for word, at in (("prev", index - 1), ("next", index + 1)):
            if 0 <= at < len(self.order):
                other = self.order[at]
                lines.append(f'<a rel="{word}" href="{page.address(other.place)}">{html.escape(other.title)}</a>')
        return "\n".join([*lines, "</p>\n"])

    def _index(self):
        """A script, since a page that lies in a folder may load one and may fetch nothing."""
        rows = [[f"{page.place}#{section.name}", page.title, section.heading, " ".join(section.texts)]
                for page in sorted(self.pages.values(), key=self._rank) for section in page.sections]
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        return f'"use strict";\n// Address, title, heading, text.\nconst SECTIONS = [\n{lines}];\n'

    def _rank(self, page):
        return self.order.index(page) if page in self.order else len(self.order), str(page.place)


def parts(page):
    """The headings of the second level, for the contents."""
    found = [section for section in page.sections if section.level == 2]
    lines = [f'<li><a href="#{section.name}">{html.escape(section.heading)}</a></li>' for section in found]
    return ["<ul>", *lines, "</ul>"] if lines else []


def copy(source, target):
    """A file as it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())


def version(root):
    """The version that configure.ac names."""
    text = (root / "configure.ac").read_text(encoding="utf-8")
    return re.search(r"AC_INIT\(\[gatehouse\], \[([^]]*)\]", text)[1]
