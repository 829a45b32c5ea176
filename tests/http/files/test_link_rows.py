# SPDX-License-Identifier: MIT
"""The links of a file: GET /system/files/{id}/links lists them, DELETE /system/files/{id}/links/{linkId} revokes
one."""

import concurrent.futures
import json
import uuid

import pytest

from files.test_signed_links import closed_everywhere, make, path_of
from support import files, samples
from support.client import anonymous
from support.database import key
from support.stack import wait_until


def links(account, identity, **parameters):
    return account.get(f"/system/files/{identity}/links", params=parameters, status=200).json()


def uses(account, identity):
    return [link["uses"] for link in links(account, identity)["items"]]


def revoke(account, identity, link, **arguments):
    return account.delete(f"/system/files/{identity}/links/{link}", **arguments)


@pytest.fixture()
def linked(keeper, stack, stored):
    """A picture with two links: (record, bytes, older path, newer path, their ids)."""
    record, data = stored
    paths = [path_of(stack, make(keeper, record["id"], status=200).json()) for _ in range(2)]
    ids = [link["id"] for link in links(keeper, record["id"])["items"]]
    return record, data, paths, ids[::-1]


def test_the_list_has_the_links_of_the_file_the_newest_first(keeper, stored):
    record, _ = stored
    assert links(keeper, record["id"]) == {"items": [], "nextCursor": None}
    made = [make(keeper, record["id"], status=200, json={"expiresIn": seconds}).json() for seconds in (60, 600, 6000)]
    told = links(keeper, record["id"])
    assert told["nextCursor"] is None
    assert [link["expiresAt"] for link in told["items"]] == [link["expiresAt"] for link in reversed(made)]
    for link in told["items"]:
        assert list(link) == ["id", "createdAt", "expiresAt", "userId", "uses"]
        assert link["userId"] == keeper.id and link["uses"] == 0 and link["createdAt"] < link["expiresAt"]
    assert not any(link["url"].rsplit("/", 1)[1] in json.dumps(told) for link in made)


def test_pages_neither_repeat_nor_hide_a_link(keeper, stored):
    record, _ = stored
    for _ in range(5):
        make(keeper, record["id"], status=200)
    every = [link["id"] for link in links(keeper, record["id"])["items"]]
    first = links(keeper, record["id"], limit=2)
    make(keeper, record["id"], status=200)
    second = links(keeper, record["id"], limit=2, cursor=first["nextCursor"])
    third = links(keeper, record["id"], limit=2, cursor=second["nextCursor"])
    assert [link["id"] for page in (first, second, third) for link in page["items"]] == every
    assert third["nextCursor"] is None
    for bad in ({"limit": 0}, {"limit": 101}, {"cursor": "x"}, {"colour": "red"}):
        keeper.get(f"/system/files/{record['id']}/links", params=bad, status=400, paths=set(bad))


def test_a_revoked_link_opens_nothing_on_any_worker_and_the_others_stay(api, keeper, linked):
    record, data, paths, ids = linked
    for path in paths:
        for _ in range(8):
            assert api.get(path, status=200).content == data
    assert revoke(keeper, record["id"], ids[0], status=200).json()["status"] == "success"
    assert closed_everywhere(api, paths[0])
    assert api.get(paths[1], status=200).content == data
    assert [link["id"] for link in links(keeper, record["id"])["items"]] == [ids[1]]
    reply = revoke(keeper, record["id"], ids[0], status=400, code="link.unknown", paths={"linkId"})
    unknown = revoke(keeper, record["id"], uuid.uuid4(), status=400, code="link.unknown")
    assert anonymous(reply) == anonymous(unknown)


def test_revoking_holds_with_the_next_request_of_100_rounds(api, keeper, stack, stored):
    record, _ = stored
    for _ in range(100):
        path = path_of(stack, make(keeper, record["id"], status=200).json())
        api.head(path, status=200)
        revoke(keeper, record["id"], links(keeper, record["id"], limit=1)["items"][0]["id"], status=200)
        api.head(path, status=403)


