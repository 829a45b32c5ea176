# SPDX-License-Identifier: MIT
"""What a user's record says beside who the user is: language, last login, end of the invitation, wait."""

import datetime

import pytest

from support.accounts import fresh_password
from support.database import key
from support.members import MEMBERS, USERS


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def now(database):
    return database.run("SELECT UTC_TIMESTAMP(3)")[0][0].replace(tzinfo=datetime.timezone.utc)


def record(boss, user_id):
    return boss.get(f"{USERS}/{user_id}", status=200).json()["user"]


def everywhere(boss, user_id):
    """The user's record, which one reply and the list show alike."""
    one = record(boss, user_id)
    items = boss.get(USERS, params={"limit": 100}, status=200).json()["items"]
    found = [item for item in items if item["id"] == user_id]
    assert found == [one] and set(one) == MEMBERS
    return one


def fail(api, username, times=1):
    for _ in range(times):
        reply = api.post("/customers/login", json={"username": username, "password": fresh_password()})
    return reply


def test_the_new_members_stand_behind_the_old_ones(boss):
    assert list(record(boss, boss.id))[-5:] == [
        "updatedAt", "locale", "lastLoginAt", "invitationExpiresAt", "lockedUntil"
    ]


def test_a_login_is_noted_and_changes_nothing_else(api, boss, members, database):
    member = members.active(boss)
    before = everywhere(boss, member.id)
    start = now(database)
    reply = member.login()
    assert start <= moment(reply["user"]["lastLoginAt"]) <= now(database)
    after = everywhere(boss, member.id)
    assert after == reply["user"] == {**before, "lastLoginAt": after["lastLoginAt"]}
    assert api.get("/customers/me", token=reply["tokens"]["accessToken"], status=200).json()["user"] == after


def test_neither_a_failed_login_nor_a_refresh_is_a_login(api, boss, members):
    member = members.active(boss)
    tokens = member.login()["tokens"]
    before = record(boss, member.id)
    fail(api, member.email)
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=200)
    assert record(boss, member.id) == before


def test_who_has_never_signed_in_has_no_last_login(boss, members):
    waiting = everywhere(boss, members.waiting(boss).id)
    assert waiting["lastLoginAt"] is None and waiting["invitationExpiresAt"] is None and waiting["locale"] is None


def test_an_invitation_tells_its_end_until_the_first_login(api, accounts, administrator, database):
    invited = accounts.invited()
    user = record(administrator, invited.id)
    assert user["invitationExpiresAt"] == invited.user["invitationExpiresAt"] and user["lastLoginAt"] is None
    left = moment(user["invitationExpiresAt"]) - now(database)
    assert datetime.timedelta(days=7, minutes=-5) < left <= datetime.timedelta(days=7)
    reply = api.post("/customers/login", json=invited.credentials(newPassword=fresh_password()), status=200).json()
    assert reply["user"]["invitationExpiresAt"] is None and reply["user"]["lastLoginAt"] is not None


def test_an_invitation_that_is_over_still_says_when_it_ended(accounts, administrator, database):
    invited = accounts.invited()
    database.run("UPDATE identity_account SET password_expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 DAY WHERE id = %s",
                 key(invited.id))
    assert moment(record(administrator, invited.id)["invitationExpiresAt"]) < now(database)


def test_an_invitation_that_is_sent_again_begins_anew(api, accounts, administrator, mailbox):
    invited = accounts.invited()
    before = record(administrator, invited.id)["invitationExpiresAt"]
    api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    mailbox.wait(invited.email, 2)
    assert moment(record(administrator, invited.id)["invitationExpiresAt"]) > moment(before)


@pytest.mark.parametrize("permanent", [False, True])
def test_a_password_that_an_administrator_sets_decides_for_the_invitation(api, accounts, administrator, permanent):
    invited = accounts.invited()
    administrator.post("/customers/admin-set-password",
                       json={"username": invited.id, "password": fresh_password(), "permanent": permanent}, status=200)
    user = record(administrator, invited.id)
    assert user["status"] == "awaiting-first-login" and (user["invitationExpiresAt"] is None) == permanent


def test_only_a_login_activates_whom_an_administrator_gave_a_permanent_password(api, accounts, administrator, database,
                                                                                members):
    invited, password = accounts.invited(), fresh_password()
    administrator.post("/customers/admin-set-password",
                       json={"username": invited.id, "password": password, "permanent": True}, status=200)
    before, mails = record(administrator, invited.id), members.mails(invited.email)
    api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    members.await_jobs()
    assert record(administrator, invited.id) == before
    assert before["status"] == "awaiting-first-login" and not before["emailVerified"]
    assert members.mails(invited.email) == mails
    assert not database.run("SELECT 1 FROM audit WHERE target_id = %s AND action = 'user.resendInvitation'", invited.id)
    api.post("/customers/login", json={"username": invited.email, "password": password}, status=200)
    after = record(administrator, invited.id)
    assert after["status"] == "active" and after["emailVerified"]


def test_a_wait_is_told_while_it_lasts_and_only_of_that_user(api, boss, members, database):
    member, other = members.active(boss), members.active(boss)
    member.sign_in()
    assert fail(api, member.email, 4).status_code == 401
    assert everywhere(boss, member.id)["lockedUntil"] is None
    assert fail(api, member.email).status_code == 401
    database.lengthen_waits()
    until = moment(everywhere(boss, member.id)["lockedUntil"])
    assert datetime.timedelta(seconds=50) < until - now(database) <= datetime.timedelta(seconds=60)
    assert member.get("/customers/me", status=200).json()["user"]["lockedUntil"] is not None
    assert everywhere(boss, other.id)["lockedUntil"] is None
    database.run("UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE scope = 'account'")
    assert everywhere(boss, member.id)["lockedUntil"] is None
