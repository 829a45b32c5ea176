# SPDX-License-Identifier: MIT
"""POST /customers/authorise/simulate tells what PATCH of a user would do, and PATCH then does it: for random pairs of
callers and changes, and for each kind of refusal. Nothing is written."""

import random

import pytest

from permissions import support_rules as model
from support.client import shape
from support.database import key
from support.members import USERS
from support.runs.effort import cases

PATH = "/customers/authorise/simulate"
UNKNOWN = "01890000-0000-7000-8000-000000000000"
PAIRS = cases(200, 5000)
PAIRS_MOST = 10 * PAIRS
EXPECTED = {"done", "not grantable", "user.unknown", "request.invalid", "user.self", "no reader"}
RESET_EVERY = 20
ROLES = ["owner", "inv-manage", "log-manage", "admin", "account-admin"]
PERMISSIONS = ["*:*:a", "cus:user:a", "cus:*:a", "cus:user:w", "cus:user:r", "rwx:*", "rw:*", "r:*", "*:*:w", "x:*",
               "inv:*:w", "log:truck:r", "cus:file:w", "cus:file:r", "*:file:w", "cus:org:a", "sys:audit:a"]
NONSENSE = ["*:*:*", "CUS:file:r", "inv:*", "", "cus:file:r ", "cus:file:rw"]
# Who there is: organisation, roles, own permissions.
CAST = {
    "ann": ("one", ["owner", "inv-manage"], ""), "bob": ("one", ["owner"], ""),
    "cid": ("one", [], "cus:user:w cus:file:w"), "dot": ("one", ["inv-manage"], "x:* log:truck:r"),
    "rea": ("one", [], "cus:user:r"), "uma": ("one", [], "cus:user:a cus:*:w"), "non": ("one", [], ""),
    "eve": ("two", ["owner"], ""), "fay": ("two", [], "rwx:*"),
    "ida": ("staff", ["admin"], ""), "jon": ("staff", [], "*:*:a"), "kit": ("staff", [], "cus:user:a *:*:w"),
}


def simulate(account, identity, **arguments):
    change = {name: arguments.pop(name) for name in ("roles", "permissions") if name in arguments}
    return account.post(PATH, json={"userId": identity, **change}, **arguments)


