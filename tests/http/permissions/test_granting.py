# SPDX-License-Identifier: MIT
"""Nobody grants more than they hold, and nobody changes who holds more (docs/permissions.md): the table of
escalations.json, what may be granted, and races."""

import concurrent.futures
import json
import pathlib

import pytest

from permissions import support_rules as model
from permissions.support_cast import Cast
from support import members as team
from support.accounts import fresh_email, fresh_password, invitation
from support.client import failing
from support.database import key
from support.members import USERS
from support.runs.effort import cases

FLOOR = 40
ATTEMPTS = json.loads(
    (pathlib.Path(__file__).parent / "escalations.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cast(accounts, members):
    return Cast(accounts, members)


def attempt(caller, row, target, body, email, raw):
    """Sends one attempt; returns the reply."""
    call, path = row["call"], f"{USERS}/{target.id}"
    if raw is not None:
        return caller.post(USERS, data=raw.encode(), headers={"Content-Type": "application/json"})
    if call == "create":
        return caller.post(USERS, json=team.body(email=email, **body))
    if call == "patch":
        return caller.patch(path, json=body)
    if call == "get":
        return caller.get(path)
    if call == "list":
        return caller.get(USERS, params={"organisationId": target.organisation["id"]})
    if call == "authorise":
        return caller.post("/customers/authorise", json={"permission": "cus:user:r", "userId": target.id})
    if call == "admin-set-password":
        sent = {"username": target.id, "password": fresh_password(), **body}
        return caller.post("/customers/admin-set-password", json=sent)
    if call == "admin-confirm-signup":
        return caller.post("/customers/admin-confirm-signup", json={"username": target.id})
    if call == "signup":
        return caller.post("/customers/signup", json=invitation(email=email))
    assert call == "audit", row
    return caller.get("/system/audit")


def test_the_table_is_as_long_as_promised():
    names = [row["name"] for row in ATTEMPTS]
    assert len(set(names)) == len(names) >= FLOOR


@pytest.mark.parametrize("row", ATTEMPTS, ids=[row["name"] for row in ATTEMPTS])
def test_an_escalation_is_refused_and_changes_no_row(cast, row):
    caller = cast.people[row["caller"]]
    target = caller if row.get("target", "self") == "self" else cast.whole(row["target"])
    email = fresh_email("escalated")
    body = cast.fill(row.get("body", {}), caller, target, email)
    raw = row["raw"].replace("{email}", email) if "raw" in row else None
    # A sign-in is a row of its own.
    caller.sign_in()
    before = {person.id: cast.members.snapshot(person.id) for person in (caller, target)}
    reply = attempt(caller, row, target, body, email, raw)
    assert reply.status_code == row["status"], f"{reply.status_code} {reply.text}"
    if "code" in row:
        assert reply.json()["code"] == row["code"], reply.text
    if "paths" in row:
        assert set(failing(reply)) == set(row["paths"]), reply.text
    for identity, rows in before.items():
        assert cast.members.snapshot(identity) == rows, "the refused call has changed a row"
    for table, column in (("user", "email"), ("identity_account", "username")):
        assert not cast.database.run(f"SELECT 1 FROM `{table}` WHERE {column} = %s", email)


# ---- what may be granted --------------------------------------------------------------------------------

GRANTABLE = [
    ("owner", ["owner", "inv-manage",
               "log-manage"], ["rwx:*", "wr:*", "*:*:w", "inv:*:r", "cus:file:w", "sys:audit:r"]),
    ("manager", [], ["cus:user:w", "cus:user:r"]),
    ("userAdmin", [], ["cus:user:a", "cus:user:w", "cus:user:r"]),
    ("broad", ["inv-manage", "log-manage"], ["cus:*:a", "cus:org:a", "inv:*:w", "log:truck:r"]),
    ("administrator", ["admin", "account-admin", "owner"], ["*:*:a", "sys:settings:a", "rwx:*"]),
]


@pytest.mark.parametrize("who, roles, permissions", GRANTABLE, ids=[row[0] for row in GRANTABLE])
def test_what_the_caller_holds_may_be_given_at_creation_and_by_a_patch(cast, who, roles, permissions):
    caller = cast.people[who]
    user = caller.post(USERS, json=team.body(roles=roles, permissions=permissions), status=200).json()["user"]
    assert user["roles"] == roles and user["permissions"] == permissions
    other = caller.post(USERS, json=team.body(), status=200).json()["user"]
    sent = {"roles": roles, "permissions": permissions}
    patched = caller.patch(f"{USERS}/{other['id']}", json=sent, status=200).json()["user"]
    assert patched["roles"] == roles and patched["permissions"] == permissions


def test_a_customers_user_gets_no_role_of_internal_staff(cast, administrator):
    """Not even from an administrator; whoever has it from elsewhere keeps what else they have and can lose it."""
    user = cast.owner.post(USERS, json=team.body(), status=200).json()["user"]
    path = f"{USERS}/{user['id']}"
    reply = administrator.patch(path, json={"roles": ["inv-manage", "admin"]}, status=403, code="role.notGrantable")
    assert [(entry["path"], entry["message"]) for entry in reply.json()["validation"]] == [
        ("roles[1]", "admin is for internal staff only")]
    cast.database.run("INSERT INTO user_role (user_id, role_id) VALUES (%s, 'admin')", key(user["id"]))
    administrator.patch(path, json={"firstName": "Ona"}, status=200)
    administrator.patch(path, json={"permissions": []}, status=403, code="role.notGrantable")
    assert administrator.patch(path, json={"roles": []}, status=200).json()["user"]["roles"] == []


def test_what_a_patch_does_not_name_stays(cast):
    user = cast.owner.post(USERS,
                           json=team.body(roles=["inv-manage"], permissions=["log:truck:r"]),
                           status=200).json()["user"]
    path = f"{USERS}/{user['id']}"
    assert cast.owner.patch(path, json={"roles": ["log-manage"]},
                            status=200).json()["user"]["permissions"] == ["log:truck:r"]
    assert cast.owner.patch(path, json={"permissions": []},
                            status=200).json()["user"]["roles"] == ["log-manage"]


def test_a_role_or_permission_given_by_a_patch_holds_from_the_next_request_on(cast, members):
    member = members.active(cast.owner)
    path = f"{USERS}/{member.id}"
    for _ in range(10):
        cast.owner.patch(path, json={"permissions": ["cus:file:r"]}, status=200)
        member.get("/system/files", status=200)
        cast.owner.patch(path, json={"permissions": []}, status=200)
        member.get("/system/files", status=403)
        cast.owner.patch(path, json={"roles": ["inv-manage"]}, status=200)
        member.get("/system/files", status=200)
        cast.owner.patch(path, json={"roles": []}, status=200)
        member.get("/system/files", status=403)


def test_an_owner_may_change_another_owner(cast, members):
    other = members.active(cast.owner, roles=["owner"])
    user = cast.owner.patch(f"{USERS}/{other.id}", json={"roles": [], "firstName": "Former"},
                            status=200).json()
    assert user["user"]["roles"] == [] and user["user"]["firstName"] == "Former"


def test_an_administrator_acts_across_organisations(cast, administrator):
    path = f"{USERS}/{cast.people['member'].id}"
    before = administrator.get(path, status=200).json()["user"]
    changed = administrator.patch(path, json={"lastName": "Renamed"}, status=200).json()["user"]
    assert changed["lastName"] == "Renamed" and changed["organisationId"] == cast.owner.organisation["id"]
    administrator.patch(path, json={"lastName": before["lastName"]}, status=200)


# ---- roles as they are in the database ------------------------------------------------------------------


@pytest.fixture()
def role(database):
    name = database.make_role(["cus:user:w"])
    yield name
    database.drop_role(name)


def test_a_role_is_measured_by_what_it_grants_at_this_moment(cast, database, role):
    caller, path = cast.people["manager"], f"{USERS}/{cast.people['member'].id}"
    caller.patch(path, json={"roles": [role]}, status=200)
    cast.owner.patch(path, json={"roles": []}, status=200)
    database.set_role(role, ["cus:user:w", "cus:file:r"])
    reply = caller.patch(path, json={"roles": [role]}, status=403, code="role.notGrantable")
    assert set(failing(reply)) == {"roles[0]"}
    database.set_role(role, [])
    caller.patch(path, json={"roles": [role]}, status=200)
    cast.owner.patch(path, json={"roles": []}, status=200)


def test_a_role_that_grants_nonsense_grants_nothing_and_harms_nothing(cast, database, role):
    database.set_role(role, ["*:*:*", "admin", "CUS:*:a", "cus:user:r"])
    path = f"{USERS}/{cast.people['member'].id}"
    cast.people["manager"].patch(path, json={"roles": [role]}, status=200)
    shown = cast.people["member"].get("/customers/me", status=200).json()
    assert model.allowed(shown["permissions"], "cus:user:r")
    cast.people["member"].get("/system/files", status=403)
    cast.owner.patch(path, json={"roles": []}, status=200)


def test_a_user_whose_role_is_gone_can_still_be_changed(cast, members, database):
    member = members.active(cast.owner)
    database.set_roles(member.id, ["no-such-role"])
    cast.owner.patch(f"{USERS}/{member.id}", json={"firstName": "Still"}, status=200)
    user = cast.owner.patch(f"{USERS}/{member.id}", json={"roles": []}, status=200).json()["user"]
    assert user["roles"] == []


def test_the_callers_rights_of_this_moment_decide(cast, members, database):
    """Taken rights grant nothing from the next request on, a hundred times."""
    caller = members.holding(cast.owner, "")
    path = f"{USERS}/{cast.people['member'].id}"
    for _ in range(50):
        database.set_permissions(caller.id, "cus:user:w cus:file:r")
        caller.patch(path, json={"permissions": ["cus:file:r"]}, status=200)
        database.set_permissions(caller.id, "cus:user:w")
        # The target holds more than the caller now; giving it the same again is granting, too.
        caller.patch(path, json={"permissions": ["cus:file:r"]}, status=403)
        database.set_permissions(cast.people["member"].id, "")
        caller.patch(path, json={"permissions": ["cus:file:r"]}, status=403, code="role.notGrantable")


def test_patches_at_once_leave_one_of_them_whole(cast, members):
    member = members.active(cast.owner)
    path = f"{USERS}/{member.id}"
    wishes = [{
        "firstName": f"F{n}", "lastName": f"L{n}", "permissions": [f"inv:area-{n}:r", f"inv:area-{n}:w"],
        "roles": ["inv-manage"] if n % 2 else ["log-manage"]
    } for n in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda wish: cast.owner.patch(path, json=wish, status=200), wishes * 3))
    user = members.user(member.id)
    assert {name: user[name] for name in wishes[0]} in wishes


def test_disjoint_patches_at_once_lose_nothing(cast, members):
    member = members.active(cast.owner)
    path = f"{USERS}/{member.id}"
    for number in range(10):
        wishes = [{"firstName": f"First {number}"}, {"lastName": f"Last {number}"},
                  {"phone": f"+4420718387{number:02d}"}, {"roles": ["inv-manage"] if number % 2 else []},
                  {"permissions": [f"inv:area-{number}:r"]}]
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            list(pool.map(lambda wish: cast.owner.patch(path, json=wish, status=200), wishes))
        user = members.user(member.id)
        for wish in wishes:
            assert {name: user[name] for name in wish} == wish


def test_taking_the_callers_rights_races_a_grant_to_some_serial_order(cast, members, database):
    """A grant that was answered 403 has changed nothing; one that was answered 200 is there."""
    caller, member = members.holding(cast.owner, ""), members.active(cast.owner)
    assert caller.token
    path = f"{USERS}/{member.id}"
    for _ in range(cases(15, 500)):
        database.set_permissions(caller.id, "cus:user:w cus:file:w")
        database.set_permissions(member.id, "")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            grant = pool.submit(caller.patch, path, json={"permissions": ["cus:file:w"]}, status={200, 403})
            pool.submit(cast.owner.patch, f"{USERS}/{caller.id}", json={"permissions": []},
                        status=200).result()
            granted = grant.result().status_code == 200
        assert members.user(member.id)["permissions"] == (["cus:file:w"] if granted else [])
        caller.patch(path, json={"permissions": []}, status=403)
