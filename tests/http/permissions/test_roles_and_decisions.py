# SPDX-License-Identifier: MIT
"""GET /customers/roles and /customers/permissions say what the caller may grant; POST /customers/authorise explains
decisions."""

import itertools
import json

import pytest

from permissions import support_rules as model
from support.client import shape
from support.database import key
from support.members import USERS
from support.programs import operator

BUILT_IN = {
    "owner": ["rwx:*"], "inv-manage": ["cus:*:w", "inv:*:w"], "log-manage": ["cus:*:w", "log:*:w"],
    "admin": ["*:*:a"], "account-admin": ["cus:*:w", "inv:*:w", "log:*:w"]
}
UNKNOWN = "01890000-0000-7000-8000-000000000000"


def roles(account, **arguments):
    return account.get("/customers/roles", **arguments)


def authorise(account, permission, **more):
    arguments = {name: more.pop(name) for name in ("status", "code", "paths") if name in more}
    sent = {"permission": permission, **more}
    return account.post("/customers/authorise", json=sent, **(arguments or {"status": 200}))


@pytest.fixture(scope="module")
def member(members, owner):
    return members.active(owner)


@pytest.fixture(scope="module")
def user_admin(members, owner):
    return members.holding(owner, "cus:user:a")


@pytest.fixture()
def role(database):
    name = database.make_role([])
    yield name
    database.drop_role(name)


# ---- roles ----------------------------------------------------------------------------------------------


def test_the_list_holds_the_built_in_roles_with_their_permissions(owner):
    body = roles(owner, status=200).json()
    assert set(body) == {"items"}
    for item in body["items"]:
        assert set(item) == {"id", "description", "permissions", "grantable"}
        assert item["description"] and isinstance(item["grantable"], bool)
    found = {item["id"]: sorted(item["permissions"]) for item in body["items"]}
    assert {name: found[name] for name in BUILT_IN} == BUILT_IN
    assert len(found) == len(body["items"])


@pytest.mark.parametrize("grants, grantable", [
    ("rwx:*", {"owner", "inv-manage", "log-manage"}),
    ("*:*:w", {"owner", "inv-manage", "log-manage"}),
    # Role admin is for internal staff, so it is granted in no customer's organisation.
    ("*:*:a", {"owner", "inv-manage", "log-manage", "account-admin"}),
    ("cus:*:w inv:*:w log:*:w", {"inv-manage", "log-manage"}),
    ("cus:*:a inv:*:a log:*:a", {"inv-manage", "log-manage"}),
    ("inv:*:w cus:*:w", {"inv-manage"}),
    ("cus:user:w", set()),
    ("cus:user:r", set()),
    ("r:*", set()),
])
def test_grantable_is_what_the_callers_permissions_cover(database, member, grants, grantable):
    database.set_grants(member.id, grants)
    items = roles(member, status=200).json()["items"]
    assert {item["id"] for item in items if item["grantable"] and item["id"] in BUILT_IN} == grantable


def test_staff_may_grant_every_role_among_themselves(administrator):
    items = roles(administrator, status=200).json()["items"]
    assert {item["id"] for item in items if item["grantable"]} >= set(BUILT_IN)


@pytest.mark.parametrize("grants",
                         ["rwx:*", "*:*:a", "cus:*:a inv:*:a log:*:a", "inv:*:w cus:*:w", "cus:user:w"])
def test_a_grant_does_what_the_list_foretold(database, members, owner, member, grants):
    target = members.active(owner)
    database.set_grants(member.id, grants)
    items = [item for item in roles(member, status=200).json()["items"] if item["id"] in BUILT_IN]
    for item in items:
        database.set_grants(target.id, "")
        expected = 200 if item["grantable"] else 403
        member.patch(f"{USERS}/{target.id}", json={"roles": [item["id"]]}, status=expected)


def test_a_change_of_a_role_is_shown_at_once(database, owner, role):
    for grants in (["cus:file:r"], ["inv:*:w", "cus:file:r"], []):
        database.set_role(role, grants)
        item = next(item for item in roles(owner, status=200).json()["items"] if item["id"] == role)
        assert sorted(item["permissions"]) == sorted(grants) and item["grantable"] is True
    database.set_role(role, ["sys:audit:a"])
    item = next(item for item in roles(owner, status=200).json()["items"] if item["id"] == role)
    assert item["grantable"] is False


def test_reading_the_roles_needs_read_permission_on_users(api, nobody, owner, members):
    assert roles(nobody, status=403, code="auth.permission").json()["body"]["required"] == "cus:user:r"
    api.get("/customers/roles", status=401, code="auth.tokenMissing")
    roles(members.holding(owner, "cus:user:r"), status=200)


def test_the_list_of_roles_takes_no_parameters(owner):
    roles(owner, params={"limit": "5"}, status=400, code="request.invalid", paths={"limit"})


