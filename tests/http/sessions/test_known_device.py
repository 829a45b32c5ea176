# SPDX-License-Identifier: MIT
"""A device on which somebody has signed in before: the wrong passwords of strangers do not hold it up, and its own make
it alone wait (docs/accounts.md, "Waits after failures")."""

import string

import pytest

from sessions.test_browser_session import SAME
from support.accounts import fresh_password
from support.database import key
from support.members import USERS, retry_after
from support.programs import operator

FREE = 5
ALPHABET = set(string.ascii_letters + string.digits + "-_")
MARK_BYTES = 64
WRONG = "not the password"
STOP_SECONDS = 30 * 86400


def login(account, password=None, mark=None, **arguments):
    body = {"username": account.email, "password": password or account.password}
    sent = body if mark is None else {**body, "deviceMark": mark}
    return account.api.post("/customers/login", json=sent, **arguments)


@pytest.fixture()
def member(members, owner, database):
    database.lift_throttles()
    return members.active(owner)


@pytest.fixture()
def mark(member):
    """The mark of a device on which the member has signed in."""
    return login(member, mark="", status=200).json()["deviceMark"]


@pytest.fixture()
def locked(member, database):
    """A stranger makes the account wait for a long time."""

    def lock():
        for _ in range(FREE):
            login(member, WRONG, status=401)
        database.run("UPDATE throttle SET failures = 50, locked_until = UTC_TIMESTAMP(3) + INTERVAL 15 MINUTE"
                     " WHERE scope = 'account' AND failures = %s", FREE)
        login(member, status=429, code="rate.limited")

    return lock


def test_a_client_that_does_not_ask_gets_no_mark(member):
    assert set(login(member, status=200).json()) == {"tokens", "user"}


def test_a_mark_comes_with_a_login_that_asks_and_stays(member):
    first = login(member, mark="", status=200).json()
    assert set(first) == {"tokens", "user", "deviceMark"}
    assert len(first["deviceMark"]) == MARK_BYTES and set(first["deviceMark"]) <= ALPHABET
    assert login(member, mark=first["deviceMark"], status=200).json()["deviceMark"] == first["deviceMark"]
    assert login(member, mark="", status=200).json()["deviceMark"] != first["deviceMark"]
    login(member, mark="x" * (MARK_BYTES + 1), status=400, code="request.invalid")
    # It is in no database in the open, and opens nothing.
    member.api.get("/customers/me", token=first["deviceMark"], status=401)


def test_a_stranger_does_not_hold_up_a_known_device(member, mark, locked, database):
    locked()
    login(member, mark=mark, status=200)
    # The stranger goes on waiting, and so does whoever has no mark.
    login(member, WRONG, status=429)
    login(member, mark="", status=429)
    assert database.run("SELECT failures FROM throttle WHERE scope = 'account' AND failures = 50") != []


def test_a_mark_that_is_forged_or_somebody_elses_is_as_good_as_none(member, mark, locked, members, owner):
    other = members.active(owner)
    others = login(other, mark="", status=200).json()["deviceMark"]
    locked()
    changed = ("A" if mark[-1] != "A" else "B")
    forged = [others, "A" * MARK_BYTES, mark[:-1] + changed, mark[:-1], mark[::-1], others[:22] + mark[22:], mark + " "]
    for one in forged:
        assert login(member, mark=one).status_code in (400, 429), one
    login(member, mark=mark, status=200)


def test_a_devices_own_failures_make_it_wait_alone(member, mark, database):
    for _ in range(FREE):
        login(member, WRONG, mark, status=401, code="auth.credentials")
    assert database.waits() == [1]
    database.lengthen_waits()
    assert retry_after(login(member, mark=mark, status=429, code="rate.limited")) <= 60
    login(member, WRONG, status=401)
    login(member, status=200)


