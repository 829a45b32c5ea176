# SPDX-License-Identifier: MIT
"""Team members: created with a password and a six-digit code, confirmed, or confirmed by an administrator
(docs/accounts.md)."""

import concurrent.futures

import pytest

from support import mail, members as team
from support.accounts import fresh_email, fresh_password
from support.client import failing, shape
from support.members import USERS
from support.runs.effort import cases

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def create(creator, sent, **arguments):
    return creator.post(USERS, json=sent, **arguments)


def login(api, account, **arguments):
    return api.post("/customers/login",
                    json={"username": account.email, "password": account.password},
                    **arguments)


def confirm(api, username, digits, **arguments):
    return api.post("/customers/confirm-signup",
                    json={"username": username, "confirmationCode": digits},
                    **arguments)


def resend(api, username, **arguments):
    return api.post("/customers/resend-confirmation", json={"username": username}, **arguments)


def admin_confirm(account, username, **arguments):
    return account.post("/customers/admin-confirm-signup", json={"username": username}, **arguments)


@pytest.fixture()
def waiting(members, owner):
    return members.waiting(owner)


def test_the_reply_is_the_user_with_all_members_and_never_the_password(owner):
    sent = team.body(firstName="Ada",
                     lastName="Lovelace",
                     phone="+442071838750",
                     roles=["inv-manage"],
                     permissions=["log:truck:r"])
    reply = create(owner, sent, status=200)
    assert set(reply.json()) == {"user"}
    user = reply.json()["user"]
    assert set(user) == team.MEMBERS
    assert user["organisationId"] == owner.organisation["id"] and user["email"] == sent["email"]
    assert (user["firstName"], user["lastName"], user["phone"]) == ("Ada", "Lovelace", "+442071838750")
    assert user["roles"] == ["inv-manage"] and user["permissions"] == ["log:truck:r"]
    assert user["status"] == "awaiting-confirmation"
    assert user["emailVerified"] is False and user["phoneVerified"] is False
    assert sent["password"] not in reply.text


def test_phone_roles_and_permissions_may_be_left_out(owner):
    user = create(owner, team.body(), status=200).json()["user"]
    assert user["phone"] is None and user["roles"] == [] and user["permissions"] == []


def test_the_mail_holds_link_and_code_each_alone_on_a_line(waiting, stack):
    message = waiting.message()
    assert mail.link(message, f"{stack.web_url}/confirm") == f"{stack.web_url}/confirm?id={waiting.id}"
    assert len(mail.code(message)) == 6
    assert waiting.password not in message.as_string()


@pytest.mark.parametrize("spell", [
    lambda member: member.id, lambda member: member.email, lambda member: member.email.upper(),
    lambda member: member.email.title()
],
                         ids=["the id of the link", "e-mail", "e-mail in capitals", "e-mail in mixed case"])
