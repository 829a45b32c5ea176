# SPDX-License-Identifier: MIT
"""The audit trail in the console: what the filters show, and what they save as a file, is what the interface gives."""

import pytest
from playwright.sync_api import expect

from support_console import choice, opened, signed_in_once
from support_keyboard import Keyboard

AUDIT = "#/audit"
PATH = "/customers/organisation/audit"
FORMATS = (("As a table (CSV)", "text/csv", ".csv"), ("As lines of JSON", "application/x-ndjson", ".ndjson"))


@pytest.fixture(scope="module")
def boss(accounts):
    """An owner who has signed in several times, once with a wrong password."""
    account = accounts.customer()
    account.api.post("/customers/login", json={"username": account.email, "password": "not this one"}, status=401)
    account.session()
    return account


@pytest.fixture(scope="module")
def visit(visits_of_file, boss):
    """The browser of the owner, who is signed in."""
    return signed_in_once(visits_of_file(), boss)


@pytest.fixture()
def page(visit):
    """A new tab of it, at the audit trail."""
    return opened(visit, AUDIT)


def rows(page):
    """The rows that are shown."""
    return page.get_by_role("table", name="Audit").locator("tbody tr")


def test_the_filters_show_what_the_interface_gives(page, screens, boss):
    expect(rows(page).filter(has_text="Could not sign in")).to_have_count(1)
    screens.look(page, "audit")
    choice(page, "What").select_option("user.login")
    choice(page, "Outcome").select_option("success")
    wanted = boss.get(PATH, params={"action": "user.login", "outcome": "success"}, status=200).json()["items"]
    assert len(wanted) > 1
    expect(rows(page)).to_have_count(len(wanted))
    assert rows(page).locator("time").evaluate_all("(all) => all.map((one) => one.dateTime)") == [
        one["at"] for one in wanted]
    page.reload()
    expect(rows(page)).to_have_count(len(wanted))
    choice(page, "Outcome").select_option("failure")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
    Keyboard(page).use(page.get_by_role("button", name="Clear filters"))
    expect(rows(page).filter(has_text="Could not sign in")).to_have_count(1)


def test_days_are_those_of_the_reader(page, boss):
    page.get_by_label("From", exact=True).fill("2001-02-03")
    page.get_by_label("To", exact=True).fill("2001-02-03")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
    page.get_by_label("To", exact=True).fill("2999-12-31")
    everything = boss.get(PATH, status=200).json()["items"]
    expect(rows(page)).to_have_count(len(everything))


def test_a_row_tells_everything_and_leads_on(page, screens, boss):
    keys = Keyboard(page).use(page.get_by_role("button", name="Could not sign in"))
    drawer = page.get_by_role("dialog", name="Could not sign in")
    expect(drawer).to_contain_text("user.loginFailed")
    expect(drawer).to_contain_text("127.0.0.1")
    screens.look(page, "audit-row", whole=False)
    keys.use(drawer.get_by_role("button", name="Everything about this"))
    expect(drawer).to_have_count(0)
    expect(page.get_by_text("Only about …")).to_be_visible()
    assert page.evaluate("() => location.hash").startswith(f"{AUDIT}?targetId=")
    wanted = boss.get(PATH, params={"targetId": boss.id}, status=200).json()["items"]
    expect(rows(page)).to_have_count(len(wanted))


@pytest.mark.parametrize("label, kind, ending", FORMATS)
def test_what_the_filters_show_is_saved_as_a_file(page, boss, label, kind, ending):
    choice(page, "What").select_option("user.login")
    keys = Keyboard(page).use(page.get_by_role("button", name="Save as a file"))
    item = page.get_by_role("menuitem", name=label)
    expect(item).to_be_visible()
    with page.expect_download() as saved:
        keys.to(item, "ArrowDown").press("Enter")
    assert saved.value.suggested_filename == f"audit{ending}"
    with open(saved.value.path(), "rb") as file:
        bytes_saved = file.read()
    reply = boss.get(PATH, params={"action": "user.login"}, headers={"Accept": kind}, status=200)
    assert b"user.login" in bytes_saved and bytes_saved == reply.content
