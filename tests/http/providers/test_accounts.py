# SPDX-License-Identifier: MIT
"""The account cases that every identity provider must carry. The same code runs with the embedded one (tools/test http)
and with each of those that tools/test providers starts; what an emulator does otherwise is in
tests/providers/deviations.json, and nothing else may fail."""

import concurrent.futures
import os
import signal

import pytest

from providers.support_calls import (admin_set, change, claims, login, me, refresh, set_status, standing_still,
                                     stays_out)
from providers.support_held import Held
from sessions.support_grace import renew_grace
from support import files, mail
from support.accounts import fresh_email, fresh_password, invitation
from support.client import anonymous, failing
from support.database import key
from support.members import USERS, body, works
from support.stack import wait_until

UNKNOWN = "01890000-0000-7000-8000-000000000000"
ENDED = {"auth.tokenInvalid", "auth.tokenRevoked"}


@pytest.fixture(scope="module", autouse=True)
def once(stack):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")


@pytest.fixture(scope="module")
def held(stack, database):
    return Held(stack, database)


@pytest.fixture()
def waiting(members, boss):
    return members.waiting(boss)


# ---- sign-up and first login ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["email", "id"])
def test_an_owner_comes_in_with_the_temporary_password_and_a_new_one(api, accounts, name):
    invited = accounts.invited()
    username, password = getattr(invited, name), fresh_password()
    asked = login(api, username, invited.temporary, 400, "auth.newPasswordRequired")
    assert set(failing(asked)) == {"newPassword"}
    reply = login(api, username, invited.temporary, 200, newPassword=password).json()
    assert reply["user"]["status"] == "active"
    assert reply["user"]["emailVerified"] and reply["user"]["phoneVerified"]
    me(api, reply["tokens"], 200)
    refresh(api, reply["tokens"], 200)
    login(api, invited.email, password, 200)


def test_the_temporary_password_is_spent_by_the_first_login(api, accounts):
    invited = accounts.invited()
    login(api, invited.email, invited.temporary, 200, newPassword=fresh_password())
    login(api, invited.email, invited.temporary, 401, "auth.credentials")
    login(api, invited.email, invited.temporary, 401, "auth.credentials", newPassword=fresh_password())


def test_a_wrong_temporary_password_lets_nobody_choose_another(api, accounts):
    invited, chosen = accounts.invited(), fresh_password()
    login(api, invited.email, "not the password", 401, "auth.credentials")
    login(api, invited.email, "not the password", 401, "auth.credentials", newPassword=chosen)
    login(api, invited.email, chosen, 401, "auth.credentials")
    login(api, invited.email, invited.temporary, 200, newPassword=chosen)


def test_a_new_password_that_is_refused_leaves_the_temporary_one(api, accounts):
    invited = accounts.invited()
    for refused in (invited.temporary, "short", "password1234"):
        reply = login(api, invited.email, invited.temporary, 400, newPassword=refused)
        assert set(failing(reply)) == {"newPassword"}
    login(api, invited.email, invited.temporary, 200, newPassword=fresh_password())


def test_first_logins_at_once_set_one_password(api, accounts, database):
    invited, passwords = accounts.invited(), [fresh_password() for _ in range(4)]

    def enter(password):
        return login(api, invited.email, invited.temporary, {200, 401}, newPassword=password).status_code

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(enter, passwords))
    assert answers.count(200) == 1, answers
    for password, answer in zip(passwords, answers):
        database.lift_throttles()
        login(api, invited.email, password, 200 if answer == 200 else 401)


def test_another_invitation_replaces_the_temporary_password(api, accounts, mailbox):
    invited = accounts.invited()
    api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    second = mail.temporary_password(mailbox.wait(invited.email, 2))
    assert second != invited.temporary
    login(api, invited.email, second, 200, newPassword=fresh_password())


def test_a_replaced_temporary_password_is_wrong(api, accounts, mailbox):
    invited = accounts.invited()
    api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    mailbox.wait(invited.email, 2)
    login(api, invited.email, invited.temporary, 401, "auth.credentials", newPassword=fresh_password())


