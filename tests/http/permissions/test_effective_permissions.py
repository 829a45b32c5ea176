# SPDX-License-Identifier: MIT
"""GET /customers/organisations/users/{id}/permissions: what somebody may do, where it comes from, when it was used."""

import datetime

import pytest

from permissions import support_rules as model
from support.client import shape
from support.database import key
from support.members import USERS

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def effective(account, identity, **arguments):
    reply = account.get(f"{USERS}/{identity}/permissions", **(arguments or {"status": 200}))
    return reply.json()["items"] if reply.status_code == 200 else reply


def days_ago(days):
    """A day by the clock that all processes of this machine have."""
    return datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days)


def use(database, identity, **days):
    """Notes uses: permissions with _ for the colons, and how many days ago."""
    database.run("DELETE FROM permission_use WHERE user_id = %s", key(identity))
    for name, ago in days.items():
        database.run("INSERT INTO permission_use (user_id, permission, last_day) VALUES (%s, %s, %s)", key(identity),
                     name.replace("_", ":"), days_ago(ago))


def at(ago):
    """What lastUsedAt says of that day."""
    return f"{days_ago(ago).isoformat()}T00:00:00.000Z"


@pytest.fixture()
def role(database):
    name = database.make_role([])
    yield name
    database.drop_role(name)


def test_each_permission_is_listed_once_with_all_its_sources(database, boss, member, role):
    database.set_role(role, ["cus:*:w", "log:truck:r", "CUS:*:a"])
    database.set_roles(member.id, [role, "log-manage", "no-such-role"])
    database.set_permissions(member.id, "cus:file:r log:truck:r *:*:* cus:file:r")
    found = effective(boss, member.id)
    assert all(set(item) == {"permission", "sources", "lastUsedAt"} for item in found)
    assert {item["permission"]: sorted(item["sources"]) for item in found} == {
        "cus:file:r": ["user"], "log:truck:r": sorted([f"role:{role}", "user"]),
        "cus:*:w": sorted([f"role:{role}", "role:log-manage"]), "log:*:w": ["role:log-manage"]}
    assert [item["permission"] for item in found] == member.get("/customers/me", status=200).json()["permissions"]
    assert found[0]["permission"] == "cus:file:r"


def test_the_list_and_authorise_tell_the_same(database, boss, member, role):
    database.set_role(role, ["cus:*:r", "inv:*:w"])
    database.set_roles(member.id, [role, "log-manage"])
    database.set_permissions(member.id, "cus:file:w")
    held = effective(boss, member.id)
    asked = ["cus:file:r", "cus:file:w", "cus:user:r", "inv:stock:w", "log:truck:a"]
    answers = boss.post("/customers/authorise", json={"permissions": asked, "userId": member.id}, status=200).json()
    for answer in answers["items"]:
        expected = {(source, item["permission"]) for item in held for source in item["sources"]
                    if model.grants(item["permission"], answer["required"])}
        assert {(one["source"], one["permission"]) for one in answer["grantedBy"]} == expected


@pytest.mark.usefixtures("one_day")
def test_a_pattern_was_used_when_something_that_it_grants_was(database, boss, member):
    database.set_grants(member.id, "cus:*:w cus:user:r inv:*:w log:*:r")
    use(database, member.id, cus_file_w=7, cus_user_r=89, log_truck_r=90)
    assert {item["permission"]: item["lastUsedAt"] for item in effective(boss, member.id)} == {
        "cus:*:w": at(7), "cus:user:r": at(89), "inv:*:w": None, "log:*:r": None}


def test_a_change_is_listed_at_once_and_holds_whatever_the_status(database, members, boss, member):
    for grants in ("cus:file:r", "", "inv:*:w"):
        database.set_grants(member.id, grants)
        assert [item["permission"] for item in effective(boss, member.id)] == grants.split()
    members.set_status(member.id, "disabled")
    assert [item["permission"] for item in effective(boss, member.id)] == ["inv:*:w"]


def test_reading_takes_the_permission_to_read_users(api, members, nobody, boss, member):
    effective(members.holding(boss, "cus:user:r"), member.id, status=200)
    reply = effective(nobody, member.id, status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:user:r"
    api.get(f"{USERS}/{member.id}/permissions", status=401, code="auth.tokenMissing")
    effective(boss, "x", status=400, code="request.invalid", paths={"id"})
    effective(boss, member.id, params={"limit": "1"}, status=400, code="request.invalid", paths={"limit"})


def test_another_organisations_user_is_unknown_but_for_internal_staff(database, administrator, other, boss, member):
    replies = [effective(other, identity, status=400, code="user.unknown", paths={"id"})
               for identity in (member.id, UNKNOWN)]
    assert shape(replies[0]) == shape(replies[1])
    crossings = "SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND target_id = %s"
    before = database.run(crossings, member.id)[0][0]
    assert effective(administrator, member.id) == effective(boss, member.id)
    assert database.run(crossings, member.id)[0][0] == before + 1