def test_uses_are_whole_downloads(api, keeper, linked):
    record, data, paths, _ = linked
    tag = f'"{record["info"]["hash"]}"'
    api.get(paths[0], status=200)
    api.get(paths[0], headers={"Range": "bytes=0-3"}, status=206)
    wait_until(lambda: uses(keeper, record["id"]) == [0, 2], 10, "both uses to be counted")
    api.head(paths[0], status=200)
    api.get(paths[0], headers={"Range": "bytes=4-"}, status=206)
    api.get(paths[0], headers={"If-None-Match": tag}, status=304)
    api.get(paths[0], headers={"Range": f"bytes={len(data)}-"}, status=416)
    api.get(f"{paths[0][:-1]}", status=403)
    keeper.get(f"/system/files/{record['id']}", status=200)
    api.get(paths[1], status=200)
    wait_until(lambda: uses(keeper, record["id"]) == [1, 2], 10, "the use of the other link")


def test_uses_at_once_are_all_counted(api, keeper, linked):
    record, _, paths, _ = linked
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: api.get(paths[1], status=200), range(40)))
    wait_until(lambda: uses(keeper, record["id"]) == [40, 0], 20, "40 uses to be counted")


def test_the_list_shows_no_link_whose_time_is_over_and_the_row_goes(keeper, linked, database):
    record, _, _, ids = linked
    database.run("UPDATE file_link SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = %s", key(ids[0]))
    assert [link["id"] for link in links(keeper, record["id"])["items"]] == [ids[1]]
    revoke(keeper, record["id"], ids[0], status=400, code="link.unknown")


def test_links_of_an_archived_file_are_listed_and_revoked(api, keeper, linked):
    record, data, paths, ids = linked
    files.archive(keeper, record["id"], status=200)
    assert len(links(keeper, record["id"])["items"]) == 2
    revoke(keeper, record["id"], ids[0], status=200)
    keeper.post(f"/system/files/{record['id']}/restore", status=200)
    api.get(paths[0], status=403, code="link.invalid")
    assert api.get(paths[1], status=200).content == data


def test_a_colleague_with_the_permission_lists_and_revokes(accounts, api, keeper, linked):
    record, _, paths, ids = linked
    reader = accounts.user_with("cus:file:r", keeper.organisation["id"])
    assert len(links(reader, record["id"])["items"]) == 2
    reply = revoke(reader, record["id"], ids[0], status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:file:w"
    writer = accounts.user_with("cus:file:w", keeper.organisation["id"])
    revoke(writer, record["id"], ids[0], status=200)
    assert closed_everywhere(api, paths[0], 4)


def test_links_of_another_organisation_are_those_of_an_unknown_file(api, other, keeper, linked):
    record, data, paths, ids = linked
    nobodys = str(uuid.uuid4())
    answers = {anonymous(other.get(f"/system/files/{identity}/links", status=400, code="file.unknown"))
               for identity in (record["id"], nobodys)}
    assert len(answers) == 1
    answers = {anonymous(revoke(other, identity, ids[0], status=400, code="file.unknown"))
               for identity in (record["id"], nobodys)}
    assert len(answers) == 1
    own = files.upload(other, samples.text(), "own.txt")
    answers = {anonymous(revoke(other, own["id"], link, status=400, code="link.unknown")) for link in (ids[0], nobodys)}
    assert len(answers) == 1
    assert api.get(paths[0], status=200).content == data and len(links(keeper, record["id"])["items"]) == 2


def test_ids_that_are_none_are_named(keeper, stored):
    keeper.get("/system/files/x/links", status=400, code="request.invalid", paths={"id"})
    revoke(keeper, "x", "y", status=400, code="request.invalid", paths={"id", "linkId"})
    revoke(keeper, stored[0]["id"], "y", status=400, code="request.invalid", paths={"linkId"})


def test_revoking_is_in_the_trail_and_staff_crossing_too(administrator, keeper, linked, database):
    record, _, _, ids = linked
    revoke(keeper, record["id"], ids[0], status=200)
    links(administrator, record["id"])
    revoke(administrator, record["id"], ids[1], status=200)
    rows = database.run("SELECT action, details, organisation_id FROM audit WHERE target_id = %s ORDER BY id",
                        record["id"])
    assert [row[0] for row in rows][-4:] == ["file.unlink", "access.crossOrganisation", "access.crossOrganisation",
                                             "file.unlink"]
    assert [json.loads(row[1]).get("linkId") for row in rows if row[0] == "file.unlink"] == ids
    assert {row[2] for row in rows} == {key(keeper.organisation["id"])}
