# SPDX-License-Identifier: MIT
"""What every screen must hold in whatever state it is: no barrier that axe-core finds, nothing that must be scrolled
sideways, also in a window of 320 pixels and with letters of twice the size. What a screen reader is told is compared
with the tree that is kept (support_tree.py). Its pictures are kept."""

import json
import os

import support_tree

HEIGHT = 900
# axe-core looks at two of the pairs: both widths and both schemes. The others show nothing that these do not.
AXE_AT = ((1280, "light"), (375, "dark"))
# Each screen at each width in each scheme; they take longer, so only a full run makes them.
EVERYTHING = tuple((width, scheme) for width in (1280, 768, 375, 320) for scheme in ("light", "dark"))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = """axe.run(document, { resultTypes: ["violations", "incomplete"], runOnly: %s }).then((found) =>
    [...found.violations, ...found.incomplete].map(({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ").slice(0, 400)}`))""" % json.dumps(RULES)
# What hides is told by name: the widest element that reaches out of the window.
SIDEWAYS = """() => {
    const room = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= room) {
        return "";
    }
    const out = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > room + 1);
    return `${document.documentElement.scrollWidth} > ${room}: ${out.map((one) => one.outerHTML.slice(0, 120))[0]}`;
}"""
STILL = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""
USUAL_LETTERS, LARGE_LETTERS = {"standard": 16, "fixed": 13}, {"standard": 32, "fixed": 26}


class Screens:
    """Looks at pages."""

    def __init__(self, folder, axe):
        self.folder, self.axe = folder, axe
        self.pairs = EVERYTHING if os.environ.get("GATEHOUSE_PICTURES_OF") == "everything" else AXE_AT
        folder.mkdir(parents=True, exist_ok=True)

    def look(self, page, name, whole=True, told=True):
        """Looks at the page as it stands: its tree, barriers, room, pictures. `whole`: the picture shows all of it, not
        only what the window shows. `told`: its tree is compared, which is of no use where it is that of a document."""
        difference = support_tree.difference(page, name) if told else ""
        faults = [f"{name}, its tree:\n{difference}"] if difference else []
        for width, scheme in self.pairs:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme)
            # What stands above all, such as the header, must cover nothing.
            page.evaluate("(whole) => whole && scrollTo(0, 0)", whole)
            page.evaluate(STILL)
            if (width, scheme) in AXE_AT:
                faults += [f"{name}, {width} px, {scheme}: {fault}" for fault in self.barriers(page)]
            self.picture(page, f"{name}-{width}-{scheme}", whole)
        faults += [f"{name}, {where}: reaches out of the window: {fault}" for where, fault in room(page) if fault]
        page.emulate_media(color_scheme="light")
        assert not faults, "\n".join(faults)

    def picture(self, page, name, whole=False):
        """Keeps a picture of the page as it stands."""
        page.screenshot(path=self.folder / f"{name}.png", full_page=whole, caret="initial")

    def barriers(self, page):
        """What axe-core finds, certain or not, a line each. It is given to the page by the browser's debugger, so that
        the content security policy need not allow it."""
        session = page.context.new_cdp_session(page)
        if not page.evaluate("() => 'axe' in window"):
            session.send("Runtime.evaluate", {"expression": f"{self.axe}; 0"})
        answer = session.send("Runtime.evaluate", {"expression": AXE, "awaitPromise": True, "returnByValue": True})
        session.detach()
        assert "exceptionDetails" not in answer, answer
        return answer["result"]["value"]


def room(page):
    """What reaches out of a narrow window, and out of a wide one with letters of twice the size."""
    page.set_viewport_size({"width": 320, "height": HEIGHT})
    yield "320 px", page.evaluate(SIDEWAYS)
    page.set_viewport_size({"width": 1280, "height": HEIGHT})
    session = page.context.new_cdp_session(page)
    session.send("Page.setFontSizes", {"fontSizes": LARGE_LETTERS})
    page.evaluate(STILL)
    yield "letters of 200 %", page.evaluate(SIDEWAYS)
    session.send("Page.setFontSizes", {"fontSizes": USUAL_LETTERS})
    session.detach()
