# SPDX-License-Identifier: MIT
"""Signing in, staying signed in, signing out: one session in all tabs of a browser, whose secret no script can read."""

import datetime
import json
import re

import pytest
from playwright.sync_api import expect

from support import mail
from support.accounts import fresh_password
from support.stack import wait_until
from support_console import CONSOLE, account_menu, at, enter, opened, refused, sign_in, signed_in
from support_keyboard import Keyboard
from support_visit import PATIENCE_MS, field


def test_a_wrong_password_is_told_and_the_right_one_lets_in(visit, screens, owner):
    page = visit.page(CONSOLE)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    screens.look(page, "sign-in")
    Keyboard(page).use(page.get_by_role("button", name="Sign in"))
    refused(page, "Enter your e-mail address.", "Enter your password.")
    screens.look(page, "sign-in-empty")
    visit.expect(401, "/customers/login")
    sign_in(page, owner.email, visit.secret("not the password"))
    refused(page, "The e-mail address or the password is wrong.")
    screens.look(page, "sign-in-refused")
    sign_in(page, owner.email, owner.password)
    signed_in(page)
    screens.look(page, "home")


def test_a_session_outlives_a_reload_and_ends_in_all_tabs(visit, screens, owner):
    page = enter(visit, owner)
    page.reload()
    signed_in(page)
    other = visit.page(CONSOLE)
    signed_in(other)
    account_menu(page, "Sign out")
    for tab in (page, other):
        expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(other.get_by_text("You have signed out in another tab.")).to_be_visible()
    screens.look(other, "sign-in-elsewhere")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def tokens_end(visit):
    """Returns a function; once it was called, the service takes none of the access tokens that the pages have sent
    until then, as if their time was over."""
    sent, over = set(), set()

    def carry(route):
        """Spoils the signatures of those tokens."""
        headers = route.request.headers
        token = headers.get("authorization", "")
        if token != "" and token in over:
            headers["authorization"] = token[:-8] + "A" * 8
        sent.add(token)
        route.continue_(headers=headers)
    visit.context.route(re.compile("/customers/"), carry)
    return lambda: over.update(sent)


def sessions_of(account):
    """The ids of its open sessions."""
    items = account.get("/customers/sessions", status=200).json()["items"]
    return {one["id"] for one in items}


def renews(visit):
    """Whether the browser can still go on as somebody."""
    reply = visit.context.request.post("customers/refresh", headers={"Origin": visit.origin},
                                       data={"session": "cookie"})
    assert reply.status in (200, 401), reply.text()
    return reply.ok


