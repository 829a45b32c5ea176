# SPDX-License-Identifier: MIT
"""POST /system/files/archive and /system/files/restore: several files, all of them or none."""

import concurrent.futures
import uuid

import pytest

from support import files, samples
from support.client import shape
from support.database import key

ACTIONS = ["archive", "restore"]
BAD = [({}, {"ids"}), ({"ids": []}, {"ids"}), ({"ids": None}, {"ids"}), ({"ids": "x"}, {"ids"}),
       ({"ids": ["x", "", "01A2066F-D234-73BC-9590-5AC7DFF4A8C4"]}, {"ids[0]", "ids[1]", "ids[2]"}),
       ({"ids": [7]}, {"ids[0]"}), ({"ids": ["00000000-0000-0000-0000-000000000000"]}, {"ids[0]"}),
       ({"ids": [str(uuid.UUID(int=n + 1)) for n in range(101)]}, {"ids"}),
       ({"ids": [str(uuid.UUID(int=1)), str(uuid.UUID(int=2)), str(uuid.UUID(int=1))]}, {"ids[2]"}),
       ({"ids": [str(uuid.UUID(int=1))], "status": "archived"}, {"status"})]


def bulk(account, action, ids, **arguments):
    return account.post(f"/system/files/{action}", json={"ids": ids}, **arguments)


def upload(account, count):
    """So many new files."""
    return [files.upload(account, samples.text(), f"{number}.txt") for number in range(count)]


def ids(records):
    return [record["id"] for record in records]


def entries(reply):
    return [(entry["path"], entry["code"]) for entry in reply.json()["validation"]]


def states(account, records):
    """The status of each record, as the list has it."""
    found = {item["id"]: item["status"] for item in files.listed(account, status="all")}
    return [found[record["id"]] for record in records]


def test_all_are_archived_and_restored_in_the_order_asked(keeper):
    records = upload(keeper, 3)
    order = [records[1], records[2], records[0]]
    body = bulk(keeper, "archive", ids(order), status=200).json()
    assert set(body) == {"items"}
    assert [files.still(item) for item in body["items"]] == [files.still(dict(r, status="archived")) for r in order]
    assert all(item["archivedAt"] == item["updatedAt"] for item in body["items"])
    files.download(keeper, records[0]["id"], status=409, code="file.archived")
    body = bulk(keeper, "restore", ids(order), status=200).json()
    assert [files.still(item) for item in body["items"]] == [files.still(record) for record in order]
    files.download(keeper, records[0]["id"], status=200)


def test_a_hundred_go_at_once(accounts):
    account = accounts.customer()
    records = upload(account, 100)
    assert ids(bulk(account, "archive", ids(records), status=200).json()["items"]) == ids(records)
    assert files.listed(account) == []
    assert ids(bulk(account, "restore", ids(records), status=200).json()["items"]) == ids(records)


def test_every_file_in_the_wrong_state_is_named_and_none_changes(keeper):
    records = upload(keeper, 4)
    bulk(keeper, "archive", ids(records[1:3]), status=200)
    reply = bulk(keeper, "archive", ids(records), status=409, code="file.archived")
    assert entries(reply) == [("ids[1]", "state"), ("ids[2]", "state")]
    reply = bulk(keeper, "restore", ids(records), status=409, code="file.active")
    assert entries(reply) == [("ids[0]", "state"), ("ids[3]", "state")]
    assert states(keeper, records) == ["active", "archived", "archived", "active"]


def test_a_restore_that_makes_a_duplicate_names_it_and_restores_none(keeper):
    records = upload(keeper, 2)
    data = samples.text()
    old = files.upload(keeper, data, "same.txt")
    bulk(keeper, "archive", ids([*records, old]), status=200)
    again = files.upload(keeper, data, "same.txt")
    reply = bulk(keeper, "restore", ids([*records, old]), status=409, code="file.duplicate")
    assert entries(reply) == [("ids[2]", "duplicate")] and reply.json()["body"]["id"] == again["id"]
    assert states(keeper, [*records, old]) == ["archived"] * 3


def test_restoring_takes_no_room_of_the_quota(accounts, database):
    account = accounts.customer()
    records = upload(account, 2)
    bulk(account, "archive", ids(records), status=200)
    database.run("UPDATE organisation SET quota_files = 2, quota_bytes = 1 WHERE id = %s",
                 key(account.organisation["id"]))
    bulk(account, "restore", ids(records), status=200)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("body, paths", BAD)
def test_a_bad_body_names_every_path(keeper, action, body, paths):
    keeper.post(f"/system/files/{action}", json=body, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("action", ACTIONS)
def test_foreign_and_unknown_ids_are_one_answer_and_nothing_changes(keeper, other, action):
    mine, theirs = upload(keeper, 1)[0], upload(other, 1)[0]
    gone = files.archive(other, upload(other, 1)[0]["id"], status=200).json()
    near = mine["id"][:-1] + ("1" if mine["id"][-1] == "0" else "0")
    answers = [bulk(keeper, action, [mine["id"], one, near], status=400, code="file.unknown")
               for one in (theirs["id"], gone["id"], str(uuid.uuid4()))]
    assert shape(answers[0]) == shape(answers[1]) == shape(answers[2])
    assert ("ids[1]", "unknown") in entries(answers[0])
    assert states(keeper, [mine]) == ["active"] and states(other, [theirs, gone]) == ["active", "archived"]


@pytest.mark.parametrize("action", ACTIONS)
def test_who_may_only_read_or_nothing_may_not(accounts, keeper, nobody, action):
    record = upload(keeper, 1)[0]
    home = keeper.organisation["id"]
    for permissions in ("cus:file:r", "cus:user:w", "inv:*:w", "sys:file:a"):
        person = accounts.user_with(permissions, home)
        reply = bulk(person, action, [record["id"]], status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:file:w"
    bulk(nobody, action, [record["id"]], status=403, code="auth.permission")
    keeper.api.post(f"/system/files/{action}", json={"ids": [record["id"]]}, status=401, code="auth.tokenMissing")
    assert states(keeper, [record]) == ["active"]


def test_internal_staff_may_and_each_crossing_is_told(administrator, keeper, other, database):
    records = [upload(keeper, 1)[0], upload(other, 1)[0]]
    bulk(administrator, "archive", ids(records), status=200)
    bulk(administrator, "restore", ids(records), status=200)
    for record in records:
        rows = database.run("SELECT action FROM audit WHERE target_id = %s AND organisation_id = %s ORDER BY id",
                            record["id"], key(record["organisationId"]))
        assert [row[0] for row in rows] == ["file.upload", "access.crossOrganisation", "file.archive",
                                            "access.crossOrganisation", "file.restore"]


def test_of_requests_at_once_that_share_files_one_wins(keeper):
    for _ in range(4):
        records = upload(keeper, 6)
        wanted = [ids(records[:4]), ids(reversed(records[2:])), ids(reversed(records)), ids(records[1:5])]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda some: bulk(keeper, "archive", some), wanted))
        assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409], [r.text for r in replies]
        won = next(reply for reply in replies if reply.status_code == 200).json()["items"]
        assert sorted(ids(won)) == sorted(ids(files.listed(keeper, status="archived"))[:len(won)])
