# SPDX-License-Identifier: MIT
"""POST /customers/signup: an internal administrator creates a customer with its owner."""

import concurrent.futures
import math
import re
import string

import pytest

from support import mail
from support.accounts import fresh_email, invitation
from support.client import failing
from support.connections import ask
from support.database import key
from support.members import MEMBERS

ORGANISATION = {
    "id", "name", "services", "status", "createdAt", "updatedAt", "quotaBytes", "quotaFiles", "usedBytes", "usedFiles",
    "userCount"
}
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")


@pytest.fixture(scope="module")
def invited(accounts):
    return accounts.invited()


def sign_up(administrator, **arguments):
    return administrator.post("/customers/signup", **arguments)


def test_the_reply_holds_the_organisation_and_the_owner_with_all_members(accounts):
    body = accounts.sign_up(firstName="Ada", lastName="Lovelace", organisation={"name": "Engines & Söhne"})
    assert set(body) == {"organisation", "user"}
    organisation, user = body["organisation"], body["user"]
    assert set(organisation) == ORGANISATION and set(user) == MEMBERS
    assert organisation["name"] == "Engines & Söhne" and organisation["services"] == ["inventory"]
    assert organisation["status"] == "active"
    assert user["organisationId"] == organisation["id"]
    assert (user["firstName"], user["lastName"], user["phone"]) == ("Ada", "Lovelace", "+442071838750")
    assert user["status"] == "awaiting-first-login"
    assert user["emailVerified"] is False and user["phoneVerified"] is False
    assert user["permissions"] == []
    for thing in (organisation, user):
        assert UUID7.match(thing["id"]) and TIME.match(thing["createdAt"]) and TIME.match(thing["updatedAt"])


def test_the_phone_may_be_left_out_and_is_null_then(accounts):
    assert accounts.sign_up(phone=None)["user"]["phone"] is None


@pytest.mark.parametrize("services, roles", [
    (None, {"owner", "inv-manage"}),
    (["inventory"], {"owner", "inv-manage"}),
    (["logistics"], {"owner", "log-manage"}),
    (["inventory", "logistics"], {"owner", "inv-manage", "log-manage"}),
    (["logistics", "inventory"], {"owner", "inv-manage", "log-manage"}),
])
def test_the_services_decide_the_owner_roles(accounts, services, roles):
    body = accounts.sign_up(services=services)
    assert set(body["user"]["roles"]) == roles and len(body["user"]["roles"]) == len(roles)
    assert set(body["organisation"]["services"]) == set(services or ["inventory"])


def test_a_mail_holds_link_and_temporary_password_each_alone_on_a_line(invited, stack):
    assert invited.link == f"{stack.web_url}/first-login?id={invited.id}"
    assert invited.temporary in mail.lines(invited.message)
    assert invited.message["From"] and invited.message["Subject"] and invited.message[
        "Date"] and invited.message["Message-ID"]
    assert not invited.message.defects


def test_opening_the_link_shows_a_page_and_changes_nothing(api, invited):
    """Mail scanners open links: the password is always typed and sent by POST."""
    for method in ("HEAD", "GET", "GET"):
        reply = ask(method, invited.link)
        assert reply.status_code == 200 and reply.headers["Content-Type"].startswith("text/html")
        assert reply.headers["X-Content-Type-Options"] == "nosniff" and invited.temporary not in reply.text
    api.post("/customers/login", json=invited.credentials(), status=400, code="auth.newPasswordRequired")


def test_the_temporary_password_has_at_least_112_random_bits(accounts, invited):
    classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits, string.punctuation)
    password, another = invited.temporary, accounts.invited().temporary
    assert another != password
    # A password by itself may happen to have no letter of a class.
    alphabet = sum(len(one) for one in classes if set(one) & set(password + another))
    assert len(password) * math.log2(alphabet) >= 112


def test_the_reply_never_holds_the_temporary_password(administrator, mailbox, accounts):
    body = invitation()
    reply = sign_up(administrator, json=body, status=200)
    password = mail.temporary_password(mailbox.wait(body["email"]))
    accounts.secrets.add(password)
    assert password not in reply.text and password not in str(reply.headers)


def test_exactly_one_mail_is_sent(accounts, invited, mailbox):
    accounts.invited()  # Another message has come since, so a second one to the first address would be there.
    assert len(mailbox.messages(invited.email)) == 1


