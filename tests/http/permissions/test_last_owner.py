# SPDX-License-Identifier: MIT
"""An organisation keeps an active owner, internal staff keep an administrator, nobody takes from themselves, and of two
people who shut each other out at the same moment one is refused."""

import concurrent.futures

import pytest

from support.database import key
from support.members import USERS

ROUNDS = 500
OFF = {"status": "disabled"}
BARE = {"roles": [], "permissions": []}
# What the one who came second is told.
REFUSED = {(401, "auth.tokenRevoked"), (403, "auth.permission"), (403, "role.notGrantable")}


def path(account):
    return f"{USERS}/{account.id}"


def code(reply):
    return reply.status_code, "" if reply.status_code == 200 else reply.json()["code"]


class Pair:
    """Two owners of one organisation, who can be put back into their places by a few statements."""

    def __init__(self, accounts, members):
        self.database = members.database
        self.first = accounts.customer()
        self.second = members.active(self.first, roles=["owner"])
        self.people = (self.first, self.second)
        assert self.first.token and self.second.token

    def restore(self):
        ids = [key(one.id) for one in self.people]
        self.database.run("UPDATE `user` SET status = 'active' WHERE id IN (%s, %s)", *ids)
        self.database.run("UPDATE session SET ended_at = NULL WHERE user_id IN (%s, %s)", *ids)
        self.database.run("INSERT IGNORE INTO user_role (user_id, role_id) VALUES (%s, 'owner'), (%s, 'owner')", *ids)

    def active_owners(self):
        return self.database.run(
            "SELECT COUNT(*) FROM `user` u JOIN user_role r ON r.user_id = u.id AND r.role_id = 'owner' "
            "WHERE u.organisation_id = %s AND u.status = 'active'", key(self.first.organisation["id"]))[0][0]


@pytest.fixture(scope="module")
def pair(accounts, members):
    return Pair(accounts, members)


@pytest.fixture(scope="module")
def second_administrator(administrator, members):
    return members.active(administrator, roles=["admin"])


def at_once(*calls):
    """Runs each (account, path, body) in a thread of its own; returns what they were answered."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        replies = [pool.submit(account.patch, where, json=body) for account, where, body in calls]
        return [code(reply.result()) for reply in replies]


# ---- at the same moment ---------------------------------------------------------------------------------


def test_of_two_who_shut_each_other_out_one_is_refused(pair):
    for number in range(ROUNDS):
        pair.restore()
        bodies = [OFF if (number >> bit) & 1 else BARE for bit in (0, 1)]
        answers = at_once((pair.first, path(pair.second), bodies[0]), (pair.second, path(pair.first), bodies[1]))
        assert sorted(status == 200 for status, _ in answers) == [False, True], (number, answers)
        assert REFUSED.intersection(answers), (number, answers)
        assert pair.active_owners() == 1, number
    pair.restore()


def test_of_two_owners_whom_two_administrators_shut_out_one_stays(pair, administrator, second_administrator):
    assert second_administrator.token
    for number in range(50):
        pair.restore()
        bodies = [OFF if (number >> bit) & 1 else BARE for bit in (0, 1)]
        answers = at_once((administrator, path(pair.first), bodies[0]),
                          (second_administrator, path(pair.second), bodies[1]))
        assert sorted(answers) == [(200, ""), (409, "user.lastOwner")], (number, answers)
        assert pair.active_owners() == 1, number
    pair.restore()


# ---- the last one ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [OFF, BARE, {"roles": ["inv-manage"]}], ids=["disable", "bare", "roles"])
def test_the_last_owner_stays_whoever_asks(accounts, members, administrator, body):
    owner = accounts.customer()
    manager = members.holding(owner, "rwx:*")
    members.holding(owner, "*:*:w")
    before = members.snapshot(owner.id)
    for caller in (administrator, manager):
        caller.patch(path(owner), json=body, status=409, code="user.lastOwner")
    assert members.snapshot(owner.id) == before
    owner.get("/customers/me", status=200)


def test_the_last_owner_may_go_when_there_is_another(accounts, members, administrator):
    owner = accounts.customer()
    heir = members.active(owner)
    administrator.patch(path(owner), json=OFF, status=409, code="user.lastOwner")
    administrator.patch(path(heir), json={"roles": ["owner"]}, status=200)
    administrator.patch(path(owner), json=OFF, status=200)
    administrator.patch(path(heir), json=OFF, status=409, code="user.lastOwner")
    heir.patch(path(owner), json={"status": "active"}, status=200)
    owner.tokens = None
    owner.patch(path(heir), json=BARE, status=200)


def test_other_changes_of_the_last_owner_go_on(accounts, administrator):
    owner = accounts.customer()
    user = administrator.patch(path(owner), json={"firstName": "Ona", "roles": ["log-manage", "owner"]},
                               status=200).json()["user"]
    assert user["roles"] == ["log-manage", "owner"]


def test_the_last_administrator_stays(accounts, members, administrator, second_administrator, database):
    """With every other administrator away, a holder of *:*:a in a customer's organisation takes nobody's place."""
    others = database.run(
        "SELECT u.id FROM `user` u WHERE u.organisation_id = %s AND u.id <> %s AND u.status = 'active'",
        key(administrator.organisation["id"]), key(administrator.id))
    stranger = members.holding(accounts.customer(), "*:*:a")
    for (identity, ) in others:
        database.run("UPDATE `user` SET status = 'disabled' WHERE id = %s", identity)
    try:
        for body in (OFF, BARE, {"roles": ["owner"]}):
            stranger.patch(path(administrator), json=body, status=409, code="user.lastOwner")
        administrator.get("/customers/me", status=200)
    finally:
        for (identity, ) in others:
            database.run("UPDATE `user` SET status = 'active' WHERE id = %s", identity)
    stranger.patch(path(second_administrator), json=OFF, status=200)
    administrator.patch(path(second_administrator), json={"status": "active"}, status=200)


# ---- oneself --------------------------------------------------------------------------------------------


def test_nobody_takes_from_themselves(accounts, members):
    owner = accounts.customer(services=["inventory", "logistics"])
    members.active(owner, roles=["owner"])
    owner.patch(path(owner), json={"permissions": ["cus:file:r", "log:*:r"]}, status=200)
    before = members.snapshot(owner.id)
    for body in ({"roles": []}, {"roles": ["owner", "inv-manage"]}, {"permissions": []},
                 {"permissions": ["cus:file:r", "inv:*:r"]}, {"roles": ["inv-manage", "log-manage"]}, OFF,
                 {"status": "active"}, {"firstName": "Ona", **BARE}):
        owner.patch(path(owner), json=body, status=409, code="user.self")
    assert members.snapshot(owner.id) == before
    user = owner.patch(path(owner),
                       json={"roles": ["log-manage", "inv-manage", "owner"],
                             "permissions": ["log:*:r", "cus:file:r", "inv:*:r"]}, status=200).json()["user"]
    assert user["roles"] == ["log-manage", "inv-manage", "owner"]
    assert user["permissions"] == ["log:*:r", "cus:file:r", "inv:*:r"]


def test_the_only_administrator_cannot_go_out_of_office(administrator):
    for body in (OFF, BARE):
        administrator.patch(path(administrator), json=body, status=409, code="user.self")
    assert administrator.get("/customers/me", status=200).json()["permissions"] == ["*:*:a"]
