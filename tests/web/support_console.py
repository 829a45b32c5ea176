# SPDX-License-Identifier: MIT
"""Ways into the console and through its menu, which every test of it takes."""

from playwright.sync_api import expect

from support_keyboard import Keyboard
from support_visit import field

CONSOLE = "./"


def sign_in(page, username, password):
    """Types both into the form that is shown, by keyboard alone; returns the keyboard."""
    keys = Keyboard(page).fill(field(page, "E-mail address"), username)
    return keys.fill(field(page, "Password"), password).press("Enter")


def signed_in(page):
    """Waits for the console of whoever is signed in."""
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.locator("header.top")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def enter(visit, account, where=""):
    """A tab of the console, signed in as the account, at a place such as "#/team"."""
    page = visit.page(CONSOLE + where)
    sign_in(page, account.email, account.password)
    signed_in(page)
    return page


def refused(page, *parts):
    """The summary of what is wrong has the focus and says all of this."""
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    for part in parts:
        expect(summary).to_contain_text(part)


def account_menu(page, item):
    """Chooses an item of the menu of one's own account, by keyboard alone."""
    keys = Keyboard(page).use(page.locator("header.top .menu > button"))
    chosen = page.get_by_role("menuitem", name=item)
    expect(chosen).to_be_visible()
    keys.to(chosen, "ArrowDown").press("Enter")
    return keys
