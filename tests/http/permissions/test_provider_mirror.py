# SPDX-License-Identifier: MIT
"""The identity provider's mirror of a user's effective permissions follows the rows (docs/permissions.md);
here the embedded provider's own table is looked at."""

import base64
import json
import subprocess

import pytest

from support import members as team
from support.accounts import fresh_password
from support.database import key
from support.members import USERS
from support.stack import wait_until

LIMIT = 2048
SECONDS = 60


def mirrored(database, identity):
    """What the provider's account holds now, in its order."""
    text = database.run("SELECT permissions FROM identity_account WHERE id = %s", key(identity))[0][0]
    words = text.split(" ") if text else []
    assert len(set(words)) == len(words), f"a permission is mirrored twice: {text}"
    return words


def effective(account):
    return set(account.get("/customers/me", status=200).json()["permissions"])


def follows(database, identity, expected):
    """Waits until the mirror holds exactly the expected permissions."""
    wait_until(lambda: set(mirrored(database, identity)) == set(expected), SECONDS,
               f"the mirror of {identity} to hold {sorted(expected)}")


def patch(owner, member, sent, **arguments):
    return owner.patch(f"{USERS}/{member.id}", json=sent, **arguments)


@pytest.fixture()
def member(members, owner):
    return members.active(owner)


@pytest.fixture()
def role(database):
    name = database.make_role(["cus:file:r", "inv:*:w"])
    yield name
    database.drop_role(name)


def test_a_new_owner_is_mirrored_with_what_the_roles_grant(accounts, database):
    for services, expected in ((["inventory"], {"rwx:*", "inv:*:w", "cus:*:w"}),
                               (["inventory", "logistics"], {"rwx:*", "inv:*:w", "cus:*:w", "log:*:w"})):
        body = accounts.sign_up(services=services)
        assert set(mirrored(database, body["user"]["id"])) == expected


def test_a_new_member_is_mirrored_with_roles_and_own_permissions(database, owner):
    sent = team.body(roles=["log-manage"], permissions=["sys:cache:r", "cus:*:w"])
    user = owner.post(USERS, json=sent, status=200).json()["user"]
    assert set(mirrored(database, user["id"])) == {"log:*:w", "cus:*:w", "sys:cache:r"}


def test_a_member_without_grants_is_mirrored_with_nothing(database, member):
    assert mirrored(database, member.id) == []


def test_each_change_of_roles_or_permissions_is_mirrored(database, owner, member):
    for sent, expected in (({"roles": ["inv-manage"]}, {"inv:*:w",
                                                        "cus:*:w"}), ({"permissions": ["log:truck:r"]},
                                                                      {"inv:*:w", "cus:*:w", "log:truck:r"}),
                           ({"roles": []}, {"log:truck:r"}), ({"permissions": ["cus:file:r", "cus:file:w"]},
                                                              {"cus:file:r", "cus:file:w"}),
                           ({"roles": ["owner"], "permissions": []}, {"rwx:*"}), ({"roles": []}, set())):
        patch(owner, member, sent, status=200)
        follows(database, member.id, expected)
        assert effective(member) == expected


def test_many_changes_in_a_row_end_in_the_last(database, owner, member):
    for number in range(15):
        patch(owner, member, {"permissions": [f"inv:area-{number}:r"]}, status=200)
    follows(database, member.id, {"inv:area-14:r"})


def test_other_changes_leave_the_mirror_of_the_permissions(database, members, owner, member):
    patch(owner, member, {"permissions": ["cus:file:r"]}, status=200)
    follows(database, member.id, {"cus:file:r"})
    patch(owner, member, {"firstName": "Renamed", "phone": "+442071838750"}, status=200)
    patch(owner, member, {"status": "disabled"}, status=200)
    patch(owner, member, {"status": "active"}, status=200)
    members.await_jobs()
    assert mirrored(database, member.id) == ["cus:file:r"]


