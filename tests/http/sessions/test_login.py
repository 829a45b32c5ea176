# SPDX-License-Identifier: MIT
"""POST /customers/login and the first login of an owner (docs/accounts.md)."""

import concurrent.futures

import pytest

from support.accounts import fresh_email, fresh_password
from support.client import anonymous, failing, shape
from support.members import MEMBERS


def login(api, body, **arguments):
    return api.post("/customers/login", json=body, **arguments)


def me(api, token, **arguments):
    return api.get("/customers/me", token=token, **arguments)


@pytest.fixture()
def invited(accounts):
    return accounts.invited(firstName="Wilhelmina-Josephine", lastName="Featherstonehaugh")


def test_login_answers_tokens_and_user(api, owner):
    body = owner.login()
    assert set(body) == {"tokens", "user"} and set(body["user"]) == MEMBERS
    tokens = body["tokens"]
    assert set(tokens) == {"accessToken", "idToken", "refreshToken", "tokenType", "expiresIn"}
    assert tokens["tokenType"] == "Bearer" and tokens["expiresIn"] == 900
    assert len({tokens["accessToken"], tokens["idToken"], tokens["refreshToken"]}) == 3
    assert me(api, tokens["accessToken"], status=200).json()["user"] == body["user"]


def test_the_username_is_the_email_in_any_case_or_the_id(api, owner):
    for username in (owner.email, owner.email.upper(), owner.email.title(), owner.id):
        body = login(api, {"username": username, "password": owner.password}, status=200).json()
        assert body["user"]["id"] == owner.id, username


@pytest.mark.parametrize("spoil", [
    lambda name: name + " ", lambda name: " " + name, lambda name: name + "\t", lambda name: name + ".",
    lambda name: name[:-1]
])
def test_a_name_that_is_almost_right_is_another_name(api, owner, spoil):
    reply = login(api, {"username": spoil(owner.email), "password": owner.password}, status={400, 401})
    assert reply.json()["code"] in ("auth.credentials", "request.invalid")


def test_the_id_is_compared_exactly(api, owner):
    for username in (owner.id + " ", owner.id.replace("-", ""), "{" + owner.id + "}", owner.id[:-1]):
        reply = login(api, {"username": username, "password": owner.password}, status={400, 401})
        assert reply.json()["code"] in ("auth.credentials", "request.invalid")


def test_first_login_verifies_activates_and_replaces_the_password(api, accounts, invited):
    password = fresh_password()
    body = login(api, invited.credentials(newPassword=password), status=200).json()
    user = body["user"]
    assert user["status"] == "active" and user["emailVerified"] is True and user["phoneVerified"] is True
    assert me(api, body["tokens"]["accessToken"], status=200).json()["user"]["status"] == "active"
    login(api, invited.credentials(), status=401, code="auth.credentials")
    login(api, {"username": invited.email, "password": password}, status=200)


def test_first_login_works_with_the_id_of_the_link(api, invited):
    identity = invited.link.split("?id=")[1]
    body = login(api, {"username": identity, "password": invited.temporary, "newPassword": fresh_password()},
                 status=200).json()
    assert body["user"]["id"] == invited.id and body["user"]["status"] == "active"


def test_a_temporary_password_alone_asks_for_a_new_one(api, invited):
    for _ in range(3):
        reply = login(api,
                      invited.credentials(),
                      status=400,
                      code="auth.newPasswordRequired",
                      paths={"newPassword"})
        assert "eyJ" not in reply.text
    login(api, invited.credentials(newPassword=fresh_password()), status=200)


def test_a_wrong_temporary_password_with_a_new_one_changes_nothing(api, invited):
    password = fresh_password()
    login(api, {"username": invited.email, "password": invited.temporary[:-1], "newPassword": password},
          status=401,
          code="auth.credentials")
    login(api, {"username": invited.email, "password": password}, status=401, code="auth.credentials")
    login(api, invited.credentials(), status=400, code="auth.newPasswordRequired")


def test_the_temporary_password_cannot_become_the_lasting_one(api, invited):
    login(api, invited.credentials(newPassword=invited.temporary), status=400, paths={"newPassword"})
    login(api, invited.credentials(), status=400, code="auth.newPasswordRequired")


