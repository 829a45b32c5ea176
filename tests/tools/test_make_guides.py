# SPDX-License-Identifier: MIT
"""The pages that tools/make-guides makes of the guides: /usr/bin/python3 tests/tools/test_make_guides.py."""

import html.parser
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = re.compile(r"[a-z]+:")


class Reader(html.parser.HTMLParser):
    """What a page leads to, the places in it, and what the policy of the sites forbids."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names, self.forbidden, self.in_script = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.links += [known[name] for name in ("href", "src", "action") if name in known]
        self.names += [known["id"]] if "id" in known else []
        self.forbidden += [f"{tag} {name}" for name in known if name == "style" or name.startswith("on")]
        self.forbidden += [tag] if tag in ("style", "base", "iframe", "object") else []
        self.in_script = tag == "script"

    def handle_data(self, data):
        self.forbidden += ["script in the page"] if self.in_script and data.strip() else []

    def handle_endtag(self, tag):
        self.in_script = False


def make(folder, root=TOP):
    """The status of the tool and what it says."""
    done = subprocess.run([sys.executable, "-I", "-B", TOP / "tools" / "make-guides", folder, root],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Pages(unittest.TestCase):
    """All guides of this tree."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / "html"
        cls.status, cls.said = make(cls.folder)
        cls.pages = {str(path.relative_to(cls.folder)): Reader(path.read_text(encoding="utf-8"))
                     for path in cls.folder.rglob("*.html")}

    def test_every_guide_is_a_page(self):
        self.assertEqual(self.status, 0, self.said)
        for path in [*TOP.glob("docs/*.md"), *TOP.glob("docs/decisions/*.md"), *TOP.glob("docs/*.[58]")]:
            name = str(path.relative_to(TOP / "docs")).replace("README.md", "index.md").removesuffix(".md")
            self.assertIn(f"{name}.html", self.pages)

    def test_every_link_leads_to_a_file_and_to_a_place_in_it(self):
        for page, reader in self.pages.items():
            for link in reader.links:
                if OUTSIDE.match(link):
                    continue
                name, _, inside = link.partition("#")
                target = posixpath.normpath(posixpath.join(posixpath.dirname(page), name)) if name else page
                self.assertTrue((self.folder / target).is_file(), f"{page}: {link}")
                if inside:
                    self.assertIn(inside, self.pages[target].names, f"{page}: {link}")

    def test_a_page_has_each_place_once_and_nothing_that_the_policy_forbids(self):
        for page, reader in self.pages.items():
            self.assertEqual(len(set(reader.names)), len(reader.names), page)
            self.assertEqual(reader.forbidden, [], page)

    def test_the_index_of_the_search_has_every_section(self):
        text = (self.folder / "search-index.js").read_text(encoding="utf-8")
        sections = json.loads(text[text.index("["):text.rindex(";")])
        places = {address for address, _, _, _ in sections}
        self.assertEqual(len(places), len(sections))
        for page, reader in self.pages.items():
            if page != "search.html":
                wanted = {f"{page}#{name}" for name in reader.names if name not in ("search", "content")}
                self.assertLessEqual(wanted, places)
        (found, ) = [text for address, _, _, text in sections if address == "upgrading.html#the-schema"]
        self.assertIn("schema_migration", found)

    def test_each_page_leads_to_the_next_one(self):
        seen, page = [], "first-hour.html"
        while page:
            seen.append(page)
            text = (self.folder / page).read_text(encoding="utf-8")
            following = re.search(r'rel="next" href="([^"]*)"', text)
            page = posixpath.normpath(posixpath.join(posixpath.dirname(page), following[1])) if following else None
        self.assertEqual(seen[1:3], ["api.html", "clients.html"])
        self.assertGreater(len(seen), 20)


class Faults(unittest.TestCase):
    """A small book with something wrong."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        shutil.copy(TOP / "configure.ac", self.root)
        (self.root / "docs" / "README.md").write_text("# Book\n\n## Part\n\n1. [One](one.md)\n", encoding="utf-8")

    def fault(self, text, words):
        """With this text in its only guide the book is refused with the words."""
        (self.root / "docs" / "one.md").write_text(text, encoding="utf-8")
        status, said = make(self.root / "html", self.root)
        self.assertEqual(status, 1)
        self.assertIn(words, said)

    def test_a_link_that_leads_nowhere_is_refused(self):
        self.fault("# One\n\n[two](two.md)\n", "one.md: the link two.md leads nowhere")

    def test_html_of_a_guide_is_refused(self):
        self.fault("# One\n\n<b>bold</b>\n", "one.md: HTML that is no comment: <b>")

    def test_a_guide_without_a_title_is_refused(self):
        self.fault("Some text.\n", "one.md: does not begin with a title")


if __name__ == "__main__":
    unittest.main()
