# SPDX-License-Identifier: MIT
"""What the first screen costs on a line with 100 ms there and back. The number of requests is asserted; the time is
printed, since it depends on the machine."""

import re

import pytest
from playwright.sync_api import expect

from support_console import CONSOLE, signed_in, signed_in_once

LINE = {"offline": False, "latency": 100, "downloadThroughput": -1, "uploadThroughput": -1}
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
SHOWN = """() => new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true }))"""
STATIC = re.compile(r"\.(html|js|css|svg|ico)$")
# The page, what it names, its icon, and the modules of Home. Over HTTP/1.1 six are asked for at a time.
MOST_FILES = 29
# The files come in so many steps: the page, what it names, and what the screen needs that is not known before.
MOST_STEPS = 3
# Sign-in: the name and colours. Home: those, the session, who one is, and what stands there.
MOST_CALLS = {"sign-in": 1, "home": 6}


class Line:
    """Watches what a page asks for, on a slow line."""

    def __init__(self, visit, page):
        self.home, self.step = f"{visit.stack.web_url}/", {}
        session = visit.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self.asked)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", LINE)

    def asked(self, event):
        """A request comes one step after what asks for it: the page, or the script that runs just then."""
        address, initiator = event["request"]["url"].partition("#")[0], event["initiator"]
        frames = initiator.get("stack", {}).get("callFrames", [])
        by = frames[0]["url"] if frames else initiator.get("url", "")
        assert address not in self.step, f"{address} is asked for twice"
        self.step[address] = self.step.get(by, 0) + 1

    def paths(self):
        """{path: step} of the files, and the paths of the calls."""
        steps = {address.removeprefix(self.home).partition("?")[0]: step for address, step in self.step.items()}
        files = {path: step for path, step in steps.items() if path == "" or STATIC.search(path)}
        return files, [path for path in steps if path not in files]


@pytest.mark.parametrize("screen", MOST_CALLS)
def test_the_first_screen_asks_little(visit, owner, capsys, screen):
    if screen == "home":
        signed_in_once(visit, owner)
    page = visit.page("about:blank")
    line = Line(visit, page)
    page.goto(CONSOLE)
    if screen == "home":
        signed_in(page)
    else:
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.wait_for_load_state("networkidle")
    files, calls = line.paths()
    assert len(files) <= MOST_FILES, sorted(files)
    assert max(files.values()) <= MOST_STEPS, files
    assert len(calls) <= MOST_CALLS[screen], calls
    with capsys.disabled():
        print(f"\n{screen} at 100 ms: painted after {page.evaluate(PAINTED):.0f} ms, whole after"
              f" {page.evaluate(SHOWN):.0f} ms; {len(files)} files and {len(calls)} calls")
