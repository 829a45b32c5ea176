# SPDX-License-Identifier: MIT
"""The pages where not all is as it should be: no script, no network, a slow network, a hurried hand, other settings of
the reader."""

import re

import pytest
from playwright.sync_api import expect

from support.accounts import fresh_password
from support_console import CONSOLE, signed_in
from support_keyboard import Keyboard
from support_visit import field

FORMS = ("first-login", "confirm", "reset", "cancel-email")
WORDS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) {
        if (walker.currentNode.parentElement.closest("noscript") === null) {
            found.push(walker.currentNode.data.replace(/\\s+/g, " ").trim());
        }
    }
    return [document.title, ...found.filter((text) => /[a-z]{2}/i.test(text))];
}"""
# These words are the same in every language, or are what somebody has chosen.
SAME = {"Gatehouse", "Code", "Name", "Organisation", "English", "Deutsch"}


@pytest.mark.parametrize("path", [CONSOLE, "api", *FORMS])
def test_without_scripts_a_page_says_so(visits, path):
    page = visits(java_script_enabled=False).page(path)
    said = page.locator("noscript p").filter(visible=True)
    expect(said).to_contain_text("This page needs JavaScript.")


@pytest.mark.parametrize("path", FORMS)
def test_without_scripts_a_form_cannot_be_sent(visits, path):
    page = visits(java_script_enabled=False).page(path)
    sending = page.locator("button[type=submit]").filter(visible=True)
    expect(sending).to_be_disabled()
    expect(page.locator("form").first).to_have_attribute("method", "post")


def test_without_a_network_the_form_is_kept_and_can_be_sent_again(visit, screens, owner):
    page = visit.page(CONSOLE)
    keys = Keyboard(page).fill(field(page, "E-mail address"), owner.email)
    keys.fill(field(page, "Password"), owner.password)
    visit.expect("failed", "/customers/login")
    visit.offline(True)
    keys.press("Enter")
    expect(page.get_by_role("alert")).to_be_focused()
    screens.look(page, "sign-in-offline")
    expect(field(page, "Password")).to_have_value(owner.password)
    visit.offline(False)
    keys.use(page.get_by_role("button", name="Sign in"))
    expect(page.get_by_role("navigation", name="Menu")).to_be_visible()


def held_back(visit, address):
    """Holds what the pages ask for at the address, as a slow network does. Returns a function that lets it through."""
    held, holds = [], [True]
    visit.context.route(address, lambda route: held.append(route) if holds else route.continue_())

    def let_through():
        holds.clear()
        for route in held:
            route.continue_()
    return let_through


def test_on_a_slow_network_a_form_is_sent_once(visit, accounts):
    invited = accounts.invited()
    page = visit.page(invited.link)
    keys = Keyboard(page)
    password = visit.secret(fresh_password())
    keys.fill(field(page, "Temporary password"), invited.temporary)
    keys.fill(field(page, "New password"), password)
    keys.fill(field(page, "New password again"), password)
    let_through = held_back(visit, re.compile("/customers/login$"))
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/login") else None)
    button = page.get_by_role("button", name="Set my password")
    button.dblclick()
    expect(page.locator("form").filter(visible=True)).to_have_attribute("aria-busy", "true")
    keys.press("Enter")
    let_through()
    signed_in(page)
    assert len(sent) == 1


def test_a_slow_page_cannot_be_sent_before_its_script_is_there(visit):
    page = visit.page()
    let_through = held_back(visit, re.compile(r"/assets/reset\.js"))
    page.goto("reset", wait_until="commit")
    button = page.locator("button[type=submit]").filter(visible=True)
    expect(button).to_be_disabled()
    let_through()
    expect(button).to_be_enabled()
    expect(field(page, "E-mail address")).to_be_editable()


@pytest.mark.parametrize("path", [CONSOLE, "api", *FORMS])
def test_every_page_can_be_walked_through_with_tab(visit, path):
    page = visit.page("api?search=logout" if path == "api" else path)
    expect(page.locator("button[type=submit]:disabled").filter(visible=True)).to_have_count(0)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    expect(page.locator("a, button, input").first).to_be_visible()
    assert Keyboard(page).walk()


@pytest.mark.parametrize("path", [CONSOLE, *FORMS])
def test_german_pages_have_no_english_word(visits, path):
    german = visits(locale="de-DE").page(path)
    expect(german.locator("html")).to_have_attribute("lang", re.compile("^de"))
    english = visits().page(path)
    expect(english.locator("html")).to_have_attribute("lang", re.compile("^en"))
    for page in (german, english):
        expect(page.get_by_role("heading", level=1).filter(visible=True)).to_be_visible()
    both = set(german.evaluate(WORDS)) & set(english.evaluate(WORDS)) - SAME
    assert not both, f"in both languages: {sorted(both)}"


@pytest.mark.parametrize("path", [CONSOLE, "api", *FORMS])
def test_forced_colours_leave_nothing_unseen(visits, screens, path):
    page = visits(forced_colors="active").page(path)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    screens.picture(page, f"{path.strip('./') or 'sign-in'}-forced-colours")
    Keyboard(page).step()