# ---- authorise ------------------------------------------------------------------------------------------


def test_an_allowed_decision_names_each_source(database, owner, member, role):
    database.set_role(role, ["cus:*:w"])
    database.set_grants(member.id, "cus:file:r r:* inv:*:a nonsense")
    database.set_roles(member.id, [role, "log-manage"])
    body = authorise(member, "cus:file:r").json()
    assert set(body) == {"allowed", "required", "grantedBy", "missing"}
    assert body["allowed"] is True and body["required"] == "cus:file:r" and body["missing"] is None
    found = {(entry["source"], entry["permission"]) for entry in body["grantedBy"]}
    assert found == {("user", "cus:file:r"), ("user", "r:*"), (f"role:{role}", "cus:*:w"),
                     ("role:log-manage", "cus:*:w")}
    assert len(found) == len(body["grantedBy"])


def test_a_refused_decision_names_what_is_missing(database, member):
    database.set_grants(member.id, "cus:file:r inv:*:a")
    body = authorise(member, "cus:file:w").json()
    assert body == {"allowed": False, "required": "cus:file:w", "grantedBy": [], "missing": "cus:file:w"}


PATTERNS = [
    "*:*:a", "*:*:w", "*:*:r", "cus:*:a", "cus:*:w", "cus:*:r", "*:file:w", "cus:file:a", "cus:file:w",
    "cus:file:r", "inv:file:a", "cus:fil:a", "rwx:*", "r:*", "w:*", "x:*", "xr:*"
]
REQUIRED = ["cus:file:r", "cus:file:w", "cus:file:a", "inv:stock:w", "sys:audit:a"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_explanation_is_the_decision(database, member, pattern):
    database.set_grants(member.id, pattern)
    for required in REQUIRED:
        body = authorise(member, required).json()
        allowed = model.grants(pattern, required)
        assert body["allowed"] is allowed and body["missing"] == (None if allowed else required)
        assert body["grantedBy"] == ([{"source": "user", "permission": pattern}] if allowed else [])


def test_the_explanation_agrees_with_the_endpoints(api, database, member):
    for grants, (required, method, path) in itertools.product(
        ("", "cus:*:r", "cus:user:w", "rwx:*"),
        (("cus:file:r", "GET", "/system/files"), ("cus:user:r", "GET", USERS),
         ("cus:user:r", "GET", "/customers/roles"), ("sys:audit:a", "GET", "/system/audit"))):
        database.set_grants(member.id, grants)
        allowed = authorise(member, required).json()["allowed"]
        api.call(method, path, token=member.token, status=200 if allowed else 403)


@pytest.mark.parametrize("text", [
    "", "*:*:a", "cus:*:r", "*:file:r", "rwx:*", "cus:file", "cus:file:x", "CUS:FILE:R", "cus:file:r ",
    "cus:file:rw", "c us:file:r", "cus:file:r\n"
])
def test_only_one_concrete_permission_can_be_asked_about(owner, text):
    authorise(owner, text, status=400, code="request.invalid", paths={"permission"})


@pytest.mark.parametrize("body, paths", [({}, {"permission"}),
                                         ({"permissions": []}, {"permissions"}),
                                         ({"permissions": "cus:file:r"}, {"permissions"}),
                                         ({"permissions": ["cus:file:r"] * 101}, {"permissions"}),
                                         ({"permission": "cus:file:r", "permissions": ["cus:file:r"]}, {"permission"}),
                                         ({"permissions": ["cus:file:r", 7, "*:*:a", "cus:user:w", ""], "userId": "x"},
                                          {"permissions[1]", "permissions[2]", "permissions[4]", "userId"}),
                                         ({"permission": 1, "userId": 2}, {"permission", "userId"}),
                                         ({"permission": "cus:file:r", "user": "x"}, {"user"})])
def test_every_failing_path_of_a_question_is_named(owner, body, paths):
    owner.post("/customers/authorise", json=body, status=400, code="request.invalid", paths=paths)


def test_asking_about_oneself_needs_nothing_but_a_token(api, database, member):
    database.set_grants(member.id, "")
    assert authorise(member, "cus:file:r").json()["allowed"] is False
    api.post("/customers/authorise", json={"permission": "cus:file:r"}, status=401, code="auth.tokenMissing")


def test_asking_about_a_colleague_needs_the_permission_to_read_users(members, owner, member, other):
    stranger, reader = members.holding(owner, "inv:*:a cus:file:w"), members.holding(owner, "cus:user:r")
    for target in (member.id, other.id, UNKNOWN):
        reply = authorise(stranger, "cus:file:r", userId=target, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:r"
    for asker in (owner, reader):
        body = authorise(asker, "cus:file:w", userId=owner.id).json()
        assert body["grantedBy"][0] == {"source": "role:owner", "permission": "rwx:*"}
        replies = [authorise(asker, "cus:file:r", userId=target, status=400, code="user.unknown", paths={"userId"})
                   for target in (other.id, UNKNOWN)]
        assert shape(replies[0]) == shape(replies[1])


def test_asking_about_anybody_needs_an_administrator_of_users(database, other, user_admin):
    crossings = "SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND user_id = %s"
    before = database.run(crossings, key(user_admin.id))[0][0]
    assert authorise(user_admin, "inv:stock:w", userId=other.id).json()["allowed"] is True
    assert database.run(crossings, key(user_admin.id))[0][0] == before + 1
    assert authorise(user_admin, "inv:stock:w").json()["allowed"] is False
    authorise(user_admin, "cus:file:r", userId=UNKNOWN, status=400, code="user.unknown")
    authorise(user_admin, "cus:file:r", userId="nobody", status=400, code="request.invalid", paths={"userId"})


def test_the_answer_about_another_is_about_that_one(database, owner, member, user_admin):
    database.set_grants(member.id, "inv:stock:r")
    body = authorise(user_admin, "inv:stock:r", userId=member.id).json()
    assert body["allowed"] is True and body["grantedBy"] == [{"source": "user", "permission": "inv:stock:r"}]
    assert authorise(user_admin, "cus:user:a", userId=member.id).json()["allowed"] is False


# ---- several at once ------------------------------------------------------------------------------------


def authorise_all(account, permissions, **more):
    return account.post("/customers/authorise", json={"permissions": permissions, **more}, status=200).json()


def test_several_permissions_are_explained_in_the_order_sent_each_as_if_it_were_alone(database, owner, member, role):
    database.set_role(role, ["cus:*:w"])
    database.set_grants(member.id, "cus:file:r r:* inv:*:a nonsense")
    database.set_roles(member.id, [role, "log-manage"])
    asked = [*REQUIRED, "cus:file:r", "x:y:a", "log:truck:w"]
    for asker, more in ((member, {}), (owner, {"userId": member.id})):
        body = authorise_all(asker, asked, **more)
        assert body == {"items": [authorise(asker, one, **more).json() for one in asked]}
        assert {item["allowed"] for item in body["items"]} == {True, False}


def test_a_hundred_permissions_and_a_single_one_may_be_asked_about(owner):
    asked = [f"inv:area-{number}:r" for number in range(100)]
    assert [item["required"] for item in authorise_all(owner, asked)["items"]] == asked
    assert len(authorise_all(owner, asked[:1])["items"]) == 1


def test_of_somebody_who_may_not_call_every_permission_is_refused(members, owner, member):
    members.set_status(member.id, "disabled")
    try:
        items = authorise_all(owner, ["cus:file:r", "inv:stock:r"], userId=member.id)["items"]
        assert [(item["allowed"], item["grantedBy"]) for item in items] == [(False, [])] * 2
    finally:
        members.set_status(member.id, "active")


# ---- the catalogue --------------------------------------------------------------------------------------


def catalogue(account, **arguments):
    return account.get("/customers/permissions", **(arguments or {"status": 200}))


def test_the_catalogue_is_the_route_table(stack, owner):
    table = {}
    for row in json.loads(operator.run(stack, "routes", "--json"))["items"]:
        if ":" in row["access"]:
            table.setdefault(row["access"], []).append(row["operation"])
    items = catalogue(owner).json()["items"]
    assert {item["permission"]: item["operations"] for item in items} == table
    assert [item["permission"] for item in items] == sorted(table)


@pytest.mark.parametrize("grants", ["rwx:*", "*:*:a", "cus:*:w", "cus:*:a", "cus:user:r", "cus:user:w cus:file:r",
                                    "r:*", "sys:*:a"])
def test_the_catalogue_tells_what_the_caller_may_grant_and_a_grant_does_it(database, members, owner, member, grants):
    target = members.active(owner)
    database.set_grants(member.id, f"{grants} cus:user:r")
    held = f"{grants} cus:user:r".split()
    for item in catalogue(member).json()["items"]:
        assert item["grantable"] == model.allowed(held, item["permission"]), item
        if model.allowed(held, "cus:user:w"):
            database.set_grants(target.id, "")
            member.patch(f"{USERS}/{target.id}", json={"permissions": [item["permission"]]},
                         status=200 if item["grantable"] else 403)


def test_the_catalogue_needs_the_permission_to_read_users(api, nobody, owner):
    assert catalogue(nobody, status=403, code="auth.permission").json()["body"]["required"] == "cus:user:r"
    api.get("/customers/permissions", status=401, code="auth.tokenMissing")
    catalogue(owner, params={"limit": "5"}, status=400, code="request.invalid", paths={"limit"})
