# SPDX-License-Identifier: MIT
"""[identity] codes = provider: a pool of Cognito mails and checks the codes of confirmations and resets, from end to
end, on a host of its own with the strict pool of the tests (tests/unit/identity/cognito_server.py). Other flows are in
test_cognito.py."""

import json

import pytest

from providers import test_cognito as flows
from providers.test_cognito import admin, owner  # noqa: F401 # fixtures
from support import mail
from support.stack import wait_until


@pytest.fixture(scope="module")
def place(stack, tmp_path_factory):
    for place in flows.make_place("cognito", stack, tmp_path_factory, more="codes = provider\n"):
        (place.pool.folder / "codes").touch()
        yield place


def mails(place, email):
    """The pool's mails to that address, oldest first: purpose and code."""
    path = place.pool.folder / "mails"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [(one["purpose"], one["code"]) for one in map(json.loads, lines) if one["to"] == email]


def other(code):
    return f"{(int(code) + 1) % 1000000:06}"


def confirm(place, name, typed, **more):
    return place.ask("POST", "/customers/confirm-signup", {"username": name, "confirmationCode": typed}, **more)


@pytest.fixture(scope="module")
def member(place, owner):
    """A member who awaits confirmation: the e-mail."""
    email = "codes@customer.example"
    body = {"email": email, "password": flows.PASSWORDS["member"], "firstName": "Cora", "lastName": "Codes",
            "roles": ["inv-manage"]}
    made = place.ask("POST", "/customers/organisations/users", body, token=owner["accessToken"])
    assert made["user"]["status"] == "awaiting-confirmation"
    return email


def test_a_member_confirms_with_the_code_of_the_pool(place, member):
    place.jobs()
    assert [purpose for purpose, _ in mails(place, member)] == ["confirm"]
    assert not place.mailbox.messages(member)
    place.ask("POST", "/customers/resend-confirmation", {"username": member})
    place.jobs()
    assert len(mails(place, member)) == 2
    code = mails(place, member)[-1][1]
    wrong = confirm(place, member, other(code), status=400, code="code.mismatch")
    nobody = confirm(place, "nobody@customer.example", code, status=400, code="code.mismatch")
    assert wrong["message"] == nobody["message"]
    confirm(place, member, code)
    place.login(member, flows.PASSWORDS["member"])
    confirm(place, member, code, status=400, code="code.mismatch")
    place.jobs()
    assert place.user(member)[1] == "active" and place.user(member)[3]


def test_a_lost_confirmation_is_made_up_for(place, owner):
    email = "lost@customer.example"
    body = {"email": email, "password": flows.PASSWORDS["member"], "firstName": "Lo", "lastName": "St",
            "roles": ["inv-manage"]}
    place.ask("POST", "/customers/organisations/users", body, token=owner["accessToken"])
    (place.pool.folder / "fault").write_text("ConfirmSignUp lost", encoding="utf-8")
    code = mails(place, email)[-1][1]
    confirm(place, email, code, status=500, code="identityProvider.unavailable")
    assert place.user(email)[1] == "awaiting-confirmation"
    place.ask("POST", "/customers/resend-confirmation", {"username": email})
    place.jobs()
    assert place.user(email)[1] == "active"


def test_a_reset_with_the_code_of_the_pool(place, member):
    tokens = place.login(member, flows.PASSWORDS["member"])["tokens"]
    for name in (member, "nobody@customer.example"):
        place.ask("POST", "/customers/forgotten-password", {"username": name})
    place.jobs()
    wait_until(lambda: mails(place, member)[-1][0] == "reset", mail.PATIENCE_SECONDS,
               "the pool's mail with the code")
    code = mails(place, member)[-1][1]

    def reset(name, typed, password, **more):
        return place.ask("POST", "/customers/reset-password",
                         {"username": name, "confirmationCode": typed, "newPassword": password}, **more)

    reset(member, other(code), flows.PASSWORDS["reset"], status=400, code="code.mismatch")
    reset("nobody@customer.example", code, flows.PASSWORDS["reset"], status=400, code="code.mismatch")
    for name in (member, "nobody@customer.example"):
        reset(name, code, "password", status=400, code="password.policy")
    reset(member, code, flows.PASSWORDS["reset"])
    flows.me(place, tokens["accessToken"], status=401, code="auth.tokenRevoked")
    place.login(member, flows.PASSWORDS["reset"])
    reset(member, code, flows.PASSWORDS["changed"], status=400, code="code.mismatch")
    place.jobs()
    assert len(place.mailbox.messages(member)) == 1, "one mail of ours, that the password was changed"


def test_an_invitation_is_mailed_by_us(place, owner):
    assert not mails(place, owner["email"])
