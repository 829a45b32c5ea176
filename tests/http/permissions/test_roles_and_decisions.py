# SPDX-License-Identifier: MIT
"""GET /customers/roles says what the caller may grant; POST /customers/authorise explains a decision."""

import itertools

import pytest

from permissions import support_rules as model
from support.members import USERS

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
                                         ({"permission": 1, "userId": 2}, {"permission", "userId"}),
                                         ({"permission": "cus:file:r", "user": "x"}, {"user"})])
def test_every_failing_path_of_a_question_is_named(owner, body, paths):
    owner.post("/customers/authorise", json=body, status=400, code="request.invalid", paths=paths)


def test_asking_about_oneself_needs_nothing_but_a_token(api, database, member):
    database.set_grants(member.id, "")
    assert authorise(member, "cus:file:r").json()["allowed"] is False
    api.post("/customers/authorise", json={"permission": "cus:file:r"}, status=401, code="auth.tokenMissing")


def test_asking_about_another_needs_an_administrator_of_users(owner, member, other, user_admin):
    for target in (member.id, other.id, UNKNOWN):
        reply = authorise(owner, "cus:file:r", userId=target, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:a"
    assert authorise(user_admin, "inv:stock:w", userId=other.id).json()["allowed"] is True
    assert authorise(user_admin, "inv:stock:w").json()["allowed"] is False
    authorise(user_admin, "cus:file:r", userId=UNKNOWN, status=400, code="user.unknown")
    authorise(user_admin, "cus:file:r", userId="nobody", status=400, code="request.invalid", paths={"userId"})


def test_the_answer_about_another_is_about_that_one(database, owner, member, user_admin):
    database.set_grants(member.id, "inv:stock:r")
    body = authorise(user_admin, "inv:stock:r", userId=member.id).json()
    assert body["allowed"] is True and body["grantedBy"] == [{"source": "user", "permission": "inv:stock:r"}]
    assert authorise(user_admin, "cus:user:a", userId=member.id).json()["allowed"] is False