class World:
    """The people of the cast, and what the service says of them."""

    def __init__(self, accounts, members):
        self.members, self.database, self.administrator = members, members.database, members.administrator
        creators = {"one": accounts.customer(), "two": accounts.customer(), "staff": members.administrator}
        self.people = {}
        for name, (home, _, _) in CAST.items():
            first = home != "staff" and home not in {CAST[other][0] for other in self.people}
            self.people[name] = creators[home] if first else members.active(creators[home])
            assert self.people[name].token
        items = self.administrator.get("/customers/permissions", status=200).json()["items"]
        self.operations = {item["permission"]: item["operations"] for item in items}
        self.reset()

    def reset(self):
        for name, (_, roles, permissions) in CAST.items():
            self.database.set_roles(self.people[name].id, roles)
            self.database.set_permissions(self.people[name].id, permissions)

    def held(self, name):
        """The effective permissions that the service has for a person."""
        return self.people[name].get("/customers/me", status=200).json()["permissions"]

    def allowed(self, name):
        """The operations that authorise allows a person, by the route table."""
        body = {"userId": self.people[name].id, "permissions": list(self.operations)}
        items = self.administrator.post("/customers/authorise", json=body, status=200).json()["items"]
        return {operation for item in items if item["allowed"] for operation in self.operations[item["required"]]}

    def rows(self, name):
        identity = key(self.people[name].id)
        return (self.database.run("SELECT * FROM `user` WHERE id = %s", identity),
                self.database.run("SELECT * FROM user_role WHERE user_id = %s ORDER BY role_id", identity))

    def may(self, name, permission):
        return model.allowed(self.held(name), permission)

    def check(self, caller, target, change):
        """Simulates, changes, compares. What kind of pair it was."""
        who, whom = self.people[caller], self.people[target]
        for one in (who, whom, self.administrator):
            one.sign_in()  # which changes the person's row, so it comes first
        before = self.rows(target), self.allowed(target)
        foreseen = simulate(who, whom.id, **change)
        assert self.rows(target) == before[0], "the simulation has changed a row"
        if not self.may(caller, "cus:user:r"):
            assert (foreseen.status_code, foreseen.json()["code"]) == (403, "auth.permission")
            return "no reader"
        writer = self.may(caller, "cus:user:w")
        done = who.patch(f"{USERS}/{whom.id}", json=change)
        if not writer:
            assert (done.status_code, done.json()["code"]) == (403, "auth.permission")
        elif foreseen.status_code != 200:
            return self.same_refusal(foreseen, done)
        elif foreseen.json()["notGrantable"]:
            assert (done.status_code, done.json()["code"]) == (403, "role.notGrantable"), done.text
            assert done.json()["validation"] == foreseen.json()["notGrantable"]
        else:
            assert done.status_code == 200, f"foreseen {foreseen.json()}, answered {done.text}"
        if foreseen.status_code != 200:
            return "refused to a reader"
        if done.status_code != 200:
            assert self.rows(target) == before[0]
            # What the caller may not do, somebody may who holds everything.
            done = self.administrator.patch(f"{USERS}/{whom.id}", json=change)
        return self.same_outcome(foreseen.json(), done, target, before[1])

    @staticmethod
    def same_refusal(foreseen, done):
        said, is_said = foreseen.json(), done.json()
        for body in (said, is_said):
            body["body"].pop("requestId")
        if said["code"] == "user.unknown":
            assert [entry.pop("path") for entry in said["validation"] + is_said["validation"]] == ["userId", "id"]
        assert (foreseen.status_code, said) == (done.status_code, is_said)
        return said["code"]

    def same_outcome(self, foreseen, done, target, before):
        if done.status_code != 200:
            return "refused to everybody"
        after = self.allowed(target)
        assert self.held(target) == foreseen["permissions"]
        assert set(foreseen["gained"]) == after - before and set(foreseen["lost"]) == before - after
        assert len(foreseen["gained"]) == len(set(foreseen["gained"])) and not set(foreseen["gained"]) & set(
            foreseen["lost"])
        return "not grantable" if foreseen["notGrantable"] else "done"


def random_change():
    change = {}
    if random.random() < 0.7:
        change["roles"] = random.sample(ROLES, random.choice([0, 1, 1, 2]))
    if random.random() < 0.6:
        change["permissions"] = random.sample(PERMISSIONS, random.choice([0, 1, 2, 3]))
    for name, odd in (("roles", ["nobody", "Owner", "owner"]), ("permissions", NONSENSE)):
        if name in change and random.random() < 0.05:
            change[name].append(random.choice(odd))
    return change


@pytest.fixture(scope="module")
def world(accounts, members):
    return World(accounts, members)


def test_a_random_change_does_what_was_foretold(world):
    """So few random pairs may lack a kind: then more follow until each has been seen."""
    seen = {}
    for number in range(PAIRS_MOST):
        if number >= PAIRS and EXPECTED <= set(seen):
            break
        if number % RESET_EVERY == 0:
            world.reset()
        caller, target, change = random.choice(list(CAST)), random.choice(list(CAST)), random_change()
        kind = world.check(caller, target, change)
        seen[kind] = seen.get(kind, 0) + 1
    world.reset()
    assert EXPECTED <= set(seen), seen


# ---- one kind after the other ---------------------------------------------------------------------------


