# SPDX-License-Identifier: MIT
"""Authorisation reads MariaDB on every request: grants typed into it hold from the next request on, and
nothing else grants."""

import concurrent.futures
import itertools
import json
import pathlib
import re
import uuid

import pytest

from permissions import support_rules as permissions
from support.database import key as keyed
from support.programs import operator

# Permission -> a request that needs it and does no harm: (method, path, body, status where it is granted,
# code).
PROBES = {
    "cus:file:r": ("GET", "/system/files", None, 200, None),
    "cus:file:w": ("DELETE", "/system/files/{id}", None, 400, "file.unknown"),
    "cus:org:a": ("POST", "/customers/signup", {}, 400, "request.invalid"),
}
MALFORMED = json.loads((pathlib.Path(__file__).parent / "malformed.json").read_text())
MODULES, AREAS, LETTERS = ("cus", "inv", "*", "c", "cust"), ("file", "org", "*", "fil"), "arw"
PATTERNS = [":".join(row) for row in itertools.product(MODULES, AREAS, LETTERS)]
GENERAL = ["".join(row) + ":*" for size in (1, 2, 3) for row in itertools.permutations("rwx", size)]
GUIDE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "permissions.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\| `([^`|]+)` \| `([^`|]+)` \| (yes|no) \| .* \|$", GUIDE, re.MULTILINE)


def probe(api, token, permission):
    """Whether the permission is granted now; fails on any answer that is neither."""
    method, path, body, status, code = PROBES[permission]
    arguments = {} if body is None else {"json": body}
    reply = api.call(method, path.format(id=uuid.uuid4()), token=token, status={status, 403}, **arguments)
    if reply.status_code == 403:
        answer = reply.json()
        assert answer["code"] == "auth.permission" and answer["body"]["required"] == permission, answer
        return False
    assert code is None or reply.json()["code"] == code
    return True


def decisions(api, token):
    """What the service decides on every probe."""
    return {permission: probe(api, token, permission) for permission in PROBES}


def expected(patterns):
    """What the reference model decides on every probe."""
    return {permission: permissions.allowed(patterns, permission) for permission in PROBES}


@pytest.fixture()
def role(database):
    name = database.make_role([])
    yield name
    database.drop_role(name)


@pytest.mark.parametrize("patterns", [[one] for one in PATTERNS + GENERAL], ids=lambda patterns: patterns[0])
def test_each_pattern_grants_what_the_reference_model_grants(api, subject, database, patterns):
    database.set_grants(subject.id, " ".join(patterns))
    assert decisions(api, subject.token) == expected(patterns)


def test_the_guide_has_examples_of_both_decisions():
    assert len(EXAMPLES) >= 15 and {answer for _, _, answer in EXAMPLES} == {"yes", "no"}


@pytest.mark.parametrize("held, required, answer", EXAMPLES)
def test_an_example_of_the_guide_is_decided_as_it_says(api, subject, database, held, required, answer):
    database.set_grants(subject.id, held)
    reply = api.post("/customers/authorise", token=subject.token, json={"permission": required}, status=200).json()
    assert reply["allowed"] == permissions.allowed(held.split(" "), required) == (answer == "yes")


@pytest.mark.parametrize("patterns",
                         [["inv:*:a", "log:*:a"], ["cus:file:r", "cus:org:w"], ["cus:file:w", "cus:org:a"],
                          ["*:*:*", "cus:file:r"], ["nonsense", "cus:*:w"], ["cus:file:r"] * 40,
                          ["inv:area-%d:w" % n for n in range(90)] + ["cus:file:r"]],
                         ids=lambda patterns: "+".join(patterns)[:40])
def test_several_patterns_grant_their_union(api, subject, database, patterns):
    database.set_grants(subject.id, " ".join(patterns))
    assert decisions(api, subject.token) == expected(patterns)


def test_the_list_of_malformed_permissions_is_as_long_as_promised():
    assert len(set(MALFORMED)) == len(MALFORMED) >= 22
    assert not any(permissions.allowed([one], probe) for one in MALFORMED for probe in PROBES)


@pytest.mark.parametrize("pattern", MALFORMED, ids=[json.dumps(one) for one in MALFORMED])
def test_a_malformed_permission_grants_nothing_and_fails_no_request(api, subject, database, role, pattern):
    database.set_grants(subject.id, pattern)
    assert not any(decisions(api, subject.token).values())
    api.get("/customers/me", token=subject.token, status=200)
    # The same in a role, where no blank separates.
    database.set_grants(subject.id, "")
    database.set_role(role, [pattern])
    database.set_roles(subject.id, [role])
    assert not any(decisions(api, subject.token).values())
    api.get("/customers/me", token=subject.token, status=200)


@pytest.mark.parametrize("text", ["cus:file:r ", " cus:file:r", "cus:file:r\t", "cus:file:r cus:file:w"])
def test_a_role_permission_with_blanks_grants_nothing(api, subject, database, role, text):
    database.set_grants(subject.id, "")
    database.set_role(role, [text])
    database.set_roles(subject.id, [role])
    assert not any(decisions(api, subject.token).values())


def test_malformed_neighbours_take_nothing_away(api, subject, database):
    database.set_grants(subject.id, "*:*:* inv:* cus:file:r INV:*:w")
    assert decisions(api, subject.token) == expected(["cus:file:r"])


def test_a_change_of_the_users_field_holds_from_the_next_request_on(api, subject, database):
    for _ in range(25):
        database.set_grants(subject.id, "cus:file:r")
        assert probe(api, subject.token, "cus:file:r")
        database.set_grants(subject.id, "")
        assert not probe(api, subject.token, "cus:file:r")


