# SPDX-License-Identifier: MIT
"""The account flows with a user pool of Amazon Cognito, from end to end: a host of its own whose identity provider is a
strict pool of the tests' own (tests/unit/identity/cognito_server.py), a worker, the operator's commands."""

import contextlib
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from providers import support_remote as remote
from providers.support_remote import ADMIN
from support import mail

PASSWORDS = {
    "admin": "administrator password 1", "owner": "owner's own password 2", "member": "member password 3",
    "changed": "changed password 4", "reset": "reset password 5"
}


class Place:
    """The host with its worker, and short ways to speak to them."""

    def __init__(self, host, pool, worker, prefix):
        self.host, self.pool, self.worker, self.prefix = host, pool, worker, prefix
        self.mailbox = mail.Mailbox(host.folder / "mail")

    def ask(self, method, path, body=None, token=None, status=200, code=None, headers=None):
        sent = {} if body is None else {"body": json.dumps(body).encode(), "content_type": "application/json"}
        answer = self.worker.call(method, self.prefix + path, token=token, headers=headers, **sent)
        parsed = json.loads(answer.body) if answer.body else None
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.body[:500]}"
        if code is not None:
            assert parsed["code"] == code, parsed
        return parsed

    def login(self, name, password, **more):
        body = {"username": name, "password": password}
        body.update(more.pop("body", {}))
        return self.ask("POST", "/customers/login", body, **more)

    def jobs(self):
        """Does what waits in the outbox."""
        for _ in range(3):
            self.host.run("jobs", "--once")

    def user(self, email):
        return self.host.rows("SELECT id, status, provider_subject, email_verified FROM user WHERE email = %s",
                              email)[0]


def make_place(kind, stack, tmp_path_factory, more=""):
    """What a module's place is, for a provider of that kind; `more` are lines of [identity]."""
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")
    with contextlib.ExitStack() as started:
        pool = started.enter_context(remote.pool(remote.KINDS[kind], tmp_path_factory.mktemp("pool")))
        host = started.enter_context(remote.host(stack, pool, PASSWORDS["admin"], more=more))
        yield Place(host, pool, started.enter_context(host.worker()), stack.prefix)


@pytest.fixture(scope="module")
def place(stack, tmp_path_factory):
    yield from make_place("cognito", stack, tmp_path_factory)


@pytest.fixture(scope="module")
def admin(place):
    return place.login(ADMIN, PASSWORDS["admin"])["tokens"]["accessToken"]


@pytest.fixture(scope="module")
def owner(place, admin):
    """A customer's owner after the first login: e-mail and tokens."""
    email = "owner@customer.example"
    body = {"organisation": {"name": "Customer"}, "email": email, "firstName": "Olga", "lastName": "Owner",
            "phone": "+4930123456"}
    made = place.ask("POST", "/customers/signup", body, token=admin)
    assert made["user"]["status"] == "awaiting-first-login"
    place.jobs()
    temporary = mail.temporary_password(place.mailbox.wait(email))
    place.login(email, "not the password", status=401, code="auth.credentials")
    place.login(email, temporary, status=400, code="auth.newPasswordRequired")
    place.login(email, temporary, body={"newPassword": temporary}, status=400)
    reply = place.login(made["user"]["id"], temporary, body={"newPassword": PASSWORDS["owner"]})
    assert reply["user"]["status"] == "active" and reply["user"]["emailVerified"] and reply["user"]["phoneVerified"]
    place.login(email, temporary, status=401, code="auth.credentials")
    return {"email": email, "id": made["user"]["id"], **reply["tokens"]}


@pytest.fixture(scope="module")
def member(place, owner):
    """A confirmed team member."""
    email = "member@customer.example"
    body = {"email": email, "password": PASSWORDS["member"], "firstName": "Mia", "lastName": "Member",
            "permissions": ["cus:file:r"]}
    made = place.ask("POST", "/customers/organisations/users", body, token=owner["accessToken"])
    place.jobs()
    place.login(email, PASSWORDS["member"], status=401)
    code = mail.code(place.mailbox.wait(email))
    place.ask("POST", "/customers/confirm-signup", {"username": made["user"]["id"], "confirmationCode": code})
    reply = place.login(email, PASSWORDS["member"])
    assert reply["user"]["emailVerified"]
    return {"email": email, "id": made["user"]["id"], **reply["tokens"]}


def me(place, token, **arguments):
    return place.ask("GET", "/customers/me", token=token, **arguments)


def test_the_flows_lead_to_tokens_of_the_pool(place, owner, member):
    for person in (owner, member):
        claims = jwt.decode(person["accessToken"], options={"verify_signature": False})
        row = place.user(person["email"])
        assert claims["iss"].endswith("eu-central-1_Tests") and claims["sub"] == row[2] != person["id"]
        assert me(place, person["accessToken"])["user"]["id"] == person["id"]
    assert set(me(place, owner["accessToken"])["permissions"]) == {"rwx:*", "inv:*:w", "cus:*:w"}


def test_the_pool_is_told_of_permissions_and_marks(place, owner, member):
    place.jobs()
    calls = place.pool.calls()
    assert calls.count("AdminUpdateUserAttributes") >= 3 and "AdminConfirmSignUp" in calls


def test_id_tokens_and_tokens_of_strangers_open_nothing(place, owner):
    me(place, owner["idToken"], status=401, code="auth.tokenInvalid")
    me(place, owner["accessToken"][:-4] + "AAAA", status=401, code="auth.tokenInvalid")
    before, key = place.pool.calls().count("GET /keys"), None
    for number in range(20):
        key = key or rsa.generate_private_key(public_exponent=65537, key_size=2048)
        claims = jwt.decode(owner["accessToken"], options={"verify_signature": False})
        forged = jwt.encode(claims, key, "RS256", headers={"kid": f"strange-{number}"})
        me(place, forged, status=401, code="auth.tokenInvalid")
    assert place.pool.calls().count("GET /keys") <= before + 1


