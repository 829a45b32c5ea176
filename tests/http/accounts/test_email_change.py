# SPDX-License-Identifier: MIT
"""Another e-mail address: asked for with the password, confirmed with the code, cancelled with the notice."""

import concurrent.futures
import uuid

import pytest

from support import mail
from support.accounts import fresh_email, fresh_password
from support.client import anonymous, shape
from support.database import Database, key
from support.email_changes import (CANCEL, CHANGE, CONFIRM, ask, cancel, changed, code_to, codes_to, confirm, expire,
                                   notice_to, signs_in)
from support.members import USERS
from support.stack import wait_until

WAITING = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
PROVIDER = "SELECT username, email_verified FROM identity_account WHERE id = %s"


def wrong(digits):
    """A code that is another one."""
    return f"{(int(digits) + 1) % 1000000:06d}"


def actions(administrator, account):
    items = administrator.get("/system/audit", params={"userId": account.id, "limit": 100}, status=200).json()["items"]
    return [(item["action"], item["outcome"], item["details"]) for item in items
            if item["action"].startswith("user.emailChange")]


# ---- the way through ------------------------------------------------------------------------------------


def test_the_old_address_signs_in_until_the_code_and_the_new_one_from_then_on(api, database, members, member):
    old, new = member.email, fresh_email("new")
    before = member.get("/customers/me", status=200).json()["user"]
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    assert signs_in(api, old, member.password) and not signs_in(api, new, member.password)
    after = confirm(member, digits, status=200).json()["user"]
    assert after == {**before, "email": new, "emailVerified": True, "updatedAt": after["updatedAt"],
                     "lastLoginAt": after["lastLoginAt"]}
    assert signs_in(api, new, member.password) and not signs_in(api, old, member.password)
    assert signs_in(api, member.id, member.password)
    assert database.run(PROVIDER, key(member.id)) == ((new, 1), )


def test_sessions_go_on_after_a_change(api, members, member):
    tokens = member.session()
    changed(members, member)
    member.get("/customers/me", status=200)
    api.get("/customers/me", token=tokens["accessToken"], status=200)
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=200)


def test_the_mails_say_what_their_readers_need_and_no_more(members, member):
    old, new = member.email, fresh_email("new")
    ask(member, new, status=200)
    code_to(members.mailbox, new)
    text = "\n".join(mail.lines(codes_to(members.mailbox, new)[0]))
    # It may be a stranger's address.
    assert old not in text and member.user["firstName"] not in text and member.id not in text
    notice = members.letter(old, "cancel-email")
    assert mail.link(notice, members.accounts.stack.web_url) == \
        f"{members.accounts.stack.web_url}/cancel-email?id={member.id}"
    assert new in "\n".join(mail.lines(notice)) and mail.code(notice) != ""


@pytest.mark.parametrize("spelling", [str.upper, lambda text: text.replace("example", "EXAMPLE")])
def test_ones_own_address_in_another_spelling_changes_nothing(members, member, spelling):
    member.sign_in()
    before = members.snapshot(member.id)
    ask(member, spelling(member.email), status=200)
    assert members.snapshot(member.id) == before and not members.letters(member.email, "cancel-email")


def test_a_later_request_replaces_the_earlier_one(api, members, member):
    first, second = fresh_email("new"), fresh_email("new")
    ask(member, first, status=200)
    digits = code_to(members.mailbox, first)
    ask(member, second, status=200)
    confirm(member, digits, status=400, code="code.mismatch")
    confirm(member, code_to(members.mailbox, second), status=200)
    assert signs_in(api, second, member.password) and not signs_in(api, first, member.password)