def test_a_temporary_password_whose_time_is_over_is_a_wrong_one(api, accounts, database, mailbox):
    invited = accounts.invited()
    for table, user, column in (("identity_account", "id", "password_expires_at"),
                                ("outside_account", "user_id", "temporary_until")):
        database.run(f"UPDATE {table} SET {column} = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE {user} = %s",
                     key(invited.id))
    login(api, invited.email, invited.temporary, 401, "auth.credentials")
    login(api, invited.email, invited.temporary, 401, "auth.credentials", newPassword=fresh_password())
    api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    second = mail.temporary_password(mailbox.wait(invited.email, 2))
    login(api, invited.email, second, 200, newPassword=fresh_password())


def test_an_address_is_taken_in_any_case(accounts, administrator, boss, members):
    invited, waiting = accounts.invited(), members.waiting(boss)
    for address in (invited.email, waiting.email.upper(), boss.email.title()):
        administrator.post("/customers/signup", json=invitation(email=address), status=409, code="user.exists")
        boss.post(USERS, json=body(email=address), status=409, code="user.exists")


# ---- team members and codes -----------------------------------------------------------------------------


def test_a_member_confirms_with_the_code_and_comes_in_with_the_given_password(api, members, waiting):
    waiting.confirm(status=200)
    user = members.user(waiting.id)
    assert user["status"] == "active" and user["emailVerified"]
    me(api, login(api, waiting.email, waiting.password, 200).json()["tokens"], 200)


def test_nobody_comes_in_before_the_code_was_given(api, waiting):
    for more in ({}, {"newPassword": fresh_password()}):
        login(api, waiting.email, waiting.password, {400, 401}, {"auth.userUnconfirmed", "auth.credentials",
                                                                 "request.invalid"}, **more)
    login(api, waiting.email, "not the password", 401, "auth.credentials")


def test_who_waits_for_the_code_is_told_so_with_the_right_password(api, waiting):
    login(api, waiting.email, waiting.password, 401, "auth.userUnconfirmed")


def test_a_wrong_code_confirms_nobody(members, waiting):
    right = waiting.code()
    waiting.confirm(f"{(int(right) + 1) % 1000000:06d}", status=400, code="code.mismatch")
    assert members.user(waiting.id)["status"] == "awaiting-confirmation"
    waiting.confirm(right, status=200)
    waiting.confirm(right, status=400, code="code.mismatch")


def test_another_code_replaces_the_first(api, waiting):
    first = waiting.code()
    api.post("/customers/resend-confirmation", json={"username": waiting.id}, status=200)
    second = waiting.code(2)
    if first != second:
        waiting.confirm(first, status=400, code="code.mismatch")
    waiting.confirm(second, status=200)
    login(api, waiting.email, waiting.password, 200)


def test_an_administrator_confirms_once(api, administrator, waiting):
    sent = {"username": waiting.email}
    administrator.post("/customers/admin-confirm-signup", json=sent, status=200)
    reply = login(api, waiting.email, waiting.password, 200).json()
    assert reply["user"]["status"] == "active" and reply["user"]["emailVerified"]
    administrator.post("/customers/admin-confirm-signup", json=sent, status=409, code="user.alreadyConfirmed")


# ---- login ----------------------------------------------------------------------------------------------


def test_the_username_is_the_email_in_any_case_or_the_id(api, member):
    for name in (member.email, member.email.upper(), member.id):
        reply = login(api, name, member.password, 200).json()
        assert reply["user"]["id"] == member.id
        assert set(reply["tokens"]) == {"accessToken", "idToken", "refreshToken", "tokenType", "expiresIn"}
        assert reply["tokens"]["tokenType"] == "Bearer" and 0 < reply["tokens"]["expiresIn"] <= 3600


def test_a_wrong_password_and_an_unknown_user_are_told_alike(api, database, member):
    replies = [login(api, name, "not the password", 401, "auth.credentials")
               for name in (member.email, member.id, fresh_email("nobody"), UNKNOWN, "nobody")]
    assert len({anonymous(reply) for reply in replies}) == 1
    database.lift_throttles()
    login(api, member.email, member.password, 200)


def test_a_new_password_with_a_lasting_one_changes_nothing(api, member):
    new = fresh_password()
    reply = login(api, member.email, member.password, 400, "request.invalid", newPassword=new)
    assert failing(reply) == {"newPassword": {"unexpected"}}
    assert works(member) and not works(member, new)