def test_refresh_rotates_and_a_copy_ends_the_session(place, member):
    first = place.login(member["email"], PASSWORDS["member"])["tokens"]
    second = place.ask("POST", "/customers/refresh", {"refreshToken": first["refreshToken"]})["tokens"]
    me(place, second["accessToken"])
    place.host.rows("UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND WHERE spent_at IS NOT NULL")
    place.ask("POST", "/customers/refresh", {"refreshToken": first["refreshToken"]}, status=401)
    me(place, second["accessToken"], status=401, code="auth.tokenRevoked")
    me(place, member["accessToken"])


def test_logout_holds_at_once_though_the_token_still_verifies(place, member):
    here = place.login(member["email"], PASSWORDS["member"])["tokens"]
    there = place.login(member["email"], PASSWORDS["member"])["tokens"]
    place.ask("POST", "/customers/logout", {}, token=here["accessToken"])
    me(place, here["accessToken"], status=401, code="auth.tokenRevoked")
    me(place, there["accessToken"])
    place.ask("POST", "/customers/refresh", {"refreshToken": here["refreshToken"]}, status=401)


def test_passwords_are_changed_reset_and_set(place, admin, member):
    token = place.login(member["email"], PASSWORDS["member"])["tokens"]["accessToken"]
    other = place.login(member["email"], PASSWORDS["member"])["tokens"]["accessToken"]
    body = {"password": "wrong password 99", "newPassword": PASSWORDS["changed"]}
    assert place.ask("POST", "/customers/change-password", body, token=token,
                     status=400)["validation"][0]["code"] == "mismatch"
    place.ask("POST", "/customers/change-password", {**body, "password": PASSWORDS["member"]}, token=token)
    me(place, token)
    me(place, other, status=401, code="auth.tokenRevoked")
    place.login(member["email"], PASSWORDS["member"], status=401)

    place.ask("POST", "/customers/forgotten-password", {"username": member["email"]})
    place.jobs()
    letters = [one for one in place.mailbox.messages(member["email"]) if "/reset?id=" in "\n".join(mail.lines(one))]
    body = {"username": member["email"], "confirmationCode": mail.code(letters[-1]), "newPassword": PASSWORDS["reset"]}
    with place.pool.stopped():
        place.ask("POST", "/customers/reset-password", body, status=500, code="identityProvider.unavailable")
    # The code that led to no answer holds again.
    place.ask("POST", "/customers/reset-password", body)
    me(place, token, status=401, code="auth.tokenRevoked")
    place.login(member["email"], PASSWORDS["reset"])

    body = {"username": member["id"], "password": "an administrator's choice"}
    place.ask("POST", "/customers/admin-set-password", body, token=admin)
    place.login(member["email"], body["password"], status=400, code="auth.newPasswordRequired")
    place.login(member["email"], body["password"], body={"newPassword": PASSWORDS["member"]})


def test_a_disabled_user_is_out_at_once_and_back_when_enabled(place, owner, member):
    token = place.login(member["email"], PASSWORDS["member"])["tokens"]["accessToken"]
    path = f"/customers/organisations/users/{member['id']}"
    place.ask("PATCH", path, {"status": "disabled"}, token=owner["accessToken"])
    me(place, token, status=401, code="auth.tokenRevoked")
    place.login(member["email"], PASSWORDS["member"], status=401)
    place.ask("PATCH", path, {"status": "active"}, token=owner["accessToken"])
    me(place, token, status=401, code="auth.tokenRevoked")
    place.login(member["email"], PASSWORDS["member"])


def test_while_the_pool_is_silent_good_tokens_go_on_and_nobody_gets_in(place, owner):
    with place.pool.stopped():
        started = time.monotonic()
        for _ in range(20):
            me(place, owner["accessToken"])
        place.login(owner["email"], PASSWORDS["owner"], status=500, code="identityProvider.unavailable")
        # The deadline of a login is five seconds.
        assert time.monotonic() - started < 25
    place.login(owner["email"], PASSWORDS["owner"])


def test_a_creation_that_the_pool_did_not_answer_is_taken_up_again(place, admin):
    body = {"organisation": {"name": "Second"}, "email": "second@customer.example", "firstName": "Sam",
            "lastName": "Second"}
    with place.pool.stopped():
        place.ask("POST", "/customers/signup", body, token=admin, status=500, code="identityProvider.unavailable")
    assert place.user(body["email"])[1] == "provisioning"
    made = place.ask("POST", "/customers/signup", body, token=admin)
    assert made["user"]["status"] == "awaiting-first-login"
    place.jobs()
    temporary = mail.temporary_password(place.mailbox.messages(body["email"])[-1])
    place.login(body["email"], temporary, body={"newPassword": PASSWORDS["owner"]})


def test_check_names_what_is_wrong_with_the_pool(place):
    out = place.host.run("check", status=None)
    assert "identity       ok" in out.stdout, out.stdout
    with place.pool.stopped():
        out = place.host.run("check", status=None,
                             environment={"GATEHOUSE_CACHE_FILE": str(place.host.folder / "run" / "other-cache")})
    assert out.returncode == 1 and "identity" in out.stdout and "identity       ok" not in out.stdout, out.stdout
    out = place.host.run("check", status=None, environment={"GATEHOUSE_COGNITO_ENDPOINT": "http://pool.example.org"})
    assert out.returncode == 1 and "endpoint in [cognito]" in out.stdout, out.stdout
