# SPDX-License-Identifier: MIT
"""Signed links: POST /system/files/{id}/link makes one, GET /system/links/<token> opens it without a token."""

import base64
import concurrent.futures
import datetime
import json
import time

import pytest

from support import files, samples
from support.client import shape
from support.database import key
from support.stack import wait_until

pytestmark = pytest.mark.web_server

TOKEN_CHARACTERS = 96


def make(account, identity, **arguments):
    arguments.setdefault("json", {})
    return account.post(f"/system/files/{identity}/link", **arguments)


def path_of(stack, link):
    """The path of a link's address, below the base URL."""
    assert link["url"].startswith(stack.base_url + "/system/links/"), link
    return link["url"][len(stack.base_url):]


@pytest.fixture()
def linked(keeper, stack, stored):
    """A PNG and the path of a link to it: (record, bytes, path)."""
    record, data = stored
    return record, data, path_of(stack, make(keeper, record["id"], status=200).json())


def seconds_left(link):
    end = datetime.datetime.fromisoformat(link["expiresAt"].replace("Z", "+00:00"))
    return (end - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


# ---- opening -------------------------------------------------------------------------------------


def test_a_link_gives_the_bytes_to_whoever_holds_it(api, keeper, linked):
    record, data, path = linked
    direct = files.download(keeper, record["id"], status=200)
    for _ in range(8):
        reply = api.get(path, status=200)
        assert reply.content == data
        assert shape(reply) == shape(direct)
    assert direct.headers["Content-Disposition"].startswith("inline")


def test_head_download_ranges_and_conditions_work_on_links(api, linked):
    record, data, path = linked
    tag = f'"{record["info"]["hash"]}"'
    head = api.head(path, status=200)
    assert head.headers["Content-Length"] == str(len(data)) and head.headers["ETag"] == tag
    for word in ("1", "true"):
        forced = api.get(f"{path}?download={word}", status=200)
        assert forced.headers["Content-Disposition"].startswith("attachment") and forced.content == data
    part = api.get(path, headers={"Range": "bytes=5-20"}, status=206)
    assert part.content == data[5:21] and part.headers["Content-Range"] == f"bytes 5-20/{len(data)}"
    last = api.get(path, headers={"Range": "bytes=-7", "If-Range": tag}, status=206)
    assert last.content == data[-7:]
    assert api.get(path, headers={"Range": "bytes=5-20", "If-Range": '"other"'}, status=200).content == data
    api.get(path, headers={"If-None-Match": tag}, status=304)
    api.get(path, headers={"If-Match": '"other"'}, status=412, code="request.precondition")
    api.get(path, headers={"Range": f"bytes={len(data)}-"}, status=416)


def test_a_link_needs_no_token_and_takes_no_notice_of_one(api, linked, nobody):
    _, data, path = linked
    for token in ("x.y.z", nobody.token):
        assert api.get(path, token=token, status=200).content == data


def test_a_link_opens_nothing_but_its_file(api, keeper, linked):
    record, _, path = linked
    token = path.rsplit("/", 1)[1]
    api.get(f"/system/files/{record['id']}", headers={"Authorization": f"Bearer {token}"}, status=401)
    api.get(f"/system/files/{record['id']}?token={token}", status=401)
    api.get(f"{path}/info", status=404)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert api.call(method, path, status=405).headers["Allow"] == "GET, HEAD"
    assert files.info(keeper, record["id"]) == record["info"]


def test_links_to_different_files_are_told_apart(api, keeper, stack):
    made = {}
    for number in range(3):
        data = samples.text()
        record = files.upload(keeper, data, f"{number}.txt")
        made[path_of(stack, make(keeper, record["id"], status=200).json())] = data
    for path, data in made.items():
        assert api.get(path, status=200).content == data


# ---- making --------------------------------------------------------------------------------------


@pytest.mark.parametrize("body, seconds", [({}, 3600), ({"expiresIn": 60}, 60), ({"expiresIn": 604800}, 604800),
                                           ({"expiresIn": 61}, 61)])
def test_a_link_lives_as_long_as_it_was_asked_to(keeper, stored, body, seconds):
    record, _ = stored
    link = make(keeper, record["id"], json=body, status=200).json()
    assert set(link) == {"url", "expiresAt"}
    assert seconds - 60 < seconds_left(link) <= seconds + 1
    assert len(link["url"].rsplit("/", 1)[1]) == TOKEN_CHARACTERS


def test_the_body_may_be_empty(keeper, stored):
    record, _ = stored
    link = keeper.post(f"/system/files/{record['id']}/link", status=200).json()
    assert 3540 < seconds_left(link) <= 3601


@pytest.mark.parametrize("body", [{"expiresIn": 59}, {"expiresIn": 604801}, {"expiresIn": 0}, {"expiresIn": -1},
                                  {"expiresIn": "3600"}, {"expiresIn": None}, {"expiresIn": 3600.5},
                                  {"expiresIn": True}, {"expiresIn": 10**30}])
def test_a_time_out_of_bounds_is_named(keeper, stored, body):
    make(keeper, stored[0]["id"], json=body, status=400, code="request.invalid", paths={"expiresIn"})


def test_an_unknown_member_is_named(keeper, stored):
    make(keeper, stored[0]["id"], json={"expires": 60}, status=400, code="request.invalid", paths={"expires"})


def test_the_reader_may_make_links_and_who_may_not_read_may_not(accounts, api, keeper, stack, stored, nobody):
    record, data = stored
    reader = accounts.user_with("cus:file:r", keeper.organisation["id"])
    assert api.get(path_of(stack, make(reader, record["id"], status=200).json()), status=200).content == data
    reply = make(nobody, record["id"], status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:file:r"


def test_a_foreign_and_an_unknown_file_are_one_answer(other, stored):
    answers = [make(other, identity, status=400, code="file.unknown")
               for identity in (stored[0]["id"], "01890000-0000-7000-8000-000000000000")]
    assert {**answers[0].json(), "body": {}} == {**answers[1].json(), "body": {}}


def test_an_archived_file_gets_no_link(keeper, stored):
    files.archive(keeper, stored[0]["id"], status=200)
    make(keeper, stored[0]["id"], status=409, code="file.archived")


def test_making_is_in_the_trail_and_staff_crossing_too(administrator, keeper, stored, database):
    record, _ = stored
    link = make(keeper, record["id"], status=200).json()
    make(administrator, record["id"], status=200)
    rows = database.run("SELECT action, details, organisation_id FROM audit WHERE target_id = %s ORDER BY id",
                        record["id"])
    assert [row[0] for row in rows] == ["file.upload", "file.link", "access.crossOrganisation", "file.link"]
    listed = keeper.get(f"/system/files/{record['id']}/links", status=200).json()["items"]
    assert json.loads(rows[1][1]) == {"expiresAt": link["expiresAt"], "linkId": listed[1]["id"]}
    assert {row[2] for row in rows} == {key(keeper.organisation["id"])}
    assert not any(link["url"].rsplit("/", 1)[1] in row[1] for row in rows)


# ---- what does not hold --------------------------------------------------------------------------


def refused(api, path):
    """Whether the one answer comes; fails on any other that is not the file."""
    reply = api.get(path, status={200, 403})
    if reply.status_code == 403:
        assert reply.json()["code"] == "link.invalid" and reply.json()["validation"] == []
    return reply.status_code == 403


def test_whatever_is_wrong_the_answer_is_one(api, accounts, keeper, stack, linked, database):
    record, _, path = linked
    bent = path[:-1] + ("A" if path[-1] != "A" else "B")
    gone = files.upload(keeper, samples.text(), "gone.txt")
    archived = path_of(stack, make(keeper, gone["id"], status=200).json())
    files.archive(keeper, gone["id"], status=200)
    shapes = {json.dumps(shape(api.get(one, status=403, code="link.invalid"))[1:], default=repr) for one in (
        bent, archived, path[:-4], path + "AAAA", path + "%3D", "/system/links/x", "/system/links/" + "A" * 96,
        "/system/links/" + "A" * 116,
        "/system/links/" + "A" * 1500, "/system/links/%C3%BC", "/system/links/" + record["id"])}
    assert len(shapes) == 1, shapes


def test_every_bit_of_a_token_counts(api, linked):
    _, data, path = linked
    raw = bytearray(base64.urlsafe_b64decode(path.rsplit("/", 1)[1]))
    assert len(raw) == 72
    for at in range(72):
        forged = bytearray(raw)
        forged[at] ^= 1 << (at % 8)
        assert refused(api, "/system/links/" + base64.urlsafe_b64encode(forged).decode()), f"byte {at}"
    assert api.get(path, status=200).content == data


def test_a_bad_query_counts_only_where_the_link_holds(api, linked):
    _, _, path = linked
    api.get(f"{path}?download=maybe", status=400, code="request.invalid", paths={"download"})
    api.get(f"{path}?colour=red", status=400, code="request.invalid", paths={"colour"})
    api.get(f"{path[:-1]}?colour=red", status=403, code="link.invalid")


def test_an_archived_file_opens_again_when_it_is_restored(api, keeper, linked):
    record, data, path = linked
    files.archive(keeper, record["id"], status=200)
    for _ in range(6):
        assert refused(api, path)
    api.head(path, status=403)
    keeper.post(f"/system/files/{record['id']}/restore", status=200)
    assert api.get(path, status=200).content == data


def test_a_renamed_file_comes_by_its_new_name(api, keeper, linked):
    record, _, path = linked
    keeper.patch(f"/system/files/{record['id']}", json={"name": "renamed.png"}, status=200)
    assert 'filename="renamed.png"' in api.get(path, status=200).headers["Content-Disposition"]


def test_a_disabled_organisation_s_links_do_not_open(api, accounts, stack, database):
    account = accounts.customer()
    record = files.upload(account, samples.text(), "a.txt")
    path = path_of(stack, make(account, record["id"], status=200).json())
    api.get(path, status=200)
    database.run("UPDATE organisation SET status = 'disabled' WHERE id = %s", key(account.organisation["id"]))
    assert refused(api, path)
    database.run("UPDATE organisation SET status = 'active' WHERE id = %s", key(account.organisation["id"]))
    api.get(path, status=200)


def closed_everywhere(api, path, times=12):
    """Whether the link opens nothing, on whichever worker, for GET, HEAD and a part of it."""
    api.head(path, status=403)
    api.get(path, headers={"Range": "bytes=0-3"}, status=403, code="link.invalid")
    return all(refused(api, path) for _ in range(times))


def test_a_link_ends_with_the_next_request_when_its_maker_is_disabled(accounts, api, keeper, stack, stored):
    record, data = stored
    maker = accounts.user_with("cus:file:r", keeper.organisation["id"])
    path = path_of(stack, make(maker, record["id"], status=200).json())
    own = path_of(stack, make(keeper, record["id"], status=200).json())
    for _ in range(12):
        assert api.get(path, status=200).content == data
    user = f"/customers/organisations/users/{maker.id}"
    keeper.patch(user, json={"status": "disabled"}, status=200)
    assert closed_everywhere(api, path)
    assert api.get(own, status=200).content == data
    keeper.patch(user, json={"status": "active"}, status=200)
    assert api.get(path, status=200).content == data


def test_a_link_ends_with_the_permission_of_its_maker(accounts, api, keeper, stack, stored, database):
    record, data = stored
    maker = accounts.user_with("cus:file:w", keeper.organisation["id"])
    path = path_of(stack, make(maker, record["id"], status=200).json())
    api.get(path, status=200)
    for lost in ("", "cus:user:w", "inv:*:a", "CUS:FILE:R"):
        database.set_grants(maker.id, lost)
        assert closed_everywhere(api, path, 4)
        for held in ("cus:file:r", "cus:*:w", "r:*"):
            database.set_grants(maker.id, held)
            assert api.get(path, status=200).content == data


def test_a_link_of_staff_ends_with_their_right_to_cross(accounts, api, stack, stored, database):
    record, data = stored
    staff = accounts.user_with("cus:file:a")
    path = path_of(stack, make(staff, record["id"], status=200).json())
    assert api.get(path, status=200).content == data
    database.set_grants(staff.id, "cus:file:w rwx:*")
    assert closed_everywhere(api, path, 4)
    database.set_grants(staff.id, "cus:file:a")
    assert api.get(path, status=200).content == data
    database.run("UPDATE organisation SET status = 'disabled' WHERE id = %s", key(staff.organisation["id"]))
    assert closed_everywhere(api, path, 4)


def test_without_its_key_a_link_is_dead_on_every_worker(api, keeper, stack, linked, database):
    """What gatehousectl rotate-keys does to the keys, seen from outside."""
    record, data, path = linked
    for _ in range(12):  # by now every worker may know the key
        api.get(path, status=200)
    rows = database.run("SELECT id, key_sealed, created_at FROM link_key")
    assert rows and all(len(sealed) > 40 for _, sealed, _ in rows)
    database.run("DELETE FROM link_key")
    for _ in range(12):
        assert refused(api, path)
    fresh = path_of(stack, make(keeper, record["id"], status=200).json())
    for _ in range(12):
        assert api.get(fresh, status=200).content == data
    assert refused(api, path)


def test_first_links_at_once_all_open(api, keeper, stack, stored, database):
    record, data = stored
    database.run("DELETE FROM link_key")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        links = list(pool.map(lambda _: make(keeper, record["id"], status=200).json(), range(8)))
    for link in links:
        assert api.get(path_of(stack, link), status=200).content == data


def test_no_link_is_in_the_logs(api, keeper, stack, stored, logs):
    record, _ = stored
    start = logs.mark()
    path = path_of(stack, make(keeper, record["id"], status=200).json())
    mark = f"links-{time.time_ns()}"
    api.get(path, headers={"X-Request-Id": mark}, status=200)
    wait_until(lambda: logs.find(start, mark), 60, "the request's line in the log")
    assert logs.find(start, path.rsplit("/", 1)[1]) == []
