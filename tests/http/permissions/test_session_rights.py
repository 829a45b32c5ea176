# SPDX-License-Identifier: MIT
"""Who may list and end whose sessions: the table of session_escalations.json, and what another organisation may
learn."""

import concurrent.futures
import json
import pathlib
import uuid

import pytest

from support.client import shape
from support.database import Database, key
from support.members import USERS
from support.runs import timing
from support.stack import wait_until

CASES = json.loads((pathlib.Path(__file__).parent / "session_escalations.json").read_text(encoding="utf-8"))
TARGETS = {"member": "", "writer": "cus:user:w", "filer": "cus:file:r", "area-admin": "cus:file:a",
           "everything": "*:*:a"}


@pytest.fixture(scope="module")
def callers(accounts, members, boss):
    """A member of the organisation, and one of another: each case sets their permissions."""
    return {False: members.active(boss), True: accounts.user_with("")}


@pytest.fixture(scope="module")
def targets(members, boss):
    people = {name: members.holding(boss, permissions) for name, permissions in TARGETS.items()}
    return {**people, "owner": boss}


def sessions_of(api, tokens):
    return api.get("/customers/sessions", token=tokens["accessToken"], status=200).json()["items"]


def opens(api, tokens):
    return api.get("/customers/me", token=tokens["accessToken"]).status_code == 200


def crossings(database, user):
    return database.run("SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND user_id = %s",
                        key(user.id))[0][0]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_who_may_end_whose_sessions(api, callers, targets, database, case):
    away = case.get("away", False)
    caller, target = callers[away], targets[case["target"]]
    tokens, bystander = target.session(), target.session()
    session = next(item["id"] for item in sessions_of(api, tokens) if item["current"])
    database.set_grants(caller.id, case["caller"])
    before = crossings(database, caller)
    path = f"{USERS}/{target.id}/sessions" + (f"/{session}" if case["method"] == "ONE" else "")
    reply = api.call("GET" if case["method"] == "GET" else "DELETE", path, token=caller.token, status=case["status"])
    if case["status"] != 200:
        assert reply.json()["code"] == case.get("code", "auth.permission")
        assert reply.json()["body"].get("required") == case.get("required")
    ended = case["status"] == 200 and case["method"] != "GET"
    assert opens(api, tokens) != ended
    assert opens(api, bystander) != (ended and case["method"] == "DELETE")
    assert crossings(database, caller) - before == (1 if case.get("crossing") else 0)
    target.tokens = None


@pytest.mark.parametrize("tail", ["", "/", "one"])
def test_another_organisations_people_and_sessions_are_as_unknown_ones(api, callers, targets, database, tail):
    caller, target = callers[True], targets["member"]
    database.set_grants(caller.id, "cus:user:w")
    tokens = target.session()
    session = next(item["id"] for item in sessions_of(api, tokens) if item["current"])
    own = next(item["id"] for item in sessions_of(api, caller.session()) if item["current"])

    def ask(user, one):
        if tail == "":
            return api.get(f"{USERS}/{user}/sessions", token=caller.token, status=400)
        if tail == "/":
            return api.delete(f"{USERS}/{user}/sessions", token=caller.token, status=400)
        return api.delete(f"{USERS}/{user}/sessions/{one}", token=caller.token, status=400)

    unknown = shape(ask(str(uuid.uuid4()), str(uuid.uuid4())))
    nobody = str(uuid.uuid4())
    for user, one in ((target.id, session), (target.id, own), (target.id, nobody), (nobody, session)):
        assert shape(ask(user, one)) == unknown
    # Its own user with another's session, and the way without a user.
    other = shape(api.delete(f"{USERS}/{caller.id}/sessions/{uuid.uuid4()}", token=caller.token, status=400))
    assert shape(api.delete(f"{USERS}/{caller.id}/sessions/{session}", token=caller.token, status=400)) == other
    other = shape(api.delete(f"/customers/sessions/{uuid.uuid4()}", token=caller.token, status=400))
    assert shape(api.delete(f"/customers/sessions/{session}", token=caller.token, status=400)) == other
    assert opens(api, tokens)


@pytest.mark.alone
def test_another_organisations_session_takes_as_long_as_an_unknown_one(api, callers, targets, database):
    caller, target = callers[True], targets["member"]
    database.set_grants(caller.id, "cus:user:w")
    session = next(item["id"] for item in sessions_of(api, target.session()) if item["current"])

    def ask(user, one):
        api.delete(f"{USERS}/{user}/sessions/{one}", token=caller.token, status=400)

    timing.take_as_long(lambda: timing.by_chance(100, lambda: ask(target.id, session),
                                                 lambda: ask(uuid.uuid4(), uuid.uuid4())))


@pytest.mark.parametrize("taken", ["cus:user:r", "cus:user:w of who is in another organisation now", "the session"])
def test_rights_that_are_taken_meanwhile_are_gone(api, callers, targets, database, taken):
    """The caller is let in while somebody at the prompt is taking the rights, and waits for the rows."""
    caller, target = callers[False], targets["filer"]
    database.set_grants(caller.id, "cus:*:w")
    tokens, mine = target.session(), caller.session()
    home = database.run("SELECT organisation_id FROM user WHERE id = %s", key(caller.id))[0][0]
    prompt = Database(database.facts)
    prompt.run("BEGIN")
    try:
        if taken == "the session":
            prompt.run("SELECT 1 FROM user WHERE id = %s FOR UPDATE", key(caller.id))
            prompt.run("UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE user_id = %s", key(caller.id))
        elif taken == "cus:user:r":
            prompt.run("UPDATE user SET permissions = %s WHERE id = %s", "cus:user:r cus:file:r", key(caller.id))
        else:
            prompt.run("UPDATE user SET organisation_id = %s WHERE id = %s", key(callers[True].user["organisationId"]),
                       key(caller.id))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(api.delete, f"{USERS}/{target.id}/sessions", token=mine["accessToken"])
            wait_until(lambda: database.run("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = "
                                            "'LOCK WAIT'")[0][0], 30, "the request to wait for the rows", 0.15)
            prompt.run("COMMIT")
            reply = asked.result()
    finally:
        prompt.close()
        database.run("UPDATE user SET organisation_id = %s WHERE id = %s", home, key(caller.id))
    expected = {"the session": (401, "auth.tokenRevoked"), "cus:user:r": (403, "auth.permission")}
    assert (reply.status_code, reply.json()["code"]) == expected.get(taken, (400, "user.unknown"))
    assert opens(api, tokens)
