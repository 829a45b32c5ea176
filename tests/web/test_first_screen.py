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
# Sign-in: the name and colours. Home: those, the session, who one is, and what stands there.
MOST = {"sign-in": 1, "home": 6}


@pytest.mark.parametrize("screen", MOST)
def test_the_first_screen_asks_little(visit, owner, capsys, screen):
    if screen == "home":
        signed_in_once(visit, owner)
    page = visit.page("about:blank")
    visit.context.new_cdp_session(page).send("Network.emulateNetworkConditions", LINE)
    asked = []
    home = f"{visit.stack.web_url}/"
    page.on("request", lambda request: asked.append(request.url.removeprefix(home).partition("?")[0]))
    page.goto(CONSOLE)
    if screen == "home":
        signed_in(page)
    else:
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.wait_for_load_state("networkidle")
    files = [path for path in asked if path == "" or STATIC.search(path)]
    calls = [path for path in asked if path not in files]
    assert len(files) == len(set(files)), "a file is asked for twice"
    assert len(calls) <= MOST[screen], calls
    with capsys.disabled():
        print(f"\n{screen} at 100 ms: painted after {page.evaluate(PAINTED):.0f} ms, whole after"
              f" {page.evaluate(SHOWN):.0f} ms; {len(files)} files and {len(calls)} calls")
