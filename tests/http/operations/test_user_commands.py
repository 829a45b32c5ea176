# SPDX-License-Identifier: MIT
"""gatehousectl user: the operator sees everybody, lets people in and shuts them out, and leaves nobody without an
owner."""

import json

import pytest

from support import mail
from support.database import key
from support.members import USERS
from support.programs import operator
from support.stack import wait_until


def read(stack, *words):
    return json.loads(operator.run(stack, "user", *words, "--json"))


def refused(stack, *words):
    done = operator.run(stack, "user", *words, status=None)
    assert done.returncode == 1 and done.stdout == "", done
    return done.stderr


def audit(database, identity, action):
    return database.run("SELECT user_id, outcome, details FROM audit WHERE target_id = %s AND action = %s ORDER BY id",
                        identity, action)


@pytest.fixture()
def member(members, customer):
    return members.active(customer, roles=["inv-manage"], permissions=["cus:file:r"])


def test_everybody_is_listed_and_shown(stack, members, customer, member):
    waiting = members.waiting(customer)
    home = customer.organisation["id"]
    listed = {one["id"]: one for one in read(stack, "list", "--organisation", home)["items"]}
    assert list(listed) == [customer.id, member.id, waiting.id]
    everyone = {one["id"]: one for one in read(stack, "list")["items"]}
    assert listed.items() <= everyone.items() and len(everyone) > len(listed)
    active = read(stack, "list", "--organisation", home, "--status", "active")["items"]
    assert [one["id"] for one in active] == [customer.id, member.id]
    assert waiting.id in [one["id"] for one in read(stack, "list", "--status", "awaiting-confirmation")["items"]]
    for name in (member.id, member.email, member.email.upper()):
        shown = read(stack, "show", name)
        assert listed[member.id].items() <= shown.items()
    seen = members.user(member.id)
    assert {name: shown[name] for name in shown if name != "effectivePermissions"} == seen
    assert shown["effectivePermissions"] == ["cus:file:r", "cus:*:w", "inv:*:w"]
    assert operator.run(stack, "user", "show", member.id, "--json").count("\n") == 1
    table = operator.run(stack, "user", "list", "--organisation", home).splitlines()
    assert len(table) == 4 and member.email in table[2] and table[2].split()[-1] == "inv-manage"
    lines = dict(line.split(maxsplit=1) for line in operator.run(stack, "user", "show", member.id).splitlines())
    assert lines["status"] == "active" and lines["effective"] == "cus:file:r cus:*:w inv:*:w"


def test_the_nil_id_is_that_of_nobody(stack):
    nil = "00000000-0000-0000-0000-000000000000"
    assert read(stack, "list", "--organisation", nil)["items"] == []
    refused(stack, "show", nil)


def test_disabling_ends_the_sessions_at_once(stack, database, member):
    member.get("/customers/me", status=200)
    assert read(stack, "disable", member.email)["status"] == "disabled"
    member.get("/customers/me", status=401, code="auth.tokenRevoked")
    member.api.post("/customers/login", json={"username": member.email, "password": member.password}, status=401,
                    code="auth.userDisabled")
    assert database.run("SELECT enabled FROM identity_account WHERE id = %s", key(member.id)) == ((0, ), )
    assert read(stack, "enable", member.id)["status"] == "active"
    member.get("/customers/me", status=401, code="auth.tokenRevoked")
    member.tokens = None
    member.get("/customers/me", status=200)
    ((nobody, outcome, details), ) = audit(database, member.id, "user.disable")
    assert nobody is None and outcome == "success" and json.loads(details)["status"] == "disabled"
    assert [json.loads(row[2]).get("status") for row in audit(database, member.id, "user.update")] == ["active"]


def test_roles_hold_with_the_next_request_and_reach_the_provider(stack, database, member):
    member.get("/system/audit", status=403)
    shown = read(stack, "set-roles", member.email, "owner,account-admin")
    assert shown["roles"] == ["owner", "account-admin"] and shown["permissions"] == ["cus:file:r"]
    assert member.get("/customers/me", status=200).json()["user"]["roles"] == ["owner", "account-admin"]
    wait_until(
        lambda: "rwx:*" in database.run("SELECT permissions FROM identity_account WHERE id = %s", key(member.id))[0][0],
        mail.PATIENCE_SECONDS, "the provider to hear of the roles", 0.02)
    assert json.loads(audit(database, member.id, "user.update")[-1][2])["roles"] == ["owner", "account-admin"]
    assert read(stack, "set-roles", member.email, "none")["roles"] == []
    before = audit(database, member.id, "user.update")
    said = refused(stack, "set-roles", member.email, "owner,nobody,owner")
    assert "roles[1]: is not the id of a role" in said and "roles[2]: is there already" in said
    assert "roles[1]: admin is for internal staff only" in refused(stack, "set-roles", member.email, "owner,admin")
    assert audit(database, member.id, "user.update") == before


def test_the_last_owner_stays(stack, members, customer, member):
    for words in (("disable", customer.email), ("set-roles", customer.id, "none"),
                  ("set-roles", customer.id, "inv-manage")):
        assert "another active owner or administrator" in refused(stack, *words)
    before = members.user(customer.id)
    assert before["status"] == "active" and "owner" in before["roles"]
    operator.run(stack, "user", "set-roles", member.id, "owner")
    operator.run(stack, "user", "disable", customer.id)
    assert "another active owner or administrator" in refused(stack, "disable", member.id)


def test_an_organisation_whose_people_are_all_shut_out_is_opened_again(stack, members, database, customer):
    members.set_status(customer.id, "disabled")
    database.set_roles(customer.id, [])
    operator.run(stack, "user", "set-roles", customer.email, "owner,inv-manage")
    operator.run(stack, "user", "enable", customer.email)
    customer.tokens = None
    customer.get(USERS, status=200)


def test_who_is_not_there_or_awaits_something_is_told(stack, members, customer):
    waiting = members.waiting(customer)
    for verb in ("show", "enable", "disable"):
        assert "There is no account nobody@example.org." in refused(stack, verb, "nobody@example.org")
    for verb in ("enable", "disable"):
        assert "state" in refused(stack, verb, waiting.email)
    assert members.user(waiting.id)["status"] == "awaiting-confirmation"