def test_a_change_of_a_role_holds_from_the_next_request_on(api, subject, database, role):
    database.set_permissions(subject.id, "")
    database.set_roles(subject.id, [role])
    for _ in range(25):
        database.set_role(role, ["cus:*:w"])
        assert decisions(api, subject.token) == expected(["cus:*:w"])
        database.set_role(role, ["cus:file:r"])
        assert decisions(api, subject.token) == expected(["cus:file:r"])
        database.set_role(role, [])
        assert not probe(api, subject.token, "cus:file:r")


def test_a_role_given_and_taken_holds_from_the_next_request_on(api, subject, database, role):
    database.set_role(role, ["cus:file:r"])
    database.set_permissions(subject.id, "")
    for _ in range(25):
        database.set_roles(subject.id, [role])
        assert probe(api, subject.token, "cus:file:r")
        database.set_roles(subject.id, [])
        assert not probe(api, subject.token, "cus:file:r")


def test_every_worker_sees_a_change_at_once(api, subject, database):
    """Sixteen requests in flight at a time reach all workers; after the change not one is decided by the old
    state."""
    token = subject.token
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for grant in ("cus:file:r", "") * 5:
            database.set_grants(subject.id, grant)
            answers = list(pool.map(lambda _: probe(api, token, "cus:file:r"), range(48)))
            assert set(answers) == {bool(grant)}


def test_a_role_without_a_row_grants_nothing(api, subject, database):
    database.set_permissions(subject.id, "")
    for name in ("no-such-role", "Owner", "owner ", "OWNER", "admin\0"):
        database.set_roles(subject.id, [name])
        assert not any(decisions(api, subject.token).values()), name
    database.set_roles(subject.id, [])


@pytest.mark.parametrize("role_id, patterns", [("owner", ["rwx:*"]), ("inv-manage", ["inv:*:w", "cus:*:w"]),
                                               ("log-manage", ["log:*:w", "cus:*:w"]), ("admin", ["*:*:a"]),
                                               ("account-admin", ["inv:*:w", "log:*:w", "cus:*:w"])])
def test_the_built_in_roles_grant_what_the_guide_says(api, subject, database, role_id, patterns):
    rows = database.run("SELECT permission FROM role_permission WHERE role_id = %s", role_id)
    assert sorted(row[0] for row in rows) == sorted(patterns)
    database.set_permissions(subject.id, "")
    database.set_roles(subject.id, [role_id])
    assert decisions(api, subject.token) == expected(patterns)
    shown = api.get("/customers/me", token=subject.token, status=200).json()
    assert sorted(shown["permissions"]) == sorted(patterns) and shown["user"]["roles"] == [role_id]
    database.set_roles(subject.id, [])


def test_me_shows_the_change_too(api, subject, database):
    for grant in ("inv:*:r", "log:*:w", ""):
        database.set_grants(subject.id, grant)
        assert api.get("/customers/me", token=subject.token,
                       status=200).json()["permissions"] == grant.split()


def test_claims_never_authorise(api, accounts, customer):
    """Tokens issued to an owner open nothing once the rows grant nothing; tokens issued to nobody open all
    that the rows grant."""
    tokens = [customer.session() for _ in range(5)]
    accounts.database.set_grants(customer.id, "")
    for session in tokens:
        assert not any(decisions(api, session["accessToken"]).values())
        refreshed = api.post("/customers/refresh", json={"refreshToken": session["refreshToken"]},
                             status=200).json()["tokens"]
        assert not any(decisions(api, refreshed["accessToken"]).values())
    accounts.database.set_grants(customer.id, "cus:*:a")
    for session in tokens:
        assert decisions(api, session["accessToken"]) == expected(["cus:*:a"])


def test_a_403_says_what_is_missing_and_nothing_of_the_caller(api, nobody):
    reply = api.get("/system/files", token=nobody.token, status=403, code="auth.permission")
    body = reply.json()
    assert body["body"]["required"] == "cus:file:r" and body["validation"] == []
    assert nobody.id not in reply.text and nobody.email not in reply.text


def test_the_job_runner_mends_what_went_round_the_triggers(api, stack, database, subject, role):
    database.set_role(role, ["cus:file:r"])
    database.set_roles(subject.id, [role])
    held = "SELECT roles FROM principal WHERE user_id = %s"
    before = database.run(held, keyed(subject.id))
    database.run("UPDATE principal SET roles = '5:admin' WHERE user_id = %s", keyed(subject.id))
    operator.run(stack, "jobs", "--once")
    assert database.run(held, keyed(subject.id)) == before
    assert decisions(api, subject.token) == expected(["cus:file:r"])


@pytest.mark.fault
def test_a_trigger_that_is_missing_is_named_by_the_check_and_made_by_migrate(stack, database):
    """The account of the workers, which may not see triggers, is the one that looks."""
    assert "triggers       ok" in operator.run(stack, "check")
    database.run("DROP TRIGGER principal_role_delete")
    try:
        done = operator.run(stack, "check", status=None)
        assert done.returncode == 1
        assert "principal_role_delete is missing" in done.stdout and "gatehousectl migrate" in done.stdout
    finally:
        operator.run(stack, "migrate")
    assert "triggers       ok" in operator.run(stack, "check")


def test_a_user_who_moves_acts_in_the_new_organisation_at_once(api, accounts, owner, other):
    account = accounts.user_with("cus:*:w")
    for organisation in (owner.organisation, other.organisation):
        accounts.database.move(account.id, organisation["id"])
        assert account.get("/customers/me", status=200).json()["organisation"]["id"] == organisation["id"]
