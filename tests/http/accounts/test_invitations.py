# SPDX-License-Identifier: MIT
"""Team members who are invited without a password, and what people with rights over users do for those who cannot sign
in: the first e-mail again, the end of a wait."""

import datetime
import uuid

import pytest

from support import mail, members as team
from support.accounts import fresh_password
from support.client import shape
from support.database import key
from support.members import USERS, retry_after
from support.stack import wait_until


def invite(members, creator, **more):
    """The user of an invitation without a password."""
    return creator.post(USERS, json=team.body(password=None, **more), status=200).json()["user"]


def temporary(members, user, count=1):
    """The temporary password of the count-th invitation."""
    word = mail.temporary_password(members.letter(user["email"], "first-login", count))
    members.accounts.secrets.add(word)
    return word


def resend(account, identity, **expected):
    return account.post(f"{USERS}/{identity}/resend", **expected)


def unlock(account, identity, **expected):
    return account.post(f"{USERS}/{identity}/unlock", **expected)


def rows(database, identity, action):
    """(user_id, organisation_id) of the audit rows of one action about the user."""
    return database.run("SELECT user_id, organisation_id FROM audit WHERE target_id = %s AND action = %s ORDER BY id",
                        identity, action)


def of(members, identity):
    return members.user(identity)


# ---- inviting --------------------------------------------------------------------------------------------------------


def test_a_member_without_a_password_is_invited_as_an_owner_is(members, boss, api):
    user = invite(members, boss, roles=["inv-manage"], permissions=["log:truck:r"])
    assert user["status"] == "awaiting-first-login" and user["roles"] == ["inv-manage"]
    assert user["organisationId"] == boss.organisation["id"] and not user["emailVerified"]
    message = members.letter(user["email"], "first-login")
    assert mail.link(message, f"{members.accounts.stack.web_url}/first-login").endswith(user["id"])
    word, chosen = temporary(members, user), fresh_password()
    members.accounts.secrets.add(chosen)
    sent = {"username": user["id"], "password": word}
    api.post("/customers/login", json=sent, status=400, code="auth.newPasswordRequired")
    reply = api.post("/customers/login", json={**sent, "newPassword": chosen}, status=200).json()
    assert reply["user"]["status"] == "active" and reply["user"]["emailVerified"]
    assert members.letters(user["email"], "confirm") == []
    api.post("/customers/login", json={"username": user["email"], "password": chosen}, status=200)


def test_the_record_tells_when_the_invitation_ends(members, boss):
    user = invite(members, boss)
    assert user["invitationExpiresAt"] is not None
    left = datetime.datetime.fromisoformat(user["invitationExpiresAt"]) - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(days=6.9) < left <= datetime.timedelta(days=7)
    assert members.waiting(boss).user["invitationExpiresAt"] is None


def test_a_password_that_is_sent_means_a_code_as_before(members, boss):
    member = members.waiting(boss)
    assert member.user["status"] == "awaiting-confirmation"
    member.confirm(status=200)
    assert members.letters(member.email, "first-login") == []


@pytest.mark.parametrize("password", [None, "", 7, []])
def test_a_password_that_is_there_is_looked_at(boss, password):
    body = {**team.body(), "password": password}
    boss.post(USERS, json=body, status=400, code="request.invalid", paths=["password"])


def test_nobody_invites_with_more_than_they_hold(members, boss):
    manager = members.holding(boss, "cus:user:w")
    manager.post(USERS, json=team.body(password=None, roles=["owner"], permissions=["*:*:a", "cus:user:w"]), status=403,
                 code="role.notGrantable", paths=["roles[0]", "permissions[0]"])


def test_an_invitation_to_an_address_that_is_taken_is_refused(members, boss, other):
    for taken in (boss.email, other.email):
        boss.post(USERS, json=team.body(password=None, email=taken), status=409, code="user.exists")


# ---- again -----------------------------------------------------------------------------------------------------------


def test_an_invitation_sent_again_replaces_the_password(members, boss, api, database):
    user = invite(members, boss)
    first, before = temporary(members, user), user["invitationExpiresAt"]
    resend(boss, user["id"], status=200)
    second = temporary(members, user, 2)
    assert first != second
    for word, code in ((first, "auth.credentials"), (second, "auth.newPasswordRequired")):
        api.post("/customers/login", json={"username": user["id"], "password": word},
                 status=401 if code == "auth.credentials" else 400, code=code)
    assert of(members, user["id"])["invitationExpiresAt"] > before
    assert rows(database, user["id"], "user.resendInvitation") == ((key(boss.id), key(boss.organisation["id"])), )


def test_a_code_sent_again_replaces_the_code(members, boss, api, database):
    member = members.waiting(boss)
    first = member.code()
    resend(boss, member.id, status=200)
    second = member.code(2)
    if first != second:
        member.confirm(first, status=400, code="code.mismatch")
    member.confirm(second, status=200)
    assert rows(database, member.id, "user.resendConfirmation") == ((key(boss.id), key(boss.organisation["id"])), )