@pytest.mark.parametrize("body, paths", [
    ({}, {"organisation", "email", "firstName", "lastName"}),
    ({"organisation": {}}, {"organisation.name", "email", "firstName", "lastName"}),
    ({
        "organisation": {"name": ""}, "email": "nobody", "firstName": 5, "lastName": "", "phone": "12",
        "services": ["x"], "extra": 1
    }, {"organisation.name", "email", "firstName", "lastName", "phone", "services[0]", "extra"}),
    ({"organisation": "Acme", "email": None, "firstName": [], "lastName": {}, "services": "inventory"
      }, {"organisation", "email", "firstName", "lastName", "services"}),
    ({
        "organisation": {"name": "Acme", "size": 3}, "email": "a@b@c", "firstName": "A", "lastName": "B",
        "phone": 44
    }, {"organisation.size", "email", "phone"}),
    ({
        "organisation": {"name": "Acme"}, "email": "a@example.com", "firstName": "A", "lastName": "B",
        "services": []
    }, {"services"}),
    ({
        "organisation": {"name": "Acme"}, "email": "a@example.com", "firstName": "A", "lastName": "B",
        "services": ["ferries", 7]
    }, {"services[0]", "services[1]"}),
])
def test_every_failing_path_is_named_at_once(administrator, body, paths):
    sign_up(administrator, json=body, status=400, code="request.invalid", paths=paths)


def test_an_unknown_member_has_the_code_unknown(administrator):
    reply = sign_up(administrator, json=invitation(temporaryPassword="x"), status=400, code="request.invalid")
    assert failing(reply) == {"temporaryPassword": {"unknown"}}


@pytest.mark.parametrize("address", [
    "", "a", "a@", "@example.com", "a b@example.com", "a@example.com\r\nBcc: b@example.com",
    "a@example.com, b@example.com", "<a@example.com>", "a@exa mple.com", "a@example.com\u0007",
    "x" * 300 + "@example.com"
])
def test_a_bad_email_address_is_refused(administrator, address):
    sign_up(administrator,
            json=invitation(email=address),
            status=400,
            code="request.invalid",
            paths={"email"})


@pytest.mark.parametrize(
    "phone",
    ["", "0207183875", "+0123456789", "+44 20 7183 8750", "+12345678901234567", "++441234567", "+", "abc"])
def test_a_phone_that_is_not_e164_is_refused(administrator, phone):
    sign_up(administrator, json=invitation(phone=phone), status=400, code="request.invalid", paths={"phone"})


@pytest.mark.parametrize("name",
                         ["Bob\r\nBcc: spy@example.com", "Bob\nX-Evil: 1", "Bob\u0000", "\u001b[31mBob"])
def test_control_characters_in_names_are_refused(administrator, name):
    sign_up(administrator, json=invitation(firstName=name), status=400)


@pytest.mark.parametrize("name", [
    "<script>alert(1)</script>", "Bob, spy@example.com", '"Bob" <spy@example.com>', "{{7*7}} %s @LINK@",
    "Żółć 漢字 🦊", "=?utf-8?q?Bcc?="
])
def test_a_hostile_name_changes_neither_the_mail_headers_nor_its_markup(accounts, members, database, name):
    # The interface takes some of them only; all may be there from before it validated names.
    invited = accounts.invited()
    database.run("UPDATE `user` SET first_name = %s WHERE email = %s", name, invited.email)
    database.run("UPDATE organisation SET name = %s WHERE id = %s", name, key(invited.organisation["id"]))
    members.api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
    message = members.letter(invited.email, "first-login", 2)
    accounts.secrets.add(mail.temporary_password(message))
    assert [entry.addr_spec for entry in message["To"].addresses] == [invited.email]
    assert message["Bcc"] is None and message["Cc"] is None and not message.defects
    page = message.get_body(preferencelist=("html", ))
    if page is not None:
        assert "<script>" not in page.get_content()


def test_an_address_is_taken_in_any_case(administrator, invited):
    body = invitation(email=invited.email.upper())
    sign_up(administrator, json=body, status=409, code="user.exists")


def test_two_sign_ups_at_once_make_one_customer(administrator, database):
    body = invitation(email=fresh_email("twin"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: sign_up(administrator, json=body).status_code, range(4)))
    assert sorted(answers) == [200, 409, 409, 409]
    assert database.run("SELECT COUNT(*) FROM `user` WHERE email = %s", body["email"])[0][0] == 1
    assert database.run("SELECT COUNT(*) FROM organisation WHERE name = %s",
                        body["organisation"]["name"])[0][0] == 1


def test_an_address_may_hold_any_character(administrator):
    body = invitation()
    body["email"] = "\U0001f600" + body["email"]
    assert sign_up(administrator, json=body, status=200).json()["user"]["email"] == body["email"]


def test_an_owner_may_not_create_customers(owner, database):
    body = invitation()
    reply = owner.post("/customers/signup", json=body, status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:org:a"
    assert database.run("SELECT COUNT(*) FROM `user` WHERE email = %s", body["email"])[0][0] == 0


def test_without_a_token_nobody_creates_customers(api):
    api.post("/customers/signup", json=invitation(), status=401, code="auth.tokenMissing")


def test_a_refused_sign_up_leaves_no_organisation_and_sends_no_mail(administrator, database, mailbox,
                                                                    accounts):
    body = invitation(phone="nonsense")
    sign_up(administrator, json=body, status=400)
    accounts.invited()
    assert database.run("SELECT COUNT(*) FROM organisation WHERE name = %s",
                        body["organisation"]["name"])[0][0] == 0
    assert mailbox.messages(body["email"]) == []