# ---- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path, sent, paths", [
    (CHANGE, {}, {"newEmail", "password"}), (CHANGE, {"newEmail": "a b", "password": ""}, {"newEmail", "password"}),
    (CHANGE, {"newEmail": "a@example.com", "password": "x", "email": "y"}, {"email"}),
    (CONFIRM, {}, {"confirmationCode"}), (CONFIRM, {"confirmationCode": 5}, {"confirmationCode"}),
    (CONFIRM, {"confirmationCode": "123456", "username": "x"}, {"username"}),
    (CANCEL, {}, {"username", "confirmationCode"}), (CANCEL, {"username": "x", "confirmationCode": ""},
                                                     {"confirmationCode"}),
])
def test_what_is_wrong_is_named(member, path, sent, paths):
    member.post(path, json=sent, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("path", [CHANGE, CONFIRM])
def test_both_steps_need_a_token(api, path):
    api.post(path, json={}, status=401, code="auth.tokenMissing")


def test_a_wrong_password_is_named_and_counts_as_a_failed_login(api, administrator, members, member):
    old, new = member.email, fresh_email("new")
    for _ in range(5):
        reply = ask(member, new, fresh_password(), status=400, code="request.invalid", paths={"password"})
        assert reply.json()["validation"][0]["code"] == "mismatch"
    members.database.lengthen_waits()
    ask(member, new, status=429, code="rate.limited")
    api.post("/customers/login", json={"username": old, "password": member.password}, status=429)
    members.await_jobs()
    assert not codes_to(members.mailbox, new) and not members.letters(old, "cancel-email")
    assert ("user.emailChangeRequested", "failure", {}) in actions(administrator, member)


def test_a_code_has_five_tries(members, member):
    new = fresh_email("new")
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    for _ in range(5):
        confirm(member, wrong(digits), status=400, code="code.mismatch")
    confirm(member, digits, status=400, code="code.mismatch")


def test_a_code_works_once_for_a_day_and_for_its_owner(database, boss, members, member):
    new = fresh_email("new")
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    confirm(members.active(boss), digits, status=400, code="code.mismatch")
    expire(database, member.id)
    confirm(member, digits, status=400, code="code.mismatch")
    other = members.active(boss)
    ask(other, new, status=200)
    digits = code_to(members.mailbox, new, 2)
    confirm(other, digits, status=200)
    confirm(other, digits, status=400, code="code.mismatch")


def test_five_mails_a_day_then_the_caller_is_told(members, member):
    for _ in range(5):
        ask(member, fresh_email("new"), status=200)
    reply = ask(member, fresh_email("new"), status=429, code="rate.limited")
    assert 0 < int(reply.headers["Retry-After"]) <= 86401
    members.await_jobs()
    assert len(members.letters(member.email, "cancel-email")) <= 5


# ---- addresses that somebody has ------------------------------------------------------------------------


def test_an_address_that_is_taken_is_answered_alike_and_its_owner_is_told(api, members, boss, other, member):
    free, tried = fresh_email("new"), members.active(other)
    answers = [shape(ask(member, address, status=200)) for address in (tried.email.upper(), free)]
    assert answers[0] == answers[1]
    # The old address gets its notice in either case, so that its mailbox tells nothing either.
    notice_to(members, member.email)
    told = wait_until(lambda: members.mailbox.messages(tried.email)[-1:], mail.PATIENCE_SECONDS, "the owner's mail")
    assert member.email not in "\n".join(mail.lines(told[0])) and not codes_to(members.mailbox, tried.email)
    assert signs_in(api, tried.email, tried.password) and signs_in(api, member.email, member.password)


def test_a_code_confirms_the_address_alone_to_which_it_was_mailed(database, members, member):
    """The right code is on its way while a later request, with a code of its own for a stranger's address, comes in."""
    own, new, stranger = member.email, fresh_email("new"), fresh_email("stranger")
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    token = member.token
    prompt = Database(database.facts)
    prompt.run("BEGIN")
    try:
        prompt.run("SELECT 1 FROM user WHERE id = %s FOR UPDATE", key(member.id))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(member.api.post, CONFIRM, token=token, json={"confirmationCode": digits})
            wait_until(lambda: asked.done() or database.run(WAITING)[0][0], 30, "the request to wait for the row", 0.15)
            prompt.run("INSERT INTO email_change (id, user_id, number, old_email, old_key, old_verified, new_email,"
                       " cancel_hash, expires_at) SELECT %s, user_id, number + 1, old_email, old_key, old_verified, %s,"
                       " cancel_hash, expires_at FROM email_change WHERE user_id = %s ORDER BY number DESC LIMIT 1",
                       uuid.uuid4().bytes, stranger, key(member.id))
            prompt.run("UPDATE code SET code_hash = RANDOM_BYTES(32) WHERE user_id = %s AND purpose = 'email'",
                       key(member.id))
            prompt.run("COMMIT")
            reply = asked.result()
    finally:
        prompt.close()
    assert reply.status_code == 400 and reply.json()["code"] == "code.mismatch"
    assert database.run("SELECT email FROM user WHERE id = %s", key(member.id)) == ((own, ), )


def test_an_address_that_somebody_gets_meanwhile_is_refused_to_who_has_shown_it(api, boss, members, member):
    new = fresh_email("new")
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    members.active(boss, email=new)
    confirm(member, digits, status=409, code="user.exists")
    assert signs_in(api, member.email, member.password)


def test_the_old_address_is_reserved_for_a_day(api, boss, database, members, member):
    old, _ = changed(members, member)
    body = {"email": old.upper(), "password": fresh_password(), "firstName": "New", "lastName": "Comer"}
    boss.post(USERS, json=body, status=409, code="user.exists")
    other = members.active(boss)
    ask(other, old, status=200)
    members.await_jobs()
    assert not codes_to(members.mailbox, old)
    expire(database, member.id)
    boss.post(USERS, json=body, status=200)


def test_who_goes_back_to_a_reserved_address_of_ones_own_may(api, members, member):
    old, _ = changed(members, member)
    changed(members, member, old)
    assert member.email == old and signs_in(api, old, member.password)


# ---- cancelling -----------------------------------------------------------------------------------------


def test_a_change_that_waits_is_cancelled(api, administrator, members, member):
    old, new = member.email, fresh_email("new")
    token = member.token
    ask(member, new, status=200)
    digits = code_to(members.mailbox, new)
    cancel(api, member.id, notice_to(members, old), status=200)
    api.get("/customers/me", token=token, status=401, code="auth.tokenRevoked")
    member.tokens = None
    confirm(member, digits, status=400, code="code.mismatch")
    assert signs_in(api, old, member.password) and not signs_in(api, new, member.password)
    assert [action for action, _, details in actions(administrator, member) if details == {}][-2:] == \
        ["user.emailChangeCancelled", "user.emailChangeRequested"]


def test_a_change_that_was_made_is_undone_with_all_that_came_of_it(api, database, members, member):
    """Who has taken the account over loses it: address, sessions and codes."""
    old, notice = changed(members, member)
    new, tokens = member.email, member.session()
    reset = members.reset_code(member)
    cancel(api, member.id, notice, status=200)
    api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    assert signs_in(api, old, member.password) and not signs_in(api, new, member.password)
    spent = {"username": member.id, "confirmationCode": reset, "newPassword": fresh_password()}
    api.post("/customers/reset-password", json=spent, status=400, code="code.mismatch")
    assert database.run(PROVIDER, key(member.id)) == ((old, 1), )
    # The old address gets a code for a password that nobody else knows.
    fresh = {**spent, "confirmationCode": mail.code(members.letter(old, "reset"))}
    api.post("/customers/reset-password", json=fresh, status=200)
    assert signs_in(api, old, fresh["newPassword"]) and not signs_in(api, old, member.password)


def test_a_second_change_does_not_take_the_first_old_addresss_right(api, members, member):
    first, notice = changed(members, member)
    second, later = changed(members, member)
    third = member.email
    cancel(api, member.id, notice, status=200)
    assert signs_in(api, first, member.password)
    assert not signs_in(api, second, member.password) and not signs_in(api, third, member.password)
    cancel(api, member.id, later, status=400, code="code.mismatch")
    cancel(api, member.id, notice, status=400, code="code.mismatch")
    assert signs_in(api, first, member.password)


def test_each_notice_leads_back_to_its_own_address(api, members, member):
    first, notice = changed(members, member)
    second, later = changed(members, member)
    cancel(api, member.id, later, status=200)
    assert signs_in(api, second, member.password) and not signs_in(api, first, member.password)
    cancel(api, member.id, notice, status=200)
    assert signs_in(api, first, member.password) and not signs_in(api, second, member.password)


def test_the_addresses_are_free_again_after_it(api, boss, members, member):
    _, notice = changed(members, member)
    new = member.email
    cancel(api, member.id, notice, status=200)
    members.active(boss, email=new)


def test_wrong_tries_of_one_client_do_not_use_up_anothers(api, database, members, member):
    """Otherwise who has the account could keep its owner from getting it back."""
    old, notice = changed(members, member)
    for _ in range(5):
        cancel(api, member.id, wrong(notice), status=400, code="code.mismatch")
    cancel(api, member.id, notice, status=400, code="code.mismatch")
    database.lift_throttles()  # another client
    cancel(api, member.id, notice, status=200)
    assert signs_in(api, old, member.password)


def test_it_works_for_a_day_after_the_change(api, database, members, member):
    _, notice = changed(members, member)
    left = database.run("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), expires_at) FROM email_change"
                        " WHERE user_id = %s", key(member.id))[0][0]
    assert 86300 < left <= 86400
    expire(database, member.id)
    cancel(api, member.id, notice, status=400, code="code.mismatch")
    assert signs_in(api, member.email, member.password)


def test_it_works_for_a_disabled_person_and_lets_nobody_in(api, boss, members, member):
    old, notice = changed(members, member)
    boss.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    cancel(api, member.id, notice, status=200)
    assert members.user(member.id)["email"] == old and members.user(member.id)["status"] == "disabled"
    members.await_jobs()
    assert not members.letters(old, "reset")
    api.post("/customers/login", json={"username": old, "password": member.password}, status=401,
             code="auth.userDisabled")


def test_a_wrong_code_is_answered_alike_for_everybody(api, members, member, database):
    changed(members, member)
    names = [member.id, member.email, fresh_email("nobody"), "01890000-0000-7000-8000-000000000000", "no address"]
    answers = [shape(cancel(api, name, "not-it", status=400, code="code.mismatch")) for name in names]
    assert all(answer == answers[0] for answer in answers)


def test_the_notice_of_one_account_does_nothing_to_another(api, boss, members, member):
    other = members.active(boss)
    _, notice = changed(members, member)
    changed(members, other)
    reply = cancel(api, other.id, notice if notice != "000000" else "000001", status=400, code="code.mismatch")
    assert b"code.mismatch" in anonymous(reply)
    assert signs_in(api, other.email, other.password)


def test_thirty_wrong_codes_from_one_address_make_it_wait(api):
    for _ in range(30):
        cancel(api, fresh_email("nobody"), "123456", status=400)
    cancel(api, fresh_email("nobody"), "123456", status=429, code="rate.limited")


# ---- what stays behind ----------------------------------------------------------------------------------


def test_no_audit_row_has_an_address(administrator, api, database, members, member):
    old, notice = changed(members, member)
    new = member.email
    cancel(api, member.id, notice, status=200)
    rows = actions(administrator, member)
    assert {action for action, _, _ in rows} == \
        {"user.emailChangeRequested", "user.emailChanged", "user.emailChangeCancelled"}
    assert all(details == {} for _, _, details in rows)
    assert database.run("SELECT COUNT(*) FROM audit WHERE details LIKE %s OR details LIKE %s", f"%{old}%",
                        f"%{new}%")[0][0] == 0