@pytest.mark.parametrize("idle", [True, False])
def test_signing_out_ends_the_session_also_with_a_token_that_is_over(visit, members, owner, idle):
    member = members.active(owner)
    others = sessions_of(member)
    end_tokens = tokens_end(visit)
    if idle:
        visit.context.clock.install()
    else:
        visit.expect(401, "/customers/logout")
    page = enter(visit, member)
    assert len(sessions_of(member) - others) == 1
    page.wait_for_load_state("networkidle")
    if idle:
        # After a minute the page asks when the session ends. From then on it needs no token of itself.
        with page.expect_response(re.compile("/customers/sessions$")):
            visit.context.clock.fast_forward("01:05")
        page.wait_for_load_state("networkidle")
    end_tokens()
    if idle:
        visit.context.clock.fast_forward("16:00")
    account_menu(page, "Sign out")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert sessions_of(member) == others
    assert not renews(visit)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_signing_out_of_a_session_that_is_over_already_is_no_fault(visit, members, owner):
    member = members.active(owner)
    page = enter(visit, member)
    page.wait_for_load_state("networkidle")
    member.post("/customers/logout", json={"others": True}, status=200)
    visit.expect(401, "/customers/logout")
    visit.expect(401, "/customers/refresh")
    account_menu(page, "Sign out")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_menu_has_the_focus_as_soon_as_it_is_there(visit, members, owner):
    """Whoever is fast would else choose another item than the one that the keys lead to."""
    page = enter(visit, members.active(owner))
    button = page.locator("header.top .menu > button")
    Keyboard(page).to(button)
    focused = button.evaluate("""(button) => new Promise((done) => {
        new MutationObserver(() => done(document.activeElement.textContent))
            .observe(button.parentElement, { childList: true });
        button.click();
    })""")
    assert focused == "Your account"
    Keyboard(page).press("ArrowDown", "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("why", ["no network", "a refusal"])
def test_who_could_not_be_signed_out_is_told_so_in_all_tabs(visit, screens, members, owner, why):
    def keep(on):
        """Keeps the service from ending the session, or lets it."""
        path = re.compile("/customers/logout$")
        if why == "no network":
            visit.offline(on)
        elif on:
            visit.context.route(path, lambda route: route.fulfill(status=503, json={}))
        else:
            visit.context.unroute(path)
    member = members.active(owner)
    others = sessions_of(member)
    page = enter(visit, member)
    other, third = opened(visit), opened(visit)
    for tab in (page, other, third):
        tab.wait_for_load_state("networkidle")
    if why == "a refusal":
        visit.expect(503, "/customers/logout")
    keep(True)
    account_menu(page, "Sign out")
    for tab in (page, other, third):
        expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
        expect(tab.get_by_role("alert")).to_contain_text("You are still signed in in this browser.")
    screens.look(page, "sign-in-stays")
    keep(False)
    # A page that is loaded again does not hide it.
    other.reload()
    signed_in(other)
    Keyboard(page).use(page.get_by_role("alert").get_by_role("button", name="Sign out"))
    for tab in (page, other, third):
        expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
        expect(tab.get_by_role("alert")).to_have_count(0)
    assert sessions_of(member) == others
    assert not renews(visit)


def test_no_script_can_read_the_cookies_of_the_session(visit, owner):
    page = enter(visit, owner)
    cookies = visit.context.cookies([f"{visit.stack.web_url}/customers/refresh", visit.stack.web_url])
    secure = visit.stack.web_url.startswith("https:")
    assert cookies
    for cookie in cookies:
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", secure), cookie["name"]
        assert cookie["domain"] == visit.stack.host and cookie["path"].startswith("/customers/"), cookie["name"]
        assert cookie["expires"] > 0, cookie["name"]
    assert page.evaluate("() => document.cookie") == ""


def test_a_temporary_password_leads_to_one_of_ones_own(visit, screens, accounts):
    invited = accounts.invited()
    page = visit.page(CONSOLE)
    visit.expect(400, "/customers/login")
    keys = sign_in(page, invited.email, invited.temporary)
    expect(page.get_by_role("heading", level=1, name="Choose your password")).to_be_focused()
    screens.look(page, "sign-in-temporary")
    password = visit.secret(fresh_password())
    keys.fill(field(page, "New password"), password)
    keys.fill(field(page, "New password again"), password).press("Enter")
    signed_in(page)


def test_who_has_not_confirmed_the_address_is_asked_for_the_code(visit, screens, members, owner):
    waiting = members.waiting(owner)
    code = visit.secret(mail.code(waiting.message()))
    page = visit.page(CONSOLE)
    visit.expect(401, "/customers/login")
    keys = sign_in(page, waiting.email, waiting.password)
    expect(page.get_by_role("heading", level=1, name="Confirm your account")).to_be_focused()
    screens.look(page, "sign-in-unconfirmed")
    keys.fill(field(page, "Code"), code).press("Enter")
    signed_in(page)


def test_who_is_disabled_is_told_so(visit, members, owner):
    member = members.active(owner)
    members.set_status(member.id, "disabled")
    page = visit.page(CONSOLE)
    visit.expect(401, "/customers/login")
    sign_in(page, member.email, member.password)
    refused(page, "disabled")


def test_too_many_tries_count_down(visit, screens, members, owner):
    member = members.active(owner)
    members.fail_logins(member.email, 5)
    members.database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE")
    page = visit.page(CONSOLE)
    visit.expect(429, "/customers/login")
    sign_in(page, member.email, member.password)
    refused(page)
    expect(page.get_by_role("button", name=re.compile(r"Sign in \(.*\d+"))).to_be_visible()
    screens.look(page, "sign-in-waiting")


def test_strangers_do_not_hold_up_who_has_signed_in_here_before(visits, members, owner):
    member = members.active(owner)
    visit, stranger = visits(), visits()
    page = visit.page(CONSOLE)
    sign_in(page, member.email, member.password)
    signed_in(page)
    account_menu(page, "Sign out")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    members.fail_logins(member.email, 5)
    members.database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE"
                         " WHERE scope = 'account'")
    sign_in(page, member.email, member.password)
    signed_in(page)
    stranger.expect(429, "/customers/login")
    other = stranger.page(CONSOLE)
    sign_in(other, member.email, member.password)
    refused(other, "Too many tries")