def test_the_id_token_carries_the_mirror(database, owner, member):
    patch(owner, member, {"roles": ["inv-manage"], "permissions": ["log:truck:r"]}, status=200)
    follows(database, member.id, {"inv:*:w", "cus:*:w", "log:truck:r"})
    part = member.session()["idToken"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    assert set(claims["custom:permissions"].split(" ")) == {"inv:*:w", "cus:*:w", "log:truck:r"}


def mirror(stack):
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "mirror"],
                          capture_output=True,
                          text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_the_operator_sends_all_again_after_a_roles_definition_changed(stack, database, members, owner, role):
    holders = [members.active(owner, permissions=["log:truck:r"]) for _ in range(3)]
    for holder in holders:
        database.set_roles(holder.id, [role])
    mirror(stack)
    for holder in holders:
        assert set(mirrored(database, holder.id)) == {"cus:file:r", "inv:*:w", "log:truck:r"}
    database.set_role(role, ["cus:user:r"])
    # A changed role holds at once; the mirror follows when it is told to.
    assert effective(holders[0]) == {"cus:user:r", "log:truck:r"}
    mirror(stack)
    for holder in holders:
        assert set(mirrored(database, holder.id)) == {"cus:user:r", "log:truck:r"}


def test_the_operators_mirror_heals_what_was_spoilt_and_changes_nothing_that_is_right(
        stack, database, owner, member):
    patch(owner, member, {"permissions": ["cus:file:r"]}, status=200)
    follows(database, member.id, {"cus:file:r"})
    database.run("UPDATE identity_account SET permissions = 'nonsense' WHERE id = %s", key(member.id))
    mirror(stack)
    assert mirrored(database, member.id) == ["cus:file:r"]
    columns = "id, permissions, status, enabled, email_verified, phone, phone_verified, password_version"
    before = database.run(f"SELECT {columns} FROM identity_account ORDER BY id")
    mirror(stack)
    assert database.run(f"SELECT {columns} FROM identity_account ORDER BY id") == before


def test_a_wrong_use_of_the_command_is_refused(stack):
    done = subprocess.run([stack.ctl, "--config", stack.configuration, "mirror", "everyone"],
                          capture_output=True,
                          text=True,
                          timeout=120)
    assert done.returncode != 0 and done.stderr


# ---- the provider's limit -------------------------------------------------------------------------------


def fill(length):
    """Permissions whose text, joined by blanks, has exactly this length."""
    found, left = [], length
    while left > 0:
        size = left if left <= 100 else min(90, left - 30)
        head = f"inv:a{len(found)}"
        found.append(head + "b" * (size - len(head) - 2) + ":r")
        left -= size + 1
    assert len(" ".join(found)) == length and max(map(len, found)) <= 100
    return found


def test_exactly_2048_characters_are_taken_and_mirrored(database, owner, member):
    wish = fill(LIMIT)
    assert patch(owner, member, {"permissions": wish}, status=200).json()["user"]["permissions"] == wish
    follows(database, member.id, wish)


def test_one_character_more_is_refused_before_the_row_is_written(members, database, owner, member):
    before = members.snapshot(member.id)
    patch(owner,
          member, {"permissions": fill(LIMIT + 1)},
          status=400,
          code="request.invalid",
          paths={"permissions"})
    sent = team.body(permissions=fill(LIMIT + 1))
    owner.post(USERS, json=sent, status=400, code="request.invalid", paths={"permissions"})
    members.await_jobs()
    assert members.snapshot(member.id) == before
    assert not database.run("SELECT 1 FROM `user` WHERE email = %s", sent["email"])


def test_what_the_roles_grant_counts_towards_the_limit(members, owner, member):
    """`rwx:*` of the role and the blank before it: six characters."""
    patch(owner, member, {"roles": ["owner"], "permissions": fill(LIMIT - 6)}, status=200)
    before = members.snapshot(member.id)
    patch(owner, member, {"roles": ["owner", "inv-manage"]}, status=400, code="request.invalid")
    patch(owner,
          member, {"permissions": fill(LIMIT - 5)},
          status=400,
          code="request.invalid",
          paths={"permissions"})
    assert members.snapshot(member.id) == before
    patch(owner, member, {"roles": [], "permissions": fill(LIMIT)}, status=200)


def test_a_user_at_the_limit_can_still_be_changed_otherwise(members, owner, member):
    patch(owner, member, {"permissions": fill(LIMIT)}, status=200)
    assert patch(owner, member, {"firstName": "Full"}, status=200).json()["user"]["firstName"] == "Full"
    sent = {"username": member.email, "password": fresh_password(), "permanent": True}
    members.administrator.post("/customers/admin-set-password", json=sent, status=200)
    patch(owner, member, {"permissions": []}, status=200)


def test_a_single_permission_that_is_too_long_is_named(owner, member):
    sent = {"permissions": ["cus:file:r", "inv:" + "a" * 3000 + ":r", "inv:" + "b" * 95 + ":r"]}
    patch(owner, member, sent, status=400, code="request.invalid", paths={"permissions[1]", "permissions[2]"})