def test_only_access_tokens_of_the_provider_open_the_service(api, member):
    tokens = member.session()
    said = claims(tokens["accessToken"])
    assert said["exp"] > said["iat"] and said["iss"] and said["sub"]
    me(api, tokens, 200)
    for spoilt in (tokens["idToken"], tokens["refreshToken"], tokens["accessToken"][:-4] + "AAAA"):
        api.get("/customers/me", token=spoilt, status=401, code={"auth.tokenInvalid"})


# ---- disabled -------------------------------------------------------------------------------------------


def test_a_disabled_user_is_out_at_once_and_in_again_when_enabled(api, boss, member):
    tokens = member.session()
    set_status(boss, member, "disabled")
    me(api, tokens, 401, "auth.tokenRevoked")
    refresh(api, tokens, 401, ENDED)
    stays_out(api, member)
    set_status(boss, member, "active")
    me(api, tokens, 401, "auth.tokenRevoked")
    refresh(api, tokens, 401, ENDED)
    me(api, member.session(), 200)


def test_a_disabled_user_is_told_so_with_the_right_password(api, boss, member):
    set_status(boss, member, "disabled")
    login(api, member.email, "not the password", 401, "auth.credentials")
    login(api, member.email, member.password, 401, "auth.userDisabled")


def test_the_provider_is_told_who_is_disabled(held, members, boss, member):
    assert held.account(member.id)["enabled"]
    set_status(boss, member, "disabled")
    members.await_jobs()
    assert not held.account(member.id)["enabled"]
    set_status(boss, member, "active")
    members.await_jobs()
    assert held.account(member.id)["enabled"]


# ---- sessions -------------------------------------------------------------------------------------------


def test_a_logout_ends_this_session_at_once_and_no_other(api, member):
    here, there = member.session(), member.session()
    api.post("/customers/logout", token=here["accessToken"], json={}, status=200)
    for _ in range(8):  # Whichever worker answers.
        me(api, here, 401, "auth.tokenRevoked")
    refresh(api, here, 401, ENDED)
    me(api, there, 200)
    refresh(api, there, 200)


def test_a_logout_everywhere_ends_all_sessions_of_the_user_and_no_others(api, boss, member):
    sessions = [member.session() for _ in range(3)]
    api.post("/customers/logout", token=sessions[1]["accessToken"], json={"everywhere": True}, status=200)
    for tokens in sessions:
        me(api, tokens, 401, "auth.tokenRevoked")
        refresh(api, tokens, 401, ENDED)
    boss.get("/customers/me", status=200)
    me(api, member.session(), 200)


def test_a_refresh_rotates_and_stays_one_session(api, member):
    first = member.session()
    second = refresh(api, first, 200).json()["tokens"]
    assert second["refreshToken"] != first["refreshToken"]
    third = refresh(api, second, 200).json()["tokens"]
    assert claims(third["accessToken"])["sub"] == claims(first["accessToken"])["sub"]
    me(api, third, 200)
    api.post("/customers/logout", token=third["accessToken"], json={}, status=200)
    for tokens in (first, second, third):
        me(api, tokens, 401, "auth.tokenRevoked")


def test_a_copied_refresh_token_ends_the_session(api, database, member):
    stolen, bystander = member.session(), member.session()
    after = refresh(api, stolen, 200).json()["tokens"]
    renew_grace(database, stolen)
    refresh(api, stolen, 200)
    database.run(
        "UPDATE identity_refresh r JOIN session s ON s.id = r.session_id"
        " SET r.spent_at = r.spent_at - INTERVAL 11 SECOND WHERE s.user_id = %s", key(member.id))
    refresh(api, stolen, 401, ENDED)
    me(api, after, 401, "auth.tokenRevoked")
    me(api, bystander, 200)


def test_parallel_refreshes_of_one_session_all_succeed(api, member):
    tokens = member.session()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        after = list(pool.map(lambda _: refresh(api, tokens, 200).json()["tokens"], range(4)))
    for one in after:
        me(api, one, 200)
    refresh(api, after[-1], 200)


# ---- passwords ------------------------------------------------------------------------------------------


def test_a_changed_password_is_the_only_one_and_ends_the_other_sessions(api, member):
    here, there, new = member.session(), member.session(), fresh_password()
    change(api, here, member.password, new, status=200)
    me(api, here, 200)
    refresh(api, here, 200)
    me(api, there, 401, "auth.tokenRevoked")
    refresh(api, there, 401, ENDED)
    assert works(member, new) and not works(member)


