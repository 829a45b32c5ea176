# SPDX-License-Identifier: MIT
"""Invitations, disabled organisations and erasure, with every identity provider."""

import pytest

from providers.support_calls import login, standing_still
from providers.support_held import Held
from support import mail, members as team
from support.accounts import fresh_password
from support.database import key
from support.members import USERS
from support.stack import wait_until

ALL = "/customers/organisations"


@pytest.fixture(scope="module", autouse=True)
def once(stack):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")


@pytest.fixture(scope="module")
def held(stack, database):
    return Held(stack, database)


def invite(members, boss, **more):
    user = boss.post(USERS, json=team.body(password=None, **more), status=200).json()["user"]
    assert user["status"] == "awaiting-first-login" and user["invitationExpiresAt"]
    return user


def temporary(members, user, count=1):
    word = mail.temporary_password(members.letter(user["email"], "first-login", count))
    members.accounts.secrets.add(word)
    return word


def test_an_invited_member_comes_in_with_the_temporary_password(members, boss, api):
    user, chosen = invite(members, boss, phone="+442071838750"), fresh_password()
    members.accounts.secrets.add(chosen)
    word = temporary(members, user)
    login(api, user["id"], word, 400, "auth.newPasswordRequired")
    assert login(api, user["id"], word, 200, newPassword=chosen).json()["user"]["status"] == "active"
    login(api, user["email"], chosen, 200)


def test_an_invitation_sent_again_brings_another_temporary_password(members, boss, api):
    user, chosen = invite(members, boss), fresh_password()
    members.accounts.secrets.add(chosen)
    first = temporary(members, user)
    boss.post(f"{USERS}/{user['id']}/resend", status=200)
    second = temporary(members, user, 2)
    assert first != second
    login(api, user["email"], second, 200, newPassword=chosen)
    boss.post(f"{USERS}/{user['id']}/resend", status=409, code="user.state")


def test_a_disabled_organisation_lets_nobody_in_until_it_is_enabled(accounts, api):
    account, administrator = accounts.customer(), accounts.administrator
    tokens = account.session()
    path = f"{ALL}/{account.organisation['id']}"
    administrator.patch(path, json={"status": "disabled"}, status=200)
    api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    login(api, account.email, account.password, 401, "auth.userDisabled")
    administrator.patch(path, json={"status": "active"}, status=200)
    api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    login(api, account.email, account.password, 200)


def disabled(members, boss, **more):
    member = members.active(boss, **more)
    member.login()
    boss.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    return member


def test_an_erased_person_has_no_account_at_the_provider_and_the_address_is_free(members, boss, held, api):
    member = disabled(members, boss, phone="+442071838750")
    subject = held.named(member.id)
    assert held.account(member.id)["email"] == member.email
    reply = boss.post(f"{USERS}/{member.id}/erase", status=200).json()
    assert reply["message"] == "The person is erased."
    assert held.account(member.id, subject) is None
    login(api, member.email, member.password, 401, "auth.credentials")
    again = members.active(boss, email=member.email)
    again.login()
    assert again.id != member.id


@pytest.mark.fault
def test_an_erasure_that_the_provider_did_not_answer_is_finished_by_a_job(members, boss, held, stack, database):
    if stack.provider == "embedded":
        pytest.skip("the embedded provider is part of the worker, which other tests stop and restart")
    process, = stack.pids_named("provider")
    member = disabled(members, boss)
    subject = held.named(member.id)
    with standing_still(stack, process):
        reply = boss.post(f"{USERS}/{member.id}/erase", status=200, timeout=60).json()
        assert reply["message"].startswith("Nobody sees the person any more")
        boss.get(f"{USERS}/{member.id}", status=400, code="user.unknown")
        assert database.run("SELECT email FROM user WHERE id = %s", key(member.id))[0][0] == member.email
    wait_until(lambda: not database.run("SELECT 1 FROM outbox WHERE user_id = %s", key(member.id)), 150,
               "the job runner to finish the erasure")
    assert held.account(member.id, subject) is None
    assert database.run("SELECT email FROM user WHERE id = %s", key(member.id))[0][0] != member.email
