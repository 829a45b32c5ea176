# SPDX-License-Identifier: MIT
"""PATCH /customers/me: what people change of themselves without a permission."""

import pytest

from support import mail
from support.client import failing
from support.database import key
from support.members import USERS
from support.stack import wait_until

ME = "/customers/me"
PROVIDER = "SELECT phone, phone_verified FROM identity_account WHERE id = %s"


def me(account):
    return account.get(ME, status=200).json()["user"]


def change(account, **sent):
    return account.patch(ME, json=sent, status=200).json()["user"]


def test_names_phone_and_language_change_and_nothing_else(boss, member):
    before = me(member)
    sent = {"firstName": "Zoë", "lastName": "Ölund", "phone": "+41446681800", "locale": "DE-ch"}
    after = change(member, **sent)
    assert after == {**before, **sent, "locale": "de-CH", "phoneVerified": False, "updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]
    assert me(member) == after == boss.get(f"{USERS}/{member.id}", status=200).json()["user"]


def test_each_member_alone_leaves_the_others(member):
    for name, value in {"firstName": "Ann", "lastName": "Other", "phone": "+442071838751", "locale": "fr"}.items():
        before = me(member)
        after = change(member, **{name: value})
        assert {**before, name: value, "updatedAt": None, "phoneVerified": None} == \
            {**after, "updatedAt": None, "phoneVerified": None}


def test_null_clears_phone_and_language_and_no_name(member):
    change(member, phone="+442071838752", locale="it")
    after = change(member, phone=None, locale=None)
    assert after["phone"] is None and after["locale"] is None and after["phoneVerified"] is False
    reply = member.patch(ME, json={"firstName": None, "lastName": None}, status=400, code="request.invalid")
    assert set(failing(reply)) == {"firstName", "lastName"}


def test_a_verified_phone_stays_verified_while_it_is_the_same(database, member):
    change(member, phone="+442071838753")
    database.run("UPDATE `user` SET phone_verified = TRUE WHERE id = %s", key(member.id))
    assert change(member, phone="+442071838753")["phoneVerified"] is True
    assert change(member, phone="+442071838754")["phoneVerified"] is False


def test_the_provider_follows(database, member):
    change(member, phone="+442071838755")
    wait_until(lambda: database.run(PROVIDER, key(member.id)) == (("+442071838755", 0), ),
               mail.PATIENCE_SECONDS, "the provider's copy")


@pytest.mark.parametrize(
    "sent, paths",
    [({}, {""}), ({"locale": "english"}, {"locale"}), ({"locale": "en_GB"}, {"locale"}),
     ({"locale": ""}, {"locale"}), ({"locale": "en-x-mine"}, {"locale"}), ({"locale": "x-mine"}, {"locale"}),
     ({"locale": "de-DE-u-co-phonebk-nu-arabext-t-aaab"}, {"locale"}), ({"locale": 5}, {"locale"}),
     ({"locale": "en", "phone": "0446681800", "firstName": "", "lastName": "a/b"}, {"phone", "firstName", "lastName"}),
     ({"email": "mallory@example.com"}, {"email"}), ({"status": "disabled"}, {"status"}),
     ({"roles": ["admin"], "permissions": ["*:*:a"]}, {"roles", "permissions"}),
     ({"emailVerified": True, "phoneVerified": True, "id": "x"}, {"emailVerified", "phoneVerified", "id"}),
     ({"lastLoginAt": None, "lockedUntil": None, "invitationExpiresAt": None},
      {"lastLoginAt", "lockedUntil", "invitationExpiresAt"})])
def test_what_is_wrong_is_named_and_changes_nothing(members, member, sent, paths):
    member.sign_in()
    before = members.snapshot(member.id)
    member.patch(ME, json=sent, status=400, code="request.invalid", paths=paths)
    assert members.snapshot(member.id) == before


def test_no_permission_is_needed_and_a_token_is(api, nobody):
    assert change(nobody, locale="nl")["locale"] == "nl"
    api.patch(ME, json={"locale": "nl"}, status=401, code="auth.tokenMissing")


def test_who_is_disabled_meanwhile_changes_nothing(api, boss, member):
    token = member.token
    boss.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    api.patch(ME, token=token, json={"locale": "nl"}, status=401, code="auth.tokenRevoked")


def test_the_audit_row_says_what_and_not_to_which(administrator, member):
    change(member, firstName="Secretname", phone="+442071838756", locale="sv")
    found = administrator.get("/system/audit", params={"userId": member.id, "action": "user.update"},
                              status=200).json()["items"][0]
    assert found["details"] == {"names": True, "phone": True, "locale": True} and found["targetId"] == member.id
