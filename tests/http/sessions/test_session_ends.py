# SPDX-License-Identifier: MIT
"""Whatever ends a session ends it at once, on every worker: its access tokens and its refresh token."""

import concurrent.futures
import time

import pytest

from support.accounts import fresh_password
from support.database import Database
from support.members import USERS, works

CHECKS = 200
REFUSED_REFRESH = {"auth.tokenInvalid", "auth.tokenRevoked"}


@pytest.fixture()
def member(members, owner):
    return members.active(owner)


def refresh(api, tokens, **arguments):
    return api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, **arguments)


def answers(api, token):
    """What 200 requests with a token get, sixteen at a time so that all workers are asked."""

    def ask(_):
        reply = api.get("/customers/me", token=token)
        return reply.status_code, reply.json().get("code")

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        return set(pool.map(ask, range(CHECKS)))


def check_ended(api, database, sessions):
    """The first session's token fails 200 times, each other's at least once, and none is refreshed."""
    assert answers(api, sessions[0]["accessToken"]) == {(401, "auth.tokenRevoked")}
    for tokens in sessions:
        api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
        refresh(api, tokens, status=401, code=REFUSED_REFRESH)
        database.lift_throttles()


def end_by_logout(members, owner, member, sessions):
    members.api.post("/customers/logout", token=sessions[0]["accessToken"], json={}, status=200)
    return sessions[:1]


def end_by_logout_everywhere(members, owner, member, sessions):
    members.api.post("/customers/logout",
                     token=sessions[0]["accessToken"],
                     json={"everywhere": True},
                     status=200)
    return sessions


def end_by_disabling(members, owner, member, sessions):
    owner.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    return sessions


def end_by_change(members, owner, member, sessions):
    sent = {"password": member.password, "newPassword": fresh_password()}
    members.api.post("/customers/change-password", token=sessions[-1]["accessToken"], json=sent, status=200)
    return sessions[:-1]


def end_by_reset(members, owner, member, sessions):
    sent = {
        "username": member.email, "confirmationCode": members.reset_code(member),
        "newPassword": fresh_password()
    }
    members.api.post("/customers/reset-password", json=sent, status=200)
    return sessions


def end_by_temporary_password(members, owner, member, sessions):
    sent = {"username": member.email, "password": fresh_password()}
    members.administrator.post("/customers/admin-set-password", json=sent, status=200)
    return sessions


def end_by_permanent_password(members, owner, member, sessions):
    sent = {"username": member.email, "password": fresh_password(), "permanent": True}
    members.administrator.post("/customers/admin-set-password", json=sent, status=200)
    return sessions


ENDS = [
    end_by_logout, end_by_logout_everywhere, end_by_disabling, end_by_change, end_by_reset,
    end_by_temporary_password, end_by_permanent_password
]


@pytest.mark.parametrize("end", ENDS, ids=[end.__name__ for end in ENDS])
def test_ended_sessions_are_refused_at_once_on_every_worker_and_no_others(api, members, owner, member, end):
    bystander = members.active(owner)
    sessions = [member.session() for _ in range(3)]
    # One has been refreshed before: the tokens from before and after belong to one session.
    first = sessions[0]["accessToken"]
    sessions[0]["accessToken"] = refresh(api, sessions[0], status=200).json()["tokens"]["accessToken"]
    for tokens in sessions:
        api.get("/customers/me", token=tokens["accessToken"], status=200)
    bystander.get("/customers/me", status=200)
    ended = end(members, owner, member, sessions)
    assert sessions[0] in ended
    check_ended(api, members.database, ended)
    api.get("/customers/me", token=first, status=401, code="auth.tokenRevoked")
    for tokens in sessions:
        if tokens not in ended:
            api.get("/customers/me", token=tokens["accessToken"], status=200)
            refresh(api, tokens, status=200)
    bystander.get("/customers/me", status=200)


def test_a_change_of_password_ends_all_twenty_other_sessions(api, members, member):
    others = [member.session() for _ in range(20)]
    own = member.session()
    sent = {"password": member.password, "newPassword": fresh_password()}
    api.post("/customers/change-password", token=own["accessToken"], json=sent, status=200)
    for tokens in others:
        api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
        refresh(api, tokens, status=401, code=REFUSED_REFRESH)
        members.database.lift_throttles()
    assert answers(api, own["accessToken"]) == {(200, None)}
    after = refresh(api, own, status=200).json()["tokens"]
    api.get("/customers/me", token=after["accessToken"], status=200)


def test_enabling_a_user_again_does_not_revive_the_sessions_of_before(api, members, owner, member):
    tokens = member.session()
    for status in ("disabled", "active"):
        owner.patch(f"{USERS}/{member.id}", json={"status": status}, status=200)
    api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    refresh(api, tokens, status=401, code=REFUSED_REFRESH)
    assert works(member)


def test_refreshes_that_wait_for_one_another_are_honest(api, stack, member):
    """Three refreshes with one token stand in line behind a lock: all are within the grace, however long the
    line is, and the session goes on."""
    tokens = member.session()
    locker = Database(stack.database)
    locker.run("BEGIN")
    locker.run("SELECT 1 FROM identity_refresh WHERE token_hash = UNHEX(SHA2(%s, 256)) FOR UPDATE",
               tokens["refreshToken"])
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(refresh, api, tokens) for _ in range(3)]
        time.sleep(0.4)
        locker.run("COMMIT")
        assert [one.result().status_code for one in waiting] == [200, 200, 200]
    api.get("/customers/me", token=tokens["accessToken"], status=200)


def test_a_refresh_in_flight_does_not_outlive_a_logout_everywhere(api, member):
    """Refreshes and the logout race; whatever tokens the race hands out, none works afterwards."""
    for _ in range(5):
        tokens = member.session()
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            racing = [pool.submit(refresh, api, tokens) for _ in range(4)]
            api.post("/customers/logout", token=tokens["accessToken"], json={"everywhere": True}, status=200)
            given = [one.result().json().get("tokens") for one in racing]
        for one in filter(None, given):
            api.get("/customers/me", token=one["accessToken"], status=401, code="auth.tokenRevoked")


def test_a_login_with_the_old_password_that_races_a_change_leaves_no_session(api, member):
    """Logins with the old password and the change race; a session that one of them won is ended by the
    change, or it never began."""
    own = member.session()
    sent = {"password": member.password, "newPassword": fresh_password()}
    body = {"username": member.email, "password": member.password}
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        racing = [pool.submit(api.post, "/customers/login", json=body) for _ in range(4)]
        api.post("/customers/change-password", token=own["accessToken"], json=sent, status=200)
        given = [one.result().json().get("tokens") for one in racing]
    for one in filter(None, given):
        api.get("/customers/me", token=one["accessToken"], status=401, code="auth.tokenRevoked")