def test_a_wrong_or_the_same_password_changes_nothing(api, member):
    here, there = member.session(), member.session()
    wrong = change(api, here, "not the password", fresh_password(), status=400, code="request.invalid")
    assert failing(wrong) == {"password": {"mismatch"}}
    same = change(api, here, member.password, member.password, status=400)
    assert set(failing(same)) == {"newPassword"}
    me(api, there, 200)
    assert works(member)


def test_a_forgotten_password_is_reset_with_the_code(api, members, member):
    tokens, new, code = member.session(), fresh_password(), members.reset_code(member)
    sent = {"username": member.id, "confirmationCode": code, "newPassword": new}
    wrong = {**sent, "confirmationCode": f"{(int(code) + 1) % 1000000:06d}"}
    api.post("/customers/reset-password", json=wrong, status=400, code="code.mismatch")
    refused = api.post("/customers/reset-password", json={**sent, "newPassword": "short"}, status=400)
    assert set(failing(refused)) == {"newPassword"}
    me(api, tokens, 200)
    api.post("/customers/reset-password", json=sent, status=200)
    me(api, tokens, 401, "auth.tokenRevoked")
    refresh(api, tokens, 401, ENDED)
    assert works(member, new) and not works(member)
    api.post("/customers/reset-password", json=sent, status=400, code="code.mismatch")


@pytest.mark.parametrize("state", ["invited", "waiting", "disabled"])
def test_a_reset_opens_no_account_that_waits_or_is_disabled(api, accounts, members, boss, state):
    account = accounts.invited() if state == "invited" else members.waiting(boss) if state == "waiting" else \
        members.active(boss)
    if state == "disabled":
        set_status(boss, account, "disabled")
    before, password = members.user(account.id), fresh_password()
    api.post("/customers/forgotten-password", json={"username": account.email}, status=200)
    members.await_jobs()
    for letter in members.letters(account.email, "reset"):
        sent = {"username": account.id, "confirmationCode": mail.code(letter), "newPassword": password}
        api.post("/customers/reset-password", json=sent, status={200, 400})
    login(api, account.email, password, {400, 401})
    assert {**members.user(account.id), "updatedAt": None} == {**before, "updatedAt": None}


def test_a_set_password_must_be_replaced_at_the_next_login(api, members, administrator, member):
    tokens, set_one, new = member.session(), fresh_password("Temporary"), fresh_password()
    members.await_jobs()  # A job that confirms who is active may be under way; moto confirms a temporary password, too.
    admin_set(administrator, member, set_one, permanent=False)
    me(api, tokens, 401, "auth.tokenRevoked")
    assert members.user(member.id)["status"] == "active"
    login(api, member.email, set_one, 400, "auth.newPasswordRequired")
    login(api, member.email, set_one, 200, newPassword=new)
    assert works(member, new) and not works(member, set_one)


def test_a_set_temporary_password_replaces_the_one_before(api, members, administrator, member):
    members.await_jobs()
    admin_set(administrator, member, fresh_password("Temporary"), permanent=False)
    login(api, member.email, member.password, 401, "auth.credentials")


def test_a_permanent_set_password_is_good_at_once(api, administrator, member):
    tokens, new = member.session(), fresh_password()
    admin_set(administrator, member, new, permanent=True)
    me(api, tokens, 401, "auth.tokenRevoked")
    assert works(member, new) and not works(member)


def test_a_password_set_for_who_waits_opens_nothing(api, members, administrator, waiting):
    for permanent in (False, True):
        new = fresh_password()
        admin_set(administrator, waiting, new, permanent)
        login(api, waiting.email, new, {400, 401})
        assert members.user(waiting.id)["status"] == "awaiting-confirmation"


def test_an_invited_owner_comes_in_with_the_set_password(api, accounts, administrator):
    invited, set_one = accounts.invited(), fresh_password("Temporary")
    admin_set(administrator, invited, set_one, permanent=False)
    reply = login(api, invited.email, set_one, 200, newPassword=fresh_password()).json()
    assert reply["user"]["status"] == "active"


# ---- what the service knows and the provider mirrors ----------------------------------------------------


