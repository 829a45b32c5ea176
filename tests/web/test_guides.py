# SPDX-License-Identifier: MIT
"""The guides as pages, at /docs/: they are read and searched under the policy of the site."""

from playwright.sync_api import expect

from support_keyboard import Keyboard


def test_the_guides_are_read_and_searched(visit, screens):
    page = visit.page("docs")
    expect(page.get_by_role("heading", level=1)).to_have_text("The guides")
    # axe-core cannot tell the colours of what is scrolled out of a part of a page, such as a wide table.
    screens.look(page, "guides", whole=False, told=False)
    page.get_by_role("navigation").get_by_role("link", name="Error codes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Error codes")
    Keyboard(page).fill(page.get_by_role("searchbox"), "upload.checksum sha256").press("Enter")
    found = page.get_by_role("main").get_by_role("listitem")
    expect(found.get_by_role("link", name="Files: Resumable uploads")).to_be_visible()
    expect(found.locator("mark").first).to_be_visible()
    screens.picture(page, "guides-found")
    Keyboard(page).fill(page.get_by_role("searchbox"), "upload.checksum otter")
    expect(page.get_by_role("status")).to_have_text("Nothing has all of these words.")
    Keyboard(page).fill(page.get_by_role("searchbox"), "resumable")
    found.get_by_role("link", name="Files: Resumable uploads").click()
    expect(page.locator("#resumable-uploads")).to_be_in_viewport()


def test_a_guide_needs_no_script(visits):
    page = visits(java_script_enabled=False).page("docs/architecture.html")
    expect(page.get_by_role("main").get_by_role("img").first).to_be_visible()