def test_the_reply_has_what_is_gained_and_lost_and_what_cannot_be_granted(world):
    world.reset()
    cid, dot = world.people["cid"], world.people["dot"]
    body = simulate(world.people["bob"], dot.id, roles=[], permissions=["cus:file:r"], status=200).json()
    assert set(body) == {"permissions", "gained", "lost", "notGrantable"}
    assert body["permissions"] == ["cus:file:r"] and body["gained"] == [] and body["notGrantable"] == []
    assert {"uploadFiles", "updateUser", "listUsers"} <= set(body["lost"]) and "listFiles" not in body["lost"]
    body = simulate(cid, world.people["non"].id, roles=["owner"], permissions=["cus:file:r", "log:truck:r"],
                    status=200).json()
    assert body["permissions"] == ["cus:file:r", "log:truck:r", "rwx:*"] and "updateUser" in body["gained"]
    assert [(entry["path"], entry["code"]) for entry in body["notGrantable"]] == [
        ("roles[0]", "notGrantable"), ("permissions[1]", "notGrantable")]


def test_a_change_of_nothing_gains_and_loses_nothing(world):
    world.reset()
    dot = world.people["dot"]
    body = simulate(world.people["bob"], dot.id, roles=["inv-manage"], status=200).json()
    assert body == {"permissions": world.held("dot"), "gained": [], "lost": [], "notGrantable": []}


def test_who_may_do_more_than_the_caller_is_named_as_patch_names_it(world):
    world.reset()
    body = simulate(world.people["cid"], world.people["ann"].id, permissions=[], status=200).json()
    assert [(entry["path"], entry["code"]) for entry in body["notGrantable"]] == [("id", "notGrantable")]


def test_the_last_owner_stays_and_nobody_takes_from_themselves(world):
    world.reset()
    eve, ida = world.people["eve"], world.people["ida"]
    simulate(ida, eve.id, roles=[], status=409, code="user.lastOwner")
    simulate(eve, eve.id, roles=[], status=409, code="user.self")
    assert simulate(eve, eve.id, roles=["owner", "inv-manage"], status=200).json()["lost"] == []


def test_the_permissions_of_somebody_who_may_not_sign_in_count_all_the_same(world, members):
    world.reset()
    waiting = members.waiting(world.people["ann"])
    body = simulate(world.people["ann"], waiting.id, permissions=["cus:file:r"], status=200).json()
    assert "listFiles" in body["gained"]


@pytest.mark.parametrize("change, paths", [
    ({}, {""}), ({"roles": ["nobody", "owner", "owner"]}, {"roles[0]", "roles[2]"}),
    ({"roles": [1, "nobody"], "permissions": ["*:*:*", 2, "x"]},
     {"roles[0]", "roles[1]", "permissions[0]", "permissions[1]", "permissions[2]"}),
    ({"permissions": ["cus:file:r"] * 101}, {"permissions"}),
    ({"permissions": [f"inv:{'a' * 80}-{number}:r" for number in range(30)]}, {"permissions"}),
    ({"roles": "owner"}, {"roles"})])
def test_what_patch_refuses_as_invalid_is_refused_in_the_same_way(world, change, paths):
    ann, target = world.people["ann"], world.people["non"]
    foreseen = simulate(ann, target.id, status=400, code="request.invalid", paths=paths, **change)
    assert shape(foreseen) == shape(ann.patch(f"{USERS}/{target.id}", json=change, status=400))


@pytest.mark.parametrize("body, paths", [({"roles": []}, {"userId"}), ({"userId": "x", "roles": []}, {"userId"}),
                                         ({"userId": None, "status": "disabled", "roles": ["nobody"]},
                                          {"userId", "status", "roles[0]"})])
def test_every_failing_path_is_named(world, body, paths):
    world.people["ann"].post(PATH, json=body, status=400, code="request.invalid", paths=paths)


def test_somebody_of_another_organisation_is_unknown_but_for_internal_staff(world, database):
    world.reset()
    target = world.people["eve"].id
    replies = [simulate(world.people["ann"], identity, roles=[], status=400, code="user.unknown", paths={"userId"})
               for identity in (target, UNKNOWN)]
    assert shape(replies[0]) == shape(replies[1])
    crossings = "SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND user_id = %s"
    staff = world.people["ida"]
    before = database.run(crossings, key(staff.id))[0][0]
    simulate(staff, target, roles=["owner", "log-manage"], status=200)
    assert database.run(crossings, key(staff.id))[0][0] == before + 1
