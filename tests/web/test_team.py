# SPDX-License-Identifier: MIT
"""The team in the console, by keyboard alone: invitations, disabling, and rights with the service's own result."""

import pytest
from playwright.sync_api import expect

from support.accounts import fresh_email
from support.members import USERS
from support_console import at, opened, refused, signed_in_once, told
from support_keyboard import Keyboard
from support_visit import field

TEAM = "#/team"


@pytest.fixture(scope="module")
def boss(accounts):
    """The owner of a customer with nobody else yet."""
    return accounts.customer(organisation={"name": "Harbour Line Ltd"})


@pytest.fixture(scope="module")
def visit(visits_of_file, boss):
    """The browser of the owner, who is signed in."""
    return signed_in_once(visits_of_file(), boss)


@pytest.fixture()
def page(visit):
    """A new tab of it, at the team."""
    return opened(visit, TEAM)


def person(page, member):
    """The page of one person."""
    at(page, f"{TEAM}/{member.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{member.user['firstName']} {member.user['lastName']}")


def test_somebody_is_invited_and_the_mail_is_sent_again(page, screens, members, boss):
    keys = Keyboard(page).use(page.get_by_role("button", name="Invite"))
    drawer = page.get_by_role("dialog", name="Invite somebody")
    keys.use(drawer.get_by_role("button", name="Invite"))
    refused(page, "Enter an e-mail address.", "First name")
    screens.look(page, "team-invite", whole=False)
    address = fresh_email("invited")
    for label, text in (("E-mail address", address), ("First name", "Ida"), ("Last name", "Newcomer")):
        keys.fill(field(drawer, label), text)
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ida Newcomer")
    expect(page.get_by_text("The invitation is not answered yet.")).to_be_visible()
    told(page, f"The invitation to {address} is on its way.")
    screens.look(page, "team-invited")
    members.letter(address, "first-login")
    keys.use(page.get_by_role("button", name="Send the e-mail again"))
    told(page, f"The e-mail to {address} is on its way.")
    members.letter(address, "first-login", 2)
    found = boss.get(USERS, params={"search": address}, status=200).json()["items"]
    assert [one["status"] for one in found] == ["awaiting-first-login"]


def test_an_address_that_has_an_account_is_refused_at_its_field(page, visit, boss):
    keys = Keyboard(page).use(page.get_by_role("button", name="Invite"))
    drawer = page.get_by_role("dialog", name="Invite somebody")
    for label, text in (("E-mail address", boss.email), ("First name", "Olive"), ("Last name", "Twice")):
        keys.fill(field(drawer, label), text)
    visit.expect(409, USERS)
    keys.press("Enter")
    refused(page, "There is an account with this e-mail address already.")
    expect(field(drawer, "E-mail address")).to_have_attribute("aria-invalid", "true")
    keys.press("Escape")
    leave = page.get_by_role("dialog", name="Leave without saving?")
    expect(leave).to_be_visible()
    keys.use(leave.get_by_role("button", name="Leave"))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_who_is_disabled_is_let_in_again_from_the_word_that_tells_it(page, screens, members, boss):
    member = members.active(boss, firstName="Dora", lastName="Docker")
    at(page, f"{TEAM}?search=Docker")
    keys = Keyboard(page).use(page.get_by_role("button", name="Actions for Dora Docker"))
    choice = page.get_by_role("menuitem", name="Disable")
    expect(choice).to_be_visible()
    keys.to(choice, "ArrowDown").press("Enter")
    row = page.get_by_role("row").filter(has_text="Dora Docker")
    expect(row).to_contain_text("Disabled")
    assert members.user(member.id)["status"] == "disabled"
    keys.use(page.get_by_role("button", name="Undo"))
    expect(row).to_contain_text("Active")
    assert members.user(member.id)["status"] == "active"
    at(page, TEAM)
    expect(page.get_by_role("row").filter(has_text=boss.email)).to_be_visible()
    screens.look(page, "team")


def test_the_wait_of_a_browser_that_somebody_knows_is_ended(page, members, boss):
    member = members.active(boss, firstName="Mia", lastName="Mistype")
    right = {"username": member.email, "password": member.password, "deviceMark": ""}
    right["deviceMark"] = member.api.post("/customers/login", json=right, status=200).json()["deviceMark"]
    for _ in range(5):
        member.api.post("/customers/login", json={**right, "password": "not the password"}, status=401)
    members.database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE"
                         " WHERE scope = 'account'")
    at(page, f"{TEAM}?search=Mistype")
    keys = Keyboard(page).use(page.get_by_role("button", name="Actions for Mia Mistype"))
    choice = page.get_by_role("menuitem", name="End the wait")
    expect(choice).to_be_visible()
    keys.to(choice, "ArrowDown").press("Enter")
    told(page, "Mia Mistype can try to sign in at once.")
    member.api.post("/customers/login", json=right, status=200)


