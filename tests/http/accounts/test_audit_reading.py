# SPDX-License-Identifier: MIT
"""GET /system/audit: who may read the audit trail, which rows a filter finds, and in which order they come on pages."""

import urllib.parse
import uuid

import pytest

from accounts.test_audit_trail import AUDIT, UNKNOWN, items, seconds, stamp
from support.database import key
from support.members import USERS


def test_reading_needs_the_permission_on_the_trail(api, members, owner, nobody, administrator):
    for account in (owner, nobody, members.holding(owner, "sys:audit:w cus:*:a")):
        reply = account.get(AUDIT, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "sys:audit:a"
    api.get(AUDIT, status=401, code="auth.tokenMissing")
    members.holding(owner, "sys:audit:a").get(AUDIT, status=200)


@pytest.fixture(scope="module")
def trail(accounts, database):
    """An organisation of its own with thirty rows, one a second, of two users and three actions."""
    boss = accounts.customer()
    organisation, people = boss.organisation["id"], [boss.id, str(uuid.uuid4())]
    rows = []
    for number in range(30):
        moment = 1_600_000_000 + number
        identity = uuid.UUID(int=(moment * 1000) << 80 | 7 << 76 | 2 << 62
                             | number << 48 | uuid.uuid4().int & (1 << 48) - 1)
        action = ("user.login", "user.logout", "user.update")[number % 3]
        database.run(
            "INSERT INTO audit (id, at, action, organisation_id, user_id, target_type, target_id,"
            " client_address, request_id, outcome) VALUES (%s, '1970-01-01' + INTERVAL %s SECOND, %s, %s, %s,"
            " 'user', %s, '192.0.2.1', %s, 'success')", identity.bytes, moment, action, key(organisation),
            key(people[number % 2]), people[0], f"row-{number:04d}")
        rows.append({"id": str(identity), "action": action, "userId": people[number % 2], "moment": moment})
    return organisation, people, rows


def identities(found):
    return [one["id"] for one in found]


def newest_first(rows):
    return [row["id"] for row in reversed(rows)]


CROSSING = {"access.crossOrganisation"}
OLD = {"until": "2020-12-31T00:00:00Z"}


def test_filters_find_exactly_the_rows_they_name(administrator, trail):
    organisation, people, rows = trail
    base = {"organisationId": organisation, **OLD}
    assert identities(items(administrator, **base)) == newest_first(rows)
    for person in people:
        wanted = [row for row in rows if row["userId"] == person]
        assert identities(items(administrator, **base, userId=person)) == newest_first(wanted)
    for action in ("user.login", "user.logout", "user.update"):
        wanted = [row for row in rows if row["action"] == action]
        assert identities(items(administrator, **base, action=action)) == newest_first(wanted)
        wanted = [row for row in wanted if row["userId"] == people[1]]
        assert identities(items(administrator, **base, action=action,
                                userId=people[1])) == newest_first(wanted)
    assert items(administrator, **base, userId=UNKNOWN) == []
    assert items(administrator, **base, action="user.confirm") == []
    # Asking about another organisation is itself an event there.
    assert {one["action"] for one in items(administrator, organisationId=str(uuid.uuid4()))} <= CROSSING


@pytest.mark.parametrize("spell", [
    lambda moment: stamp(moment), lambda moment: stamp(moment)[:19] + "Z",
    lambda moment: stamp(moment + 7200)[:19] + "+02:00", lambda moment: stamp(moment - 19800)[:23] + "-05:30"
],
                         ids=["milliseconds", "seconds", "two hours east", "five and a half hours west"])
def test_since_is_included_and_until_is_not(administrator, trail, spell):
    organisation, _, rows = trail
    found = items(administrator,
                  organisationId=organisation,
                  since=spell(rows[10]["moment"]),
                  until=spell(rows[20]["moment"]))
    assert identities(found) == newest_first(rows[10:20])
    found = items(administrator, organisationId=organisation, since=spell(rows[29]["moment"]), **OLD)
    assert identities(found) == newest_first(rows[29:])


def test_pages_hold_every_row_once_even_while_new_ones_come(administrator, trail):
    organisation, _, rows = trail
    for limit in ("1", "7", "30", "100"):
        assert identities(items(administrator, organisationId=organisation, limit=limit,
                                **OLD)) == newest_first(rows)
    # The administrator's own reading of another organisation is no reason for a page to slip.
    seen, cursor = [], None
    while True:
        parameters = {"organisationId": organisation, "limit": "9", **({"cursor": cursor} if cursor else {})}
        body = administrator.get(AUDIT, params=parameters, status=200).json()
        seen += identities(body["items"])
        administrator.get(USERS, params={"organisationId": organisation}, status=200)
        cursor = body["nextCursor"]
        if cursor is None:
            break
    assert len(set(seen)) == len(seen) and set(newest_first(rows)) <= set(seen)


def test_rows_come_newest_first(administrator):
    body = administrator.get(AUDIT, params={"limit": "100"}, status=200).json()
    times = [seconds(one["at"]) for one in body["items"]]
    # Rows of two processes in the same moment may stand either way round.
    assert all(newer >= older - 0.1 for newer, older in zip(times, times[1:]))


@pytest.mark.parametrize(
    "parameters, paths",
    [({"organisationId": "mine"}, {"organisationId"}), ({"userId": "me"}, {"userId"}),
     ({"action": "user.sneeze"}, {"action"}), ({"action": ""}, {"action"}),
     ({"action": "USER.LOGIN"}, {"action"}), ({"since": "yesterday"}, {"since"}),
     ({"since": "2026-02-30T00:00:00Z"}, {"since"}), ({"since": "2026-11-21"}, {"since"}),
     ({"until": "2026-11-21T25:00:00Z"}, {"until"}), ({"until": "2026-11-21T10:00:00"}, {"until"}),
     ({"limit": "0"}, {"limit"}), ({"limit": "101"}, {"limit"}), ({"cursor": "nonsense"}, {"cursor"}),
     ({"outcome": "maybe"}, {"outcome"}),
     ({"since": "2026-02-30T00:00:00Z", "until": "2026-11-21T25:00:00Z", "limit": "0"}, {"since", "until", "limit"}),
     ({"userId": "x", "since": "x", "until": "x", "limit": "x"}, {"userId", "since", "until", "limit"})])
def test_bad_filters_are_named(administrator, parameters, paths):
    administrator.get(f"{AUDIT}?{urllib.parse.urlencode(parameters)}",
                      status=400,
                      code="request.invalid",
                      paths=paths)