def test_confirming_activates_and_verifies_the_email_and_the_given_password_works(
        api, members, waiting, spell):
    login(api, waiting, status=401, code="auth.userUnconfirmed")
    body = confirm(api, spell(waiting), waiting.code(), status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    user = login(api, waiting, status=200).json()["user"]
    assert user["status"] == "active" and user["emailVerified"] is True and user["phoneVerified"] is False
    assert members.user(waiting.id) == user


def test_confirming_returns_no_tokens(api, waiting):
    assert "eyJ" not in confirm(api, waiting.id, waiting.code(), status=200).text


def test_an_unconfirmed_member_is_told_so_only_with_the_right_password(api, waiting):
    login(api, waiting, status=401, code="auth.userUnconfirmed")
    waiting.password += "x"
    login(api, waiting, status=401, code="auth.credentials")


def test_a_link_alone_changes_nothing(api, members, waiting):
    """Mail scanners open links and follow them with GET and HEAD."""
    before = members.snapshot(waiting.id)
    for method in ("GET", "HEAD"):
        for path in ("confirm-signup", "resend-confirmation", "reset-password"):
            api.call(method, f"/customers/{path}?id={waiting.id}&username={waiting.id}", status=405)
    assert members.snapshot(waiting.id) == before


def test_an_administrator_confirms_without_the_code(api, members, administrator, waiting):
    code = waiting.code()
    body = admin_confirm(administrator, waiting.email.upper(), status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    assert login(api, waiting, status=200).json()["user"]["status"] == "active"
    # The code of the mail is worth nothing any more.
    confirm(api, waiting.id, code, status=400, code="code.mismatch")


def test_who_is_confirmed_already_cannot_be_confirmed_again_by_an_administrator(
        members, administrator, waiting):
    admin_confirm(administrator, waiting.id, status=200)
    before = members.snapshot(waiting.id)
    admin_confirm(administrator, waiting.id, status=409, code="user.alreadyConfirmed")
    assert members.snapshot(waiting.id) == before


def test_an_administrator_confirms_nobody_who_is_not_there(administrator):
    for username in (fresh_email("nobody"), UNKNOWN, "nobody"):
        admin_confirm(administrator, username, status=400, code="user.unknown")


def test_confirming_needs_an_administrator(api, members, owner, nobody, waiting):
    before = members.snapshot(waiting.id)
    for account in (owner, nobody):
        reply = admin_confirm(account, waiting.id, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:a"
    api.post("/customers/admin-confirm-signup",
             json={"username": waiting.id},
             status=401,
             code="auth.tokenMissing")
    assert members.snapshot(waiting.id) == before


def test_a_resent_code_replaces_the_old_one(api, waiting):
    old = waiting.code()
    body = resend(api, waiting.email, status=200).json()
    assert body["status"] == "success"
    new = waiting.code(2)
    if old != new:
        confirm(api, waiting.id, old, status=400, code="code.mismatch")
    confirm(api, waiting.id, new, status=200)


def test_a_resent_temporary_password_replaces_the_old_one(api, accounts, mailbox):
    invited = accounts.invited()
    resend(api, invited.id, status=200)
    message = mailbox.wait(invited.email, 2)
    new = mail.temporary_password(message)
    accounts.secrets.add(new)
    assert new != invited.temporary
    assert mail.link(message, f"{accounts.stack.web_url}/first-login").endswith(f"?id={invited.id}")
    password = fresh_password()
    sent = {"username": invited.email, "newPassword": password}
    api.post("/customers/login",
             json={**sent, "password": invited.temporary},
             status=401,
             code="auth.credentials")
    user = api.post("/customers/login", json={**sent, "password": new}, status=200).json()["user"]
    assert user["status"] == "active"


def test_asking_again_answers_everyone_alike_and_mails_only_who_waits(api, accounts, members, owner, waiting):
    disabled = members.waiting(owner)
    members.set_status(disabled.id, "disabled")
    invited = accounts.invited()
    names = {
        "awaiting confirmation": waiting.email, "awaiting first login": invited.email, "active": owner.email,
        "disabled": disabled.email, "unknown": fresh_email("nobody"), "unknown id": UNKNOWN,
        "no address": "nobody"
    }
    before = {state: len(members.mails(name)) for state, name in names.items()}
    shapes = {state: shape(resend(api, name, status=200)) for state, name in names.items()}
    assert all(one == shapes["active"] for one in shapes.values()), shapes
    grown = {state for state, name in names.items() if len(members.mails(name)) > before[state]}
    assert grown == {"awaiting confirmation", "awaiting first login"}


@pytest.mark.parametrize("path", ["resend-confirmation", "forgotten-password"])
@pytest.mark.parametrize("body, paths", [({}, {"username"}), ({"username": ""}, {"username"}),
                                         ({"username": 1, "email": "a@example.com"}, {"username", "email"}),
                                         ({"username": None}, {"username"})])
def test_every_failing_path_of_a_request_for_mail_is_named(api, path, body, paths):
    api.post(f"/customers/{path}", json=body, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("body, paths", [
    ({}, {"username", "confirmationCode"}),
    ({"username": 1, "confirmationCode": 123456}, {"username", "confirmationCode"}),
    ({"username": "a", "confirmationCode": "123456", "password": "x"}, {"password"}),
    ({"id": "a", "confirmationCode": None}, {"id", "username", "confirmationCode"}),
])
def test_every_failing_path_of_a_confirmation_is_named(api, body, paths):
    api.post("/customers/confirm-signup", json=body, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("sent, paths", [
    ({}, {"email", "firstName", "lastName"}),
    ({
        "email": "nobody", "password": 5, "firstName": "", "lastName": [], "phone": "12", "roles": "owner",
        "permissions": {}, "extra": 1
    }, {"email", "password", "firstName", "lastName", "phone", "roles", "permissions", "extra"}),
    ({
        "email": "a@b@c", "password": "correct horse battery", "firstName": "A", "lastName": "B",
        "roles": [1, None, "owner"], "permissions": [True]
    }, {"email", "roles[0]", "roles[1]", "permissions[0]"}),
])
def test_every_failing_path_of_a_creation_is_named_at_once(owner, sent, paths):
    create(owner, sent, status=400, code="request.invalid", paths=paths)


def test_unknown_roles_and_malformed_permissions_are_named_along_with_the_rest(owner):
    sent = team.body(email="nobody", roles=["owner", "no-such-role"], permissions=["cus:file:r", "*:*:*"])
    create(owner, sent, status=400, code="request.invalid", paths={"email", "roles[1]", "permissions[1]"})


@pytest.mark.parametrize("wrong, path", [({"roles": ["no-such-role"]}, "roles[0]"), ({"email": "nobody"}, "email"),
                                         ({"phone": "12"}, "phone"), ({"permissions": ["*:*:*"]}, "permissions[0]")])
def test_a_password_that_is_refused_is_named_along_with_the_rest(owner, wrong, path):
    create(owner, team.body(password="short", **wrong), status=400, code="request.invalid", paths={path, "password"})


@pytest.mark.parametrize("name", [
    "id", "organisationId", "status", "emailVerified", "phoneVerified", "createdAt", "providerSubject",
    "organisation", "services", "newPassword"
])
def test_a_creation_takes_no_member_that_is_the_services_own(owner, database, name):
    sent = team.body(**{name: "active"})
    reply = create(owner, sent, status=400, code="request.invalid", paths={name})
    assert failing(reply) == {name: {"unknown"}}
    assert not database.run("SELECT 1 FROM `user` WHERE email = %s", sent["email"])


@pytest.mark.parametrize("address", [
    "", "a", "a@", "@example.com", "a b@example.com", "a@example.com\r\nBcc: b@example.com",
    "a@example.com, b@example.com", "<a@example.com>", "a@example.com\u0007", "x" * 300 + "@example.com"
])
def test_a_bad_email_address_is_refused(owner, address):
    create(owner, team.body(email=address), status=400, code="request.invalid", paths={"email"})


def test_a_taken_address_is_a_conflict_in_any_case_and_in_every_organisation(owner, other, members, waiting):
    before = members.snapshot(waiting.id)
    for creator in (owner, other):
        for address in (waiting.email, waiting.email.upper()):
            create(creator, team.body(email=address), status=409, code="user.exists")
    create(other, team.body(email=owner.email), status=409, code="user.exists")
    assert members.snapshot(waiting.id) == before


def test_two_creations_at_once_make_one_member_and_send_one_mail(owner, database, members):
    for sent in (team.body() for _ in range(cases(2, 500))):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _, body=sent: create(owner, body).status_code, range(4)))
        assert sorted(answers) == [200, 409, 409, 409]
        assert database.run("SELECT COUNT(*) FROM `user` WHERE email = %s", sent["email"])[0][0] == 1
        assert len(members.mails(sent["email"])) == 1


def test_a_refused_creation_leaves_no_row_and_sends_no_mail(owner, database, members):
    sent = team.body(password="short")
    create(owner, sent, status=400, code="password.policy", paths={"password"})
    assert not database.run("SELECT 1 FROM `user` WHERE email = %s", sent["email"])
    assert not database.run("SELECT 1 FROM identity_account WHERE username = %s", sent["email"])
    assert members.mails(sent["email"]) == []


def test_the_organisation_is_always_the_callers_own(members, administrator, other):
    for creator in (other, administrator):
        user = create(creator, team.body(), status=200).json()["user"]
        assert user["organisationId"] == creator.organisation["id"]


def test_write_permission_on_users_is_needed_and_enough(api, members, owner, nobody):
    reader, writer = members.holding(owner, "cus:user:r"), members.holding(owner, "cus:user:w")
    for account in (reader, nobody):
        reply = create(account, team.body(), status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:w"
    create(writer, team.body(), status=200)
    api.post(USERS, json=team.body(), status=401, code="auth.tokenMissing")


def test_first_login_without_a_phone_verifies_the_email_alone(api, accounts):
    invited = accounts.invited(phone=None)
    user = api.post("/customers/login", json=invited.credentials(newPassword=fresh_password()),
                    status=200).json()["user"]
    assert user["status"] == "active" and user["emailVerified"] is True and user["phoneVerified"] is False


def test_an_expired_temporary_password_is_a_wrong_one(api, accounts, database):
    invited = accounts.invited()
    row = database.run(
        "SELECT TIMESTAMPDIFF(SECOND, created_at, password_expires_at) FROM identity_account"
        " WHERE username = %s", invited.email)
    assert abs(row[0][0] - 7 * 86400) <= 2
    database.run(
        "UPDATE identity_account SET password_expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"
        " WHERE username = %s", invited.email)
    for body in (invited.credentials(), invited.credentials(newPassword=fresh_password())):
        api.post("/customers/login", json=body, status=401, code="auth.credentials")
    # Asking again heals it.
    resend(api, invited.email, status=200)
    new = mail.temporary_password(accounts.mailbox.wait(invited.email, 2))
    accounts.secrets.add(new)
    body = {"username": invited.email, "password": new, "newPassword": fresh_password()}
    api.post("/customers/login", json=body, status=200)