def test_a_patch_changes_the_user_and_the_providers_copy(held, members, boss, member):
    sent = {"firstName": "Renamed", "lastName": "Person", "phone": "+493012345678", "roles": ["inv-manage"],
            "permissions": ["log:truck:r"]}
    user = boss.patch(f"{USERS}/{member.id}", json=sent, status=200).json()["user"]
    assert {name: user[name] for name in sent} == sent
    members.await_jobs()
    copy = held.account(member.id)
    assert copy["permissions"] == {"inv:*:w", "cus:*:w", "log:truck:r"} and copy["phone"] == sent["phone"]
    assert not copy["phone_verified"] and copy["email_verified"] and copy["email"] == member.email
    boss.patch(f"{USERS}/{member.id}", json={"phone": None, "roles": [], "permissions": []}, status=200)
    members.await_jobs()
    copy = held.account(member.id)
    assert copy["permissions"] == set() and not copy["phone"] and copy["email_verified"]
    assert works(member)


def test_a_change_of_permissions_holds_from_the_next_request_on(api, boss, member):
    tokens = member.session()
    path = f"{USERS}/{member.id}"
    api.get(path, token=tokens["accessToken"], status=403, code="auth.permission")
    boss.patch(path, json={"permissions": ["cus:user:r"]}, status=200)
    api.get(path, token=tokens["accessToken"], status=200)
    boss.patch(path, json={"permissions": []}, status=200)
    api.get(path, token=tokens["accessToken"], status=403, code="auth.permission")


def test_a_new_owner_is_marked_at_the_provider(accounts, held, members):
    account = accounts.customer()
    members.await_jobs()
    copy = held.account(account.id)
    assert copy["permissions"] == {"rwx:*", "inv:*:w", "cus:*:w"} and copy["enabled"]
    assert copy["email_verified"] and copy["phone_verified"] and copy["phone"] == "+442071838750"


def test_the_list_of_users_is_the_services_own(accounts, members):
    owner = accounts.customer()
    waits, works_here, closed = members.waiting(owner), members.active(owner), members.active(owner)
    set_status(owner, closed, "disabled")
    items = owner.get(USERS, status=200).json()["items"]
    assert {item["id"]: item["status"] for item in items} == {
        owner.id: "active", waits.id: "awaiting-confirmation", works_here.id: "active", closed.id: "disabled"
    }


# ---- the provider's tokens and its process
# -----------------------------------------------------------------------------


def test_the_providers_tokens_open_files_and_only_those_of_the_organisation(accounts, boss):
    owner, data = accounts.customer(), b"one line of text\n"
    record = files.upload(owner, data, "note.txt")
    assert record["userId"] == owner.id and files.download(owner, record["id"], status=200).content == data
    assert [item["id"] for item in files.listed(owner)] == [record["id"]]
    boss.get(f"/system/files/{record['id']}/info", status=400, code="file.unknown")


@pytest.fixture()
def process(stack):
    """The pid of the provider."""
    if stack.provider == "embedded":
        pytest.skip("the embedded provider is part of the worker, which other tests stop and restart")
    pid, = stack.pids_named("provider")
    return pid


@pytest.mark.fault
def test_a_sign_up_that_the_provider_did_not_answer_is_taken_up_again(api, stack, administrator, members, process):
    sent, password = invitation(), fresh_password()
    members.await_jobs()
    with standing_still(stack, process):
        administrator.post("/customers/signup", json=sent, status=500, code="identityProvider.unavailable")
        administrator.get("/customers/me", status=200)
    # Meanwhile the provider may have made the account, or do so now, or be left alone for a while.
    wait_until(lambda: administrator.post("/customers/signup", json=sent, status={200, 500}).status_code == 200, 60,
               "the provider to answer again", 0.5)
    members.await_jobs()
    temporary = mail.temporary_password(members.letters(sent["email"], "first-login")[-1])
    reply = login(api, sent["email"], temporary, 200, newPassword=password).json()
    assert reply["user"]["status"] == "active"


@pytest.mark.fault
def test_accounts_outlive_a_restart_of_the_provider(api, stack, members, member, process):
    tokens = member.session()
    members.await_jobs()
    os.kill(process, signal.SIGKILL)
    # Nobody needs the provider for a token that holds.
    me(api, tokens, 200)
    wait_until(lambda: stack.pids_named("provider") not in ([], [process]), 60, "the provider's process to be replaced")
    sent = {"username": member.email, "password": member.password}
    wait_until(lambda: api.post("/customers/login", json=sent, status={200, 500}).status_code == 200, 120,
               "the provider to answer again", 0.5)
    me(api, tokens, 200)
    me(api, member.session(), 200)