def test_states_and_words_narrow_the_list(page, members, boss):
    members.waiting(boss, firstName="Walter", lastName="Waits")
    page.get_by_label("State").select_option("awaiting-confirmation")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("row").last).to_contain_text("Walter Waits")
    page.get_by_role("searchbox").fill("no such person")
    expect(page.get_by_text("Nothing fits these filters.")).to_be_visible()
    Keyboard(page).use(page.get_by_role("button", name="Clear filters"))
    expect(page.get_by_role("row").filter(has_text=boss.email)).to_be_visible()
    assert page.evaluate("() => location.hash") == TEAM


def test_the_editor_shows_what_the_service_says_of_the_draft_and_why(page, screens, members, boss):
    member = members.active(boss, firstName="Rita", lastName="Rights")
    person(page, member)
    result = page.locator(".result")
    expect(result).to_contain_text("The same operations as now.")
    roles = boss.get("/customers/roles", status=200).json()["items"]
    role = next(one for one in roles if one["grantable"] and one["id"] != "owner")
    box = page.locator(f"#role-{role['id']}")
    keys = Keyboard(page).use(box, "Space")
    page.get_by_label("Files cus:file").select_option("r")
    draft = {"userId": member.id, "roles": [role["id"]], "permissions": ["cus:file:r"]}
    said = boss.post("/customers/authorise/simulate", json=draft, status=200).json()
    assert said["gained"] and not said["lost"]
    expect(result.locator("code").first).to_have_text(" ".join(said["permissions"]))
    expect(result.locator(".badge.good")).to_have_text(said["gained"])
    screens.look(page, "team-rights")
    assert members.user(member.id)["roles"] == []
    keys.use(page.get_by_role("button", name="Save the rights"))
    told(page, "The rights of Rita Rights are saved.")
    held = boss.get(f"{USERS}/{member.id}/permissions", status=200).json()["items"]
    why = page.get_by_role("table", name="Permissions").locator("tbody tr")
    expect(why).to_have_count(len(held))
    assert {row.locator("code").inner_text() for row in why.all()} == {one["permission"] for one in held}
    expect(why.filter(has_text="given by itself")).to_have_count(1)
    assert why.filter(has_text="role ").count() > 0
    assert {"roles": [role["id"]], "permissions": ["cus:file:r"]}.items() <= members.user(member.id).items()


def test_what_one_does_not_hold_cannot_be_given(page, boss):
    person(page, boss)
    given = {one["id"]: one["grantable"] for one in boss.get("/customers/roles", status=200).json()["items"]}
    assert not all(given.values())
    for name, grantable in given.items():
        (expect(page.locator(f"#role-{name}")).to_be_enabled if grantable
         else expect(page.locator(f"#role-{name}")).to_be_disabled)()


def test_nobody_takes_rights_from_themselves(page, visit, screens, boss):
    person(page, boss)
    expect(page.locator(".result")).to_contain_text("The same operations as now.")
    visit.expect(409, "/customers/authorise/simulate")
    keys = Keyboard(page).use(page.locator("#role-owner"), "Space")
    expect(page.locator(".rights > .notice")).to_contain_text("Nobody takes rights from themselves.")
    visit.expect(409, f"{USERS}/{boss.id}")
    keys.use(page.get_by_role("button", name="Save the rights"))
    refused(page, "You cannot do this to your own account.")
    screens.look(page, "team-own-rights")
    assert "owner" in boss.get("/customers/me", status=200).json()["user"]["roles"]


def test_the_sessions_of_a_person_are_ended_after_a_question(page, members, boss):
    member = members.active(boss, firstName="Sam", lastName="Sessions")
    token = member.token
    person(page, member)
    table = page.get_by_role("table", name="Sessions")
    expect(table.locator("tbody tr")).to_have_count(1)
    keys = Keyboard(page).use(page.get_by_role("button", name="End all sessions"))
    question = page.get_by_role("dialog", name="End all sessions of Sam Sessions?")
    keys.use(question.get_by_role("button", name="End the sessions"))
    expect(page.get_by_text("This person is signed in nowhere.")).to_be_visible()
    member.api.get("/customers/me", token=token, status=401)
