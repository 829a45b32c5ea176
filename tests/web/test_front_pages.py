# SPDX-License-Identifier: MIT
"""The pages that need no mail and nobody who is signed in: old addresses, the interface."""

import pytest
from playwright.sync_api import expect

from support.accounts import fresh_password
from support_keyboard import Keyboard


@pytest.mark.parametrize("path", ["index", "sign-in"])
def test_old_addresses_lead_to_the_console(visit, path):
    page = visit.page(path)
    expect(page).to_have_url(f"{visit.stack.web_url}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_the_interface_is_read_and_searched(visit, screens):
    page = visit.page("api")
    expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")
    screens.look(page, "api", whole=False, told=False)
    keys = Keyboard(page).fill(page.get_by_role("searchbox"), "file.duplicate")
    expect(page.get_by_role("status")).to_contain_text("Error codes: 1.")
    screens.look(page, "api-found", whole=False, told=False)
    keys.fill(page.get_by_role("searchbox"), f"no word {fresh_password()}")
    expect(page.get_by_role("status")).to_contain_text("Nothing has all these words")


def test_the_address_of_an_error_leads_to_its_code(visit):
    page = visit.page("api#error-file.duplicate")
    expect(page.locator("#error-file\\.duplicate")).to_be_focused()
    expect(page.locator("#error-file\\.duplicate")).to_be_in_viewport()
