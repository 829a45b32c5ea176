# SPDX-License-Identifier: MIT
"""Internal staff in the console: customers, and looking at another organisation's data, with a reason that its owner
can read."""

import re

import pytest
from playwright.sync_api import expect

from support.accounts import fresh_email
from support.members import USERS
from support_console import at, choice, opened, signed_in_once, told
from support_keyboard import Keyboard
from support_visit import field

ORGANISATIONS = "#/organisations"
REASON = "Rückfrage: Łukasz’ Dateien"


@pytest.fixture(scope="module")
def customer(accounts):
    """The owner whose organisation is looked at."""
    return accounts.customer()


@pytest.fixture(scope="module")
def visit(visits_of_file, accounts):
    """The browser of the administrator, who is signed in."""
    return signed_in_once(visits_of_file(), accounts.administrator)


@pytest.fixture()
def page(visit):
    """A new tab of it, at the organisations."""
    return opened(visit, ORGANISATIONS)


@pytest.fixture()
def sent(page):
    """What the page asks the service for: (path with query, headers)."""
    seen = []

    def note(request):
        seen.append((request.url, request.headers))
    page.on("request", note)
    return seen


def bar(page):
    """The bar that says whose data is shown."""
    return page.locator(".strip.accent")


def look_at(page, customer):
    """Looks at the data of a customer, from its own page."""
    at(page, f"{ORGANISATIONS}/{customer.organisation['id']}")
    keys = Keyboard(page).use(page.get_by_role("button", name="Look at its data"))
    keys.fill(field(page.get_by_role("dialog"), "Reason"), "once more").press("Enter")
    expect(bar(page)).to_be_visible()


def test_staff_look_at_another_organisation_with_a_reason_and_leave_it(page, sent, screens, customer):
    name = customer.organisation["name"]
    keys = Keyboard(page).use(page.locator(".organisation button"))
    dialog = page.get_by_role("dialog", name="Look at another organisation")
    keys.fill(dialog.get_by_role("searchbox"), name)
    found = dialog.get_by_role("button", name=name)
    expect(found).to_be_visible()
    expect(dialog.locator(".choices button").filter(has_not_text=name)).to_have_count(0)
    screens.look(page, "switcher", whole=False)
    keys.use(found).fill(field(dialog, "Reason"), REASON).press("Enter")
    expect(bar(page)).to_have_text(re.compile(f"You are looking at {name}.*Reason: {REASON}"))
    at(page, "#/team")
    expect(page.get_by_role("row").filter(has_text=customer.email)).to_be_visible()
    expect(page.get_by_role("button", name="Invite")).to_have_count(0)
    screens.look(page, "team-of-a-customer")
    asked = [headers for address, headers in sent if customer.organisation["id"] in address]
    assert asked and all("x-reason" in headers for headers in asked)
    read = customer.get("/customers/organisation/audit", params={"action": "access.crossOrganisation"}, status=200)
    assert REASON in {one["details"].get("reason") for one in read.json()["items"]}
    keys.use(bar(page).get_by_role("button", name="Back to your own"))
    expect(bar(page)).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text=customer.email)).to_have_count(0)


def wants_a_reason(route):
    """The answer of a service that wants one where none is given, else its own."""
    if "x-reason" in route.request.headers:
        route.continue_()
        return
    missing = {"path": "X-Reason", "code": "required", "message": "is missing: say why"}
    route.fulfill(status=400, json={"status": "error", "message": "Some of the values sent are not valid.", "stack": "",
                                    "code": "request.invalid", "body": {}, "validation": [missing]})


def test_staff_are_asked_why_they_read_everybodys_trail_where_that_is_wanted(visit, page, sent):
    visit.expect(400, "/system/audit")
    page.route(re.compile(r"/system/audit\?"), wants_a_reason)
    at(page, "#/audit")
    keys = Keyboard(page)
    keys.fill(field(page.locator("main"), "Reason"), REASON).press("Enter")
    expect(page.get_by_role("table", name="Audit").locator("tbody tr").first).to_be_visible()
    expect(bar(page)).to_have_count(0)
    last = [headers for address, headers in sent if "/system/audit?" in address][-1]
    assert last["x-reason"] == REASON


def test_a_page_that_is_loaded_again_shows_ones_own(page, customer):
    look_at(page, customer)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(customer.organisation["name"])
    expect(bar(page)).to_have_count(0)


def test_the_last_owner_of_a_customer_cannot_be_disabled_and_staff_read_why(page, visit, customer):
    look_at(page, customer)
    at(page, f"#/team/{customer.id}")
    visit.expect(409, f"{USERS}/{customer.id}")
    Keyboard(page).use(page.get_by_role("button", name="Disable"))
    told(page, "This is the last owner. Make somebody else an owner first.")
    assert customer.get("/customers/me", status=200).json()["user"]["status"] == "active"


def test_a_customer_is_created_limited_disabled_and_let_in_again(page, screens, accounts):
    keys = Keyboard(page).use(page.get_by_role("button", name="New organisation"))
    drawer, owner = page.get_by_role("dialog", name="New organisation"), fresh_email()
    name = f"Made for {owner.partition('@')[0]}"
    for label, text in (("Name of the organisation", name), ("E-mail address", owner), ("First name", "Olga"),
                        ("Last name", "Owner")):
        keys.fill(field(drawer, label), text)
    screens.look(page, "organisation-new", whole=False)
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    told(page, f"{name} is created.")
    identity = page.evaluate("() => location.hash").rsplit("/", 1)[1]
    keys.fill(field(page, "Room for files, in gigabytes"), "2.5").press("Enter")
    told(page, "Saved.")
    screens.look(page, "organisation")
    assert read(accounts, identity)["quotaBytes"] == 2500000000
    keys.use(page.get_by_role("button", name="Disable"))
    keys.use(page.get_by_role("dialog", name=f"Disable {name}?").get_by_role("button", name="Disable"))
    expect(page.get_by_role("button", name="Enable")).to_be_visible()
    assert read(accounts, identity)["status"] == "disabled"
    keys.use(page.get_by_role("button", name="Enable"))
    expect(page.get_by_role("button", name="Disable")).to_be_visible()
    assert read(accounts, identity)["status"] == "active"


def read(accounts, identity):
    """The organisation as the interface has it."""
    return accounts.administrator.get(f"/customers/organisations/{identity}", status=200).json()["organisation"]


def test_the_list_is_searched_and_filtered(page, screens, customer):
    at(page, f"{ORGANISATIONS}?search={customer.organisation['name'].replace(' ', '%20')}")
    rows = page.get_by_role("table", name="Organisations").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(customer.organisation["name"])
    screens.look(page, "organisations")
    choice(page, "Status").select_option("disabled")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