@pytest.mark.parametrize("by", ["an administrator", "the operator"])
def test_help_ends_the_waits_of_known_devices_too(stack, member, mark, owner, database, by):
    other = login(member, mark="", status=200).json()["deviceMark"]
    for one in (mark, other):
        for _ in range(FREE):
            login(member, WRONG, one, status=401)
    database.lengthen_waits()
    # The account itself does not wait.
    assert owner.get(f"{USERS}/{member.id}", status=200).json()["user"]["lockedUntil"] is None
    for one in (mark, other):
        login(member, mark=one, status=429)
    if by == "an administrator":
        owner.post(f"{USERS}/{member.id}/unlock", json={}, status=200)
    else:
        operator.run(stack, "unlock", member.email)
    # Ended is forgotten: the next wrong password does not begin a wait.
    for one in (mark, other):
        login(member, WRONG, one, status=401)
        login(member, mark=one, status=200)


@pytest.mark.parametrize("how", ["its session", "others", "everywhere", "password", "disable"])
def test_what_ends_its_session_takes_the_mark_back(api, member, owner, locked, how):
    reply = login(member, mark="", status=200).json()
    old, token = reply["deviceMark"], reply["tokens"]["accessToken"]
    member.login()
    if how == "its session":
        current = [one["id"] for one in api.get("/customers/sessions", token=token, status=200).json()["items"]
                   if one["current"]]
        member.delete(f"/customers/sessions/{current[0]}", status=200)
    elif how in ("others", "everywhere"):
        member.post("/customers/logout", json={how: True}, status=200)
    elif how == "password":
        new = fresh_password()
        member.post("/customers/change-password", json={"password": member.password, "newPassword": new}, status=200)
        member.password = new
    else:
        owner.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
        owner.patch(f"{USERS}/{member.id}", json={"status": "active"}, status=200)
    locked()
    login(member, mark=old, status=429)


def test_a_logout_keeps_the_mark(api, member, locked):
    reply = login(member, mark="", status=200).json()
    api.post("/customers/logout", token=reply["tokens"]["accessToken"], json={}, status=200)
    locked()
    login(member, mark=reply["deviceMark"], status=200)


def test_after_a_hundred_failures_only_a_known_device_and_help_remain(member, mark, owner, database):
    login(member, WRONG, status=401)
    database.run("UPDATE throttle SET failures = 99 WHERE scope = 'account' AND failures = 1")
    login(member, WRONG, status=401)
    assert STOP_SECONDS - 60 < retry_after(login(member, status=429)) <= STOP_SECONDS
    login(member, mark=mark, status=200)
    login(member, status=429)
    owner.post(f"{USERS}/{member.id}/unlock", json={}, status=200)
    login(member, status=200)


@pytest.mark.web_server
def test_a_browser_keeps_its_mark_in_a_cookie_of_the_login(member, locked, database, stack):
    body = {"username": member.email, "password": member.password, "session": "cookie"}
    plain = member.api.post("/customers/login", json=body, headers=SAME, status=200)
    assert "gatehouse-device" not in plain.headers["Set-Cookie"]
    asks = {**body, "deviceMark": ""}
    reply = member.api.post("/customers/login", json=asks, headers=SAME, status=200)
    assert "deviceMark" not in reply.json()
    cookies = reply.raw.headers.getlist("Set-Cookie")
    names = [cookie.partition("=")[0].removeprefix("__Secure-") for cookie in cookies]
    assert names == ["gatehouse-refresh", "gatehouse-device"]
    pair, *attributes = cookies[1].split("; ")
    attributes = [one for one in attributes if one != "Secure"]
    assert attributes == [f"Path={stack.prefix}/customers/login", "Max-Age=15552000", "HttpOnly", "SameSite=Strict"]
    locked()
    member.api.post("/customers/login", json=asks, headers={**SAME, "Cookie": pair}, status=200)
    member.api.post("/customers/login", json=asks, headers={**SAME, "Cookie": f"{pair}; {pair}"}, status=429)
    # A page of somebody else, and a client that does not ask for the session in a cookie, make no use of it.
    foreign = {"Origin": "https://evil.example", "Cookie": pair}
    member.api.post("/customers/login", json=asks, headers=foreign, status=403)
    login(member, mark="", headers={"Cookie": pair}, status=429)
    assert database.run("SELECT COUNT(*) FROM known_device WHERE user_id = %s", key(member.id))[0][0] == 1
