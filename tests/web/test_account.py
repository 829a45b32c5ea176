# SPDX-License-Identifier: MIT
"""One's own account in the console, by keyboard alone: profile and language, password, e-mail address, sessions."""

from playwright.sync_api import expect

from support import email_changes
from support.accounts import fresh_email, fresh_password
from support_console import enter, refused
from support_keyboard import Keyboard
from support_visit import field

ACCOUNT = "#/account"


def test_a_person_changes_name_and_language(visit, screens, accounts):
    account = accounts.customer()
    page = enter(visit, account, ACCOUNT)
    expect(page.get_by_role("table", name="Sessions")).to_be_visible()
    screens.look(page, "account")
    keys = Keyboard(page).fill(field(page, "First name"), "")
    keys.use(page.get_by_role("button", name="Save"))
    refused(page, "Enter your first name.")
    screens.look(page, "account-refused")
    keys.fill(field(page, "First name"), "Ottilie")
    keys.to(page.get_by_label("Language")).press("d")
    keys.use(page.get_by_role("button", name="Save"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Ihr Konto")
    screens.look(page, "account-german")
    user = account.get("/customers/me", status=200).json()["user"]
    assert (user["firstName"], user["locale"]) == ("Ottilie", "de")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ihr Konto")


def test_another_password_ends_the_other_sessions(visits, accounts):
    account = accounts.customer()
    account.sign_in()
    visit = visits()
    page = enter(visit, account, ACCOUNT)
    password = visit.secret(fresh_password())
    section = page.locator("section.card").filter(has=page.get_by_role("heading", name="Password"))
    keys = Keyboard(page)
    visit.expect(400, "/customers/change-password")
    for present in ("not this one", account.password):
        keys.fill(section.get_by_label("Present password", exact=True), present)
        keys.fill(section.get_by_label("New password", exact=True), password)
        keys.fill(section.get_by_label("New password again", exact=True), password).press("Enter")
        if present != account.password:
            refused(page, "This is not your present password.")
    expect(page.get_by_text("Your password is changed.")).to_be_visible()
    account.api.get("/customers/me", token=account.tokens["accessToken"], status=401)
    assert email_changes.signs_in(account.api, account.email, password)


def test_another_address_needs_the_code_that_was_sent_there(visit, screens, accounts):
    account = accounts.customer()
    page = enter(visit, account, ACCOUNT)
    address = fresh_email("moved")
    section = page.locator("section.card").filter(has=page.get_by_role("heading", name="E-mail address"))
    keys = Keyboard(page).fill(section.get_by_label("New e-mail address"), address)
    keys.fill(section.get_by_label("Present password", exact=True), account.password).press("Enter")
    expect(section.get_by_label("Code", exact=True)).to_be_visible()
    screens.look(page, "account-address")
    code = visit.secret(email_changes.code_to(accounts.mailbox, address))
    keys.fill(section.get_by_label("Code", exact=True), code).press("Enter")
    expect(page.get_by_text(f"You sign in with {address}.", exact=True)).to_be_visible()
    assert email_changes.signs_in(accounts.api, address, account.password)


def test_all_other_sessions_are_ended_after_a_question(visits, screens, accounts):
    account = accounts.customer()
    account.sign_in()
    page = enter(visits(), account, ACCOUNT)
    keys = Keyboard(page).use(page.get_by_role("button", name="End all others"))
    question = page.get_by_role("dialog", name="End all other sessions?")
    expect(question).to_be_visible()
    screens.look(page, "account-end-sessions")
    keys.use(question.get_by_role("button", name="End the others"))
    expect(page.get_by_text("All other sessions have ended.")).to_be_visible()
    expect(page.get_by_role("button", name="End all others")).to_have_count(0)
    account.api.get("/customers/me", token=account.tokens["accessToken"], status=401)