def test_the_rules_for_passwords(api, stack, invited):
    common = [
        line for line in stack.data_file("common-passwords.txt").read_text().split("\n")
        if 12 <= len(line) <= 128
    ]
    assert common, "the shipped list holds no password that is long enough to need the list"
    assert len(stack.data_file("common-passwords.txt").read_text().split()) >= 3000
    user = invited.user
    refused = {
        "eleven characters": "abcdefghij1",
        "eleven characters of four bytes": "🦊" * 11,
        "empty": "",
        "one": "x",
        "129 characters": "Xy 1" * 32 + "z",
        "on the list": common[0],
        "on the list too": common[len(common) // 2],
        "on the list in capitals": common[0].upper(),
        "the e-mail": user["email"],
        "the e-mail in capitals": user["email"].upper(),
        "the first name": user["firstName"],
        "the last name": user["lastName"],
        "the last name in small letters": user["lastName"].lower(),
    }
    for why, password in refused.items():
        reply = login(api, invited.credentials(newPassword=password), status=400, paths={"newPassword"})
        assert reply.json()["code"] in ("password.policy", "request.invalid"), why
        assert password == "" or len(
            password) < 4 or password not in reply.text, f"{why}: the reply repeats the password"
    login(api, invited.credentials(), status=400, code="auth.newPasswordRequired")


@pytest.mark.parametrize("password", [
    "kq7!w zpT-4m", "🦊🐻" * 6, "  spaces within and at both ends  ", "Zy" * 64, "漢字" * 64,
    "e\u0301tienne né en été", "\\\"'%_;--<b>&amp;"
],
                         ids=[
                             "12 characters", "12 of four bytes each", "blanks", "128 characters",
                             "128 of three bytes each", "combining marks", "punctuation"
                         ])
def test_any_unicode_of_12_to_128_characters_is_a_password(api, invited, password):
    login(api, invited.credentials(newPassword=password), status=200)
    login(api, {"username": invited.email, "password": password}, status=200)
    # Never cut short, and compared to the last character.
    login(api, {"username": invited.email, "password": password[:-1]}, status=401, code="auth.credentials")
    login(api, {"username": invited.email, "password": password[:-1] + "§"},
          status=401,
          code="auth.credentials")


def test_nul_in_a_password_is_malformed_and_never_cuts_it(api, owner):
    for body in ({"username": owner.email, "password": owner.password + "\0"},
                 {"username": owner.email, "password": owner.password + "\0tail"}):
        login(api, body, status=400, code="request.malformed")


def test_a_new_password_with_a_lasting_one_is_unexpected_and_changes_nothing(api, customer):
    password = fresh_password()
    reply = login(api, {"username": customer.email, "password": customer.password, "newPassword": password},
                  status=400)
    assert failing(reply) == {"newPassword": {"unexpected"}}
    login(api, {"username": customer.email, "password": password}, status=401, code="auth.credentials")
    login(api, {"username": customer.email, "password": customer.password}, status=200)


def test_a_wrong_lasting_password_with_a_new_one_tells_nothing(api, customer):
    body = {"username": customer.email, "password": fresh_password(), "newPassword": fresh_password()}
    login(api, body, status=401, code="auth.credentials")


def test_wrong_user_and_wrong_password_answer_alike(api, accounts, owner):
    """Six states of an account, one answer: status, headers and bytes but for the request id."""
    waiting = accounts.invited()
    disabled = accounts.customer()
    accounts.database.run("UPDATE `user` SET status = 'disabled' WHERE email = %s", disabled.email)
    names = {
        "active": owner.email, "active by id": owner.id, "unknown": fresh_email("nobody"),
        "awaiting": waiting.email, "unknown id": "01890000-0000-7000-8000-000000000000",
        "disabled": disabled.email, "no address": "nobody"
    }
    shapes = {}
    for state, name in names.items():
        reply = login(api, {"username": name, "password": "not the password"},
                      status=401,
                      code="auth.credentials")
        shapes[state] = shape(reply)
    assert all(one == shapes["active"] for one in shapes.values()), shapes


@pytest.mark.parametrize("body, paths", [
    ({}, {"username", "password"}),
    ({"username": "", "password": ""}, {"username", "password"}),
    ({"username": 5, "password": None}, {"username", "password"}),
    ({"username": ["a"], "password": {"a": 1}, "newPassword": 7, "remember": True
      }, {"username", "password", "newPassword", "remember"}),
    ({"Username": "a", "password": "b"}, {"Username", "username"}),
])
def test_every_failing_path_of_a_login_is_named(api, body, paths):
    login(api, body, status=400, code="request.invalid", paths=paths)


def test_right_logins_in_parallel_all_succeed(api, owner):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        bodies = list(pool.map(lambda _: owner.login(), range(10)))
    assert len({body["tokens"]["refreshToken"] for body in bodies}) == 10


def test_first_logins_in_parallel_set_one_password(api, invited, database):
    passwords = [fresh_password() for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda new: login(api, invited.credentials(newPassword=new)).status_code, passwords))
    assert answers.count(200) == 1 and set(answers) <= {200, 400, 401}, answers
    database.lift_throttles()
    works = [
        login(api, {"username": invited.email, "password": password}).status_code for password in passwords
    ]
    assert works == [200 if answer == 200 else 401 for answer in answers]