def test_an_expired_invitation_is_good_again(members, boss, api, database, stack):
    if stack.provider != "embedded":
        pytest.skip("the test sets back the clock of the embedded provider's row")
    user = invite(members, boss)
    word = temporary(members, user)
    database.run("UPDATE identity_account SET password_expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = %s",
                 key(user["id"]))
    api.post("/customers/login", json={"username": user["id"], "password": word}, status=401, code="auth.credentials")
    resend(boss, user["id"], status=200)
    api.post("/customers/login", json={"username": user["id"], "password": temporary(members, user, 2)}, status=400,
             code="auth.newPasswordRequired")


@pytest.mark.usefixtures("one_day")
@pytest.mark.parametrize("kind", ["invited", "waiting"])
def test_the_days_mails_are_bounded_and_the_caller_is_told(members, boss, kind, database):
    identity, page = ((invite(members, boss)["id"], "first-login") if kind == "invited" else
                      (members.waiting(boss).id, "confirm"))
    for _ in range(4):
        resend(boss, identity, status=200)
    reply = resend(boss, identity, status=429, code="rate.limited")
    assert 0 < retry_after(reply) <= 86400
    now = datetime.datetime.now(datetime.timezone.utc)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + datetime.timedelta(days=1)
    assert abs((midnight - now).total_seconds() - retry_after(reply)) < 60
    members.await_jobs()
    address = of(members, identity)["email"]
    assert len(members.letters(address, page)) == 5
    # The public way is bounded by the same count.
    members.api.post("/customers/resend-confirmation", json={"username": identity}, status=200)
    members.await_jobs()
    assert len(members.letters(address, page)) == 5
    database.run("UPDATE mail_allowance SET day = day - INTERVAL 1 DAY WHERE user_id = %s", key(identity))
    resend(boss, identity, status=200)


def test_who_awaits_nothing_gets_nothing(members, boss, member):
    resend(boss, member.id, status=409, code="user.state")
    resend(boss, boss.id, status=409, code="user.state")
    boss.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    resend(boss, member.id, status=409, code="user.state")


# ---- unlocking -------------------------------------------------------------------------------------------------------


def test_a_wait_is_told_and_lifted(members, boss, member, database):
    members.fail_logins(member.email, 5)
    database.lengthen_waits()
    sent = {"username": member.email, "password": member.password}
    member.api.post("/customers/login", json=sent, status=429)
    assert of(members, member.id)["lockedUntil"] is not None
    unlock(boss, member.id, status=200)
    assert of(members, member.id)["lockedUntil"] is None
    member.api.post("/customers/login", json=sent, status=200)
    unlock(boss, member.id, status=200)
    assert rows(database, member.id, "user.unlock") == ((key(boss.id), key(boss.organisation["id"])), ) * 2


# ---- who may ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def second_owner(members, boss):
    return members.active(boss, roles=["owner"])


@pytest.fixture(scope="module")
def invited_owner(members, boss):
    return invite(members, boss, roles=["owner"])["id"]


@pytest.mark.parametrize("action", ["resend", "unlock"])
@pytest.mark.parametrize(
    "patterns", ["cus:user:r", "cus:org:w cus:file:w", "inv:*:w log:*:w", "cus:user:r cus:org:a", ""])
def test_other_rights_do_not_do(members, boss, subject, database, action, patterns):
    database.set_grants(subject.id, patterns)
    reply = subject.post(f"{USERS}/{uuid.uuid4()}/{action}", status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:user:w"


@pytest.mark.parametrize("action", ["resend", "unlock"])
def test_nobody_acts_on_who_may_do_more(members, boss, second_owner, invited_owner, action, database):
    manager = members.holding(boss, "cus:user:w")
    target = invited_owner if action == "resend" else second_owner.id
    before = members.snapshot(target)
    manager.post(f"{USERS}/{target}/{action}", status=403, code="role.notGrantable", paths=["id"])
    assert members.snapshot(target) == before


@pytest.mark.parametrize("action", ["resend", "unlock"])
def test_a_foreign_user_answers_as_an_unknown_one(members, boss, other, action):
    theirs = invite(members, other)["id"]
    foreign, unknown = (boss.post(f"{USERS}/{one}/{action}", status=400, code="user.unknown", paths=["id"])
                        for one in (theirs, str(uuid.uuid4())))
    assert shape(foreign) == shape(unknown)
    boss.post(f"{USERS}/x/{action}", status=400, code="request.invalid", paths=["id"])


def test_staff_reach_everybody_and_it_is_a_row_of_the_trail(members, boss, member, administrator, database):
    user = invite(members, boss)
    resend(administrator, user["id"], status=200)
    unlock(administrator, member.id, status=200)
    for target, action in ((user["id"], "user.resendInvitation"), (member.id, "user.unlock")):
        assert rows(database, target, action)[-1] == (key(administrator.id), key(boss.organisation["id"]))
        crossings = rows(database, target, "access.crossOrganisation")
        assert (key(administrator.id), key(boss.organisation["id"])) in crossings
    temporary(members, user, 2)


def test_a_half_made_account_is_unknown(members, boss, database):
    user = invite(members, boss)
    members.await_jobs()
    members.set_status(user["id"], "provisioning")
    try:
        for action in (resend, unlock):
            action(boss, user["id"], status=400, code="user.unknown")
    finally:
        members.set_status(user["id"], "awaiting-first-login")
    wait_until(lambda: of(members, user["id"])["status"] == "awaiting-first-login", 5, "the row to be back")
