# SPDX-License-Identifier: MIT
"""The pages to which e-mails lead, each from the mail to its end by keyboard alone: the first password, the code of a
new member, the forgotten password, the address that somebody else wants to change."""

import re

import pytest
from playwright.sync_api import expect

from support import email_changes, mail
from support.accounts import fresh_email, fresh_password
from support_console import known_device, refused, signed_in
from support_keyboard import Keyboard
from support_visit import field

WRONG = "wrong temporary password"
FAULT = re.compile(r"Error: .")


def heading(page, text):
    """The one heading that the page shows, which has the focus: it is read to who does not see the page."""
    found = page.get_by_role("heading", level=1, name=text)
    expect(found).to_be_visible()
    expect(page.locator("h1:visible")).to_have_count(1)
    return found


def choose_password(keys, page, password):
    """Types the new password twice."""
    keys.fill(field(page, "New password"), password)
    keys.fill(field(page, "New password again"), password)


def test_an_owner_chooses_the_first_password(visit, screens, accounts):
    invited = accounts.invited()
    page = visit.page(invited.link)
    keys = Keyboard(page)
    heading(page, "Choose your password")
    send = page.get_by_role("button", name="Set my password")
    expect(send).to_be_enabled()
    screens.look(page, "first-login")
    keys.use(send)
    refused(page, "Enter the temporary password", "Choose a new password")
    expect(page).to_have_title(FAULT)
    screens.look(page, "first-login-empty")
    password = visit.secret(fresh_password())
    visit.expect(401, "/customers/login")
    keys.fill(field(page, "Temporary password"), WRONG)
    choose_password(keys, page, password)
    keys.press("Enter")
    refused(page, "The temporary password was not accepted")
    screens.look(page, "first-login-refused")
    keys.fill(field(page, "Temporary password"), invited.temporary).press("Enter")
    signed_in(page)
    assert known_device(visit)
    assert email_changes.signs_in(accounts.api, invited.email, password)


def test_a_member_confirms_the_account(visit, screens, members, owner):
    waiting = members.waiting(owner)
    page = visit.page(mail.link(waiting.message(), f"{visit.stack.web_url}/confirm"))
    keys = Keyboard(page)
    heading(page, "Confirm your account")
    code = visit.secret(waiting.code())
    screens.look(page, "confirm")
    visit.expect(400, "/customers/confirm-signup")
    keys.fill(field(page, "Code"), "000000" if code != "000000" else "111111").press("Enter")
    refused(page, "The code was not accepted")
    screens.look(page, "confirm-refused")
    keys.fill(field(page, "Code"), f"{code[:3]} {code[3:]}").press("Enter")
    expect(heading(page, "Your account is confirmed")).to_be_focused()
    screens.look(page, "confirm-done")
    keys.fill(field(page, "Password"), waiting.password).press("Enter")
    signed_in(page)
    assert known_device(visit)


def test_a_forgotten_password_is_chosen_anew(visit, screens, accounts, members):
    account = accounts.customer()
    page = visit.page("reset")
    keys = Keyboard(page)
    heading(page, "Forgotten your password?")
    screens.look(page, "reset")
    keys.fill(field(page, "E-mail address"), account.email).press("Enter")
    expect(page.locator("#choose")).to_be_visible()
    screens.look(page, "reset-asked")
    message = members.letter(account.email, "reset")
    link, code = mail.link(message, f"{visit.stack.web_url}/reset"), visit.secret(mail.code(message))
    page.goto(link)
    expect(page.locator("#choose")).to_be_visible()
    keys.use(page.get_by_role("button", name="Set my password"))
    refused(page, "Enter the code", "Choose a new password")
    screens.look(page, "reset-empty")
    password = visit.secret(fresh_password())
    keys.fill(field(page, "Code"), code)
    choose_password(keys, page, password)
    keys.press("Enter")
    signed_in(page)
    assert known_device(visit)
    assert email_changes.signs_in(accounts.api, account.email, password)


def test_an_owner_keeps_the_address_that_somebody_wants_to_change(visit, screens, accounts, members):
    account = accounts.customer()
    email_changes.ask(account, fresh_email("new"), status=200)
    message = members.letter(account.email, "cancel-email")
    page = visit.page(mail.link(message, f"{visit.stack.web_url}/cancel-email"))
    keys = Keyboard(page)
    heading(page, "Keep your e-mail address")
    screens.look(page, "cancel-email")
    keys.fill(field(page, "Code"), visit.secret(mail.code(message))).press("Enter")
    expect(heading(page, "Your account has its address")).to_be_focused()
    screens.look(page, "cancel-email-done")


@pytest.mark.parametrize("path", ["first-login", "confirm", "cancel-email"])
def test_whoever_lost_the_link_is_asked_for_the_address(visit, screens, path):
    page = visit.page(path)
    expect(field(page, "E-mail address")).to_be_visible()
    Keyboard(page).use(page.locator("button[type=submit]").filter(visible=True))
    refused(page, "Enter your e-mail address")
    screens.look(page, f"{path}-without-link")