@pytest.mark.parametrize("who", ["user", "organisation"])
def test_a_disabled_account_is_told_so_only_with_the_right_password(api, accounts, customer, who):
    if who == "user":
        accounts.database.run("UPDATE `user` SET status = 'disabled' WHERE email = %s", customer.email)
    else:
        accounts.database.run(
            "UPDATE organisation SET status = 'disabled' WHERE id = UNHEX(REPLACE(%s, '-', ''))",
            customer.organisation["id"])
    login(api, {"username": customer.email, "password": customer.password},
          status=401,
          code="auth.userDisabled")
    login(api, {"username": customer.email, "password": customer.password + "x"},
          status=401,
          code="auth.credentials")


def test_a_disabled_user_does_not_come_in_by_a_token_or_a_refresh(api, accounts, customer):
    tokens = customer.session()
    accounts.database.run("UPDATE `user` SET status = 'disabled' WHERE email = %s", customer.email)
    me(api, tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    accounts.database.run("UPDATE `user` SET status = 'active' WHERE email = %s", customer.email)


def test_a_disabled_organisation_lets_none_of_its_users_in(api, accounts, customer):
    tokens = customer.session()
    accounts.database.run(
        "UPDATE organisation SET status = 'disabled' WHERE id = UNHEX(REPLACE(%s, '-', ''))",
        customer.organisation["id"])
    me(api, tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.get("/system/files", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)


def test_all_401_bodies_of_one_code_are_alike(api, owner):
    first = login(api, {"username": owner.email, "password": "wrong wrong wrong"}, status=401)
    second = login(api, {"username": fresh_email(), "password": "another wrong one"}, status=401)
    assert anonymous(first) == anonymous(second)


def test_me_shows_user_organisation_and_effective_permissions(accounts):
    account = accounts.customer(services=["inventory", "logistics"])
    body = account.get("/customers/me", status=200).json()
    assert set(body) == {"user", "organisation", "permissions"}
    assert body["organisation"] == account.organisation and set(body["user"]) == MEMBERS
    assert set(body["permissions"]) == {"rwx:*", "inv:*:w", "log:*:w", "cus:*:w"}
    assert len(body["permissions"]) == 4, "a permission that two roles grant is listed once"
    assert body["user"]["permissions"] == []


def test_me_joins_own_permissions_and_those_of_the_roles(accounts, customer):
    accounts.database.set_permissions(customer.id, "sys:cache:a log:truck:r")
    body = customer.get("/customers/me", status=200).json()
    assert set(body["permissions"]) == {"rwx:*", "inv:*:w", "cus:*:w", "sys:cache:a", "log:truck:r"}
    assert body["user"]["permissions"] == ["sys:cache:a", "log:truck:r"]
