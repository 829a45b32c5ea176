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


def known_device(visit):
    """Whether the browser has the mark of a device on which somebody has signed in, and shows it to a login."""
    cookies = visit.context.cookies(f"{visit.stack.web_url}/customers/login")
    return [cookie["name"].removeprefix("__Secure-") for cookie in cookies] == ["gatehouse-device"]


def signed_in_once(visit, account):
    """Makes a browser that of somebody who has signed in before: with the cookie of a session, and the mark that there
    is one. The form has its own tests, tests/web/test_sessions.py. Returns the visit."""
    reply = visit.context.request.post("customers/login", headers={"Origin": visit.origin}, data={
        "username": account.email, "password": account.password, "session": "cookie"})
    assert reply.ok, reply.text()
    visit.page("robots.txt").evaluate("() => localStorage.setItem('gatehouse-session', '1')")
    return visit


def opened(visit, where=""):
    """Another tab of the console for whoever is signed in, at a place such as "#/team"."""
    page = visit.page(CONSOLE + where)
    signed_in(page)
    return page


def enter(visit, account, where=""):
    """A tab of the console for the account, which signs in."""
    return opened(signed_in_once(visit, account), where)


def at(page, where):
    """Goes to a place of the console without loading the page again."""
    page.evaluate("(where) => { location.hash = where; }", where)
    return page


def choice(page, label):
    """The filter of a list with that label."""
    return page.get_by_role("combobox", name=label, exact=True)


def told(page, text):
    """Waits for the word at the lower edge, and puts it away."""
    one = page.locator(".toast").filter(has_text=text)
    expect(one).to_be_visible()
    one.get_by_role("button", name="Close").click()
    expect(one).to_have_count(0)


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