def test_a_password_is_hidden_again(visit, owner):
    page = visit.page(CONSOLE)
    password = field(page, "Password")
    expect(password).to_have_attribute("autocomplete", "current-password")
    expect(field(page, "E-mail address")).to_have_attribute("autocomplete", "username")
    keys = Keyboard(page).use(page.get_by_role("button", name="Show: Password"))
    expect(password).to_have_attribute("type", "text")
    keys.press("Enter")
    expect(password).to_have_attribute("type", "password")


def test_the_printed_address_and_password_lead_into_the_console_in_three_steps(visit, screens, stack):
    """Each field typed and the one button pressed: no page and no step in between."""
    page = visit.page(stack.facts["webUrl"])
    field(page, "E-mail address").fill(stack.admin["username"])
    field(page, "Password").fill(visit.secret(stack.admin["password"]))
    page.get_by_role("button", name="Sign in").click()
    signed_in(page)
    screens.look(page, "home-administrator")


def test_the_end_of_a_session_is_told_before_it_comes(visit, screens, owner):
    def nearly_over(route):
        """The service's own reply, with ends in a minute and a half."""
        reply = route.fetch()
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=90)
        items = [{**one, "expiresAt": f"{end:%Y-%m-%dT%H:%M:%S}.000Z"} for one in reply.json()["items"]]
        route.fulfill(response=reply, body=json.dumps({"items": items}))
    sessions = re.compile("/customers/sessions$")
    visit.context.route(sessions, nearly_over)
    visit.context.clock.install()
    page = enter(visit, owner)
    # A request that is under way would come to the end of its time.
    expect(page.get_by_text("Everybody has answered their invitation.")).to_be_visible()
    visit.context.clock.fast_forward("01:05")
    strip = page.locator(".strip.warning")
    expect(strip).to_have_text(re.compile(r"Your session ends at \d\d:\d\d\."))
    screens.look(page, "session-ending")
    keys = Keyboard(page).use(strip.get_by_role("button", name="Sign in again"))
    dialog = page.get_by_role("dialog", name="Sign in again")
    visit.context.unroute(sessions)
    before = len(owner.get("/customers/sessions", status=200).json()["items"])
    keys.fill(dialog.get_by_label("Password", exact=True), owner.password).press("Enter")
    expect(strip).to_have_count(0)
    expect(dialog).to_have_count(0)
    assert len(owner.get("/customers/sessions", status=200).json()["items"]) == before + 1


def test_an_upgrade_is_told_and_comes_with_the_next_screen_once_nothing_is_lost(visit, screens, owner):
    version = ["1.0.0"]
    asked = re.compile("/system/version$")
    visit.context.route(asked, lambda route: route.fulfill(json={"version": version[0]}))
    visit.context.clock.install()
    page = enter(visit, owner, "#/account")
    page.evaluate("() => { window.old = true; }")
    field(page, "First name").fill("Unsaved")
    page.wait_for_load_state("networkidle")  # the clock would end the time of a request that is under way
    with page.expect_response(asked):
        visit.context.clock.fast_forward("01:05")
    strip = page.get_by_text("There is a new version of the console.")
    expect(strip).to_have_count(0)
    version[0] = "1.0.1"

    def told():
        """Some minutes later."""
        page.wait_for_load_state("networkidle")
        visit.context.clock.fast_forward("05:01")
        return strip.is_visible()
    wait_until(told, PATIENCE_MS / 1000, "the page to tell of the upgrade", 0.2)
    screens.look(page, "upgraded")
    at(page, "#/team")
    question = page.get_by_role("dialog", name="Leave without saving?")
    expect(question).to_be_visible()
    Keyboard(page).use(question.get_by_role("button", name="Leave"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Team")
    assert page.evaluate("() => window.old")
    at(page, "#/files")
    page.wait_for_function("() => window.old === undefined")
    signed_in(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Files")
    expect(page.locator(".strip.warning")).to_have_count(0)
