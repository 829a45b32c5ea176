# SPDX-License-Identifier: MIT
"""GET /system/files: keyset pages, newest first, and filters."""

import concurrent.futures
import threading
import uuid

import pytest

from support import files, samples
from support.client import check_error
from support.multipart import Part
from support.wire import raw


@pytest.fixture(scope="module")
def shelf(accounts):
    """A customer with a known set of files, oldest first in .records."""
    account = accounts.customer()
    account.records = []
    for number in range(7):
        account.records.append(
            files.upload(account,
                         samples.text(),
                         f"note {number}.txt",
                         kind="contract" if number % 2 else "misc",
                         tags=["all", f"n{number % 3}"]))
    account.records.append(
        files.upload(account,
                     samples.picture(),
                     "under_score.png",
                     bucket="images",
                     kind="logo",
                     tags=["logo", "All"]))
    account.records.append(files.upload(account, samples.text(), "underXscore.txt", tags=["100%"]))
    account.records.append(files.upload(account, samples.text(), "Note in capitals.txt"))
    gone = files.upload(account, samples.text(), "note gone.txt", tags=["all"])
    account.gone = files.archive(account, gone["id"], status=200).json()
    return account


def ids(records):
    return [record["id"] for record in records]


def page(account, **parameters):
    return account.get("/system/files", params=parameters, status=200).json()


def test_the_newest_comes_first_and_records_are_whole(shelf):
    body = page(shelf)
    assert set(body) == {"items", "nextCursor", "total"} and body["nextCursor"] is None
    assert body["items"] == list(reversed(shelf.records))


def test_25_is_the_usual_page(accounts):
    account = accounts.customer()
    for _ in range(3):
        parts = [Part("bucket", "files"), Part("type", "misc")
                 ] + [Part("file", samples.text(), f"{uuid.uuid4()}.txt") for _ in range(9)]
        files.send(account, parts, status=200)
    first = page(account)
    assert len(first["items"]) == 25 and isinstance(first["nextCursor"], str)
    second = page(account, cursor=first["nextCursor"])
    assert len(second["items"]) == 2 and second["nextCursor"] is None
    assert len(set(ids(first["items"] + second["items"]))) == 27


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9, 10, 11, 100])
def test_pages_of_any_size_join_to_the_whole(shelf, limit):
    found, cursor, pages = [], None, 0
    while True:
        body = page(shelf, limit=limit, **({"cursor": cursor} if cursor else {}))
        assert len(body["items"]) <= limit
        found += body["items"]
        cursor, pages = body["nextCursor"], pages + 1
        if cursor is None:
            break
    assert found == list(reversed(shelf.records))
    assert pages == -(-len(found) // limit), "an empty last page"


def test_paging_is_stable_while_files_come_and_go(accounts):
    account = accounts.customer()
    records = [files.upload(account, samples.text(), f"{n}.txt") for n in range(6)]
    first = page(account, limit=2)
    files.upload(account, samples.text(), "newer.txt")
    files.archive(account, records[4]["id"], status=200)
    second = page(account, limit=2, cursor=first["nextCursor"])
    third = page(account, limit=2, cursor=second["nextCursor"])
    assert ids(first["items"] + second["items"] + third["items"]) == ids(reversed(records))


@pytest.mark.parametrize("filters", [{}, {"status": "all"}, {"tag": "old"}, {"name": "old"}])
def test_paging_while_others_upload_shows_what_was_there_once(accounts, filters):
    """What was there at the start comes once, in its order, whatever comes meanwhile."""
    account = accounts.customer()
    helper = accounts.user_with("cus:file:w", account.organisation["id"])
    there = [files.upload(account, samples.text(), f"old {n}.txt", tags=["old"])["id"] for n in range(12)]
    going = threading.Event()

    def upload(number):
        done = 0
        while not going.is_set():
            files.upload(helper, samples.text(), f"old new {number} {done}.txt", tags=["old"])
            done += 1
        return done

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        uploads = [pool.submit(upload, number) for number in range(3)]
        try:
            for _ in range(4):
                seen, cursor = [], None
                while True:
                    body = page(account, limit=3, **filters, **({"cursor": cursor} if cursor else {}))
                    seen += ids(body["items"])
                    cursor = body["nextCursor"]
                    if cursor is None:
                        break
                assert len(seen) == len(set(seen)) and seen == sorted(seen, reverse=True)
                assert [one for one in seen if one in there] == list(reversed(there))
        finally:
            going.set()
        assert sum(future.result() for future in uploads) > 0


def test_a_file_that_is_archived_and_restored_meanwhile_is_listed_once(accounts):
    account = accounts.customer()
    records = [files.upload(account, samples.text(), f"{n}.txt") for n in range(5)]
    going = threading.Event()

    def toggle():
        while not going.is_set():
            files.archive(account, records[2]["id"], status=200)
            account.post(f"/system/files/{records[2]['id']}/restore", status=200)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        toggling = pool.submit(toggle)
        try:
            for _ in range(60):
                assert ids(page(account, status="all")["items"]) == ids(reversed(records))
        finally:
            going.set()
        toggling.result()


def test_staff_list_any_organisation_and_nobody_else_does(administrator, shelf, other):
    home = shelf.organisation["id"]
    assert files.listed(administrator, organisationId=home, tag="all") == files.listed(shelf, tag="all")
    reply = other.get("/system/files", params={"organisationId": home}, status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:file:a"
    assert page(shelf, organisationId=home)["items"] == list(reversed(shelf.records))


def test_the_files_of_one_request_are_listed_in_one_order_always(accounts):
    account = accounts.customer()
    parts = [Part("bucket", "files"), Part("type", "misc")
             ] + [Part("file", samples.text(), f"{n}.txt") for n in range(10)]
    files.send(account, parts, status=200)
    assert ids(files.listed(account, limit=100)) == ids(files.listed(account, limit=3))


@pytest.mark.parametrize("filters, picks", [
    ({"type": "contract"}, lambda r: r["type"] == "contract"),
    ({"type": "misc"}, lambda r: r["type"] == "misc"),
    ({"type": "avatar"}, lambda r: False),
    ({"bucket": "images"}, lambda r: r["info"]["bucket"] == "images"),
    ({"bucket": "files"}, lambda r: r["info"]["bucket"] == "files"),
    ({"tag": "all"}, lambda r: "all" in r["tags"]),
    ({"tag": "n1"}, lambda r: "n1" in r["tags"]),
    ({"tag": "n"}, lambda r: False),
    ({"tag": "100%"}, lambda r: "100%" in r["tags"]),
    ({"tag": "al_"}, lambda r: False),
    ({"name": "note 1"}, lambda r: r["info"]["name"] == "note 1.txt"),
    ({"name": "under_"}, lambda r: r["info"]["name"] == "under_score.png"),
    ({"name": "%"}, lambda r: False),
    ({"name": "ote"}, lambda r: False),
    ({"tag": "all", "type": "contract"}, lambda r: "all" in r["tags"] and r["type"] == "contract"),
    ({"bucket": "images", "type": "logo", "tag": "logo", "name": "under"}, lambda r: r["type"] == "logo"),
    ({"status": "active"}, lambda r: True),
])
def test_filters_pick_what_they_say(shelf, filters, picks):
    expected = [record for record in reversed(shelf.records) if picks(record)]
    for limit in (2, 100):
        assert files.listed(shelf, limit=limit, **filters) == expected


def test_the_status_filter_shows_the_archived(shelf):
    assert files.listed(shelf, status="archived") == [shelf.gone]
    assert files.listed(shelf, status="all", name="note g") == [shelf.gone]
    assert ids(files.listed(shelf, status="all")) == ids([shelf.gone, *reversed(shelf.records)])
    assert files.listed(shelf, name="note gone") == []


def test_the_user_filter_tells_colleagues_apart(accounts, customer):
    colleague = accounts.user_with("cus:file:w", customer.organisation["id"])
    mine = files.upload(customer, samples.text(), "mine.txt")
    theirs = files.upload(colleague, samples.text(), "theirs.txt")
    assert files.listed(customer, userId=colleague.id) == [theirs]
    assert files.listed(customer, userId=customer.id) == [mine]
    assert files.listed(customer) == files.listed(colleague) == [theirs, mine]


@pytest.mark.parametrize("query, paths",
                         [("limit=0", {"limit"}), ("limit=101", {"limit"}), ("limit=-1", {"limit"}),
                          ("limit=abc", {"limit"}), ("limit=", {"limit"}), ("limit=1.5", {"limit"}),
                          ("limit=1e1", {"limit"}), ("limit=+5", {"limit"}), ("limit=%205", {"limit"}),
                          ("limit=99999999999999999999", {"limit"}), ("limit=0x10", {"limit"}),
                          ("cursor=x", {"cursor"}), ("cursor=%00", None), ("cursor=AAAA", {"cursor"}),
                          ("cursor=" + "A" * 3000, {"cursor"}), ("status=gone", {"status"}),
                          ("status=ACTIVE", {"status"}), ("status=", {"status"}), ("bucket=x", {"bucket"}),
                          ("type=x", {"type"}), ("type=Misc", {"type"}), ("userId=x", {"userId"}),
                          ("organisationId=x", {"organisationId"}), ("offset=5", {"offset"}),
                          ("Limit=5", {"Limit"}), ("limit%00=5", None),
                          ("limit=0&status=x&colour=red", {"limit", "status", "colour"}),
                          ("tag=" + "t" * 65, {"tag"}), ("limit=5&limit=6", {"limit"}), ("%FF=1", None),
                          ("name=%FF", None)])
def test_a_bad_query_is_400_and_every_name_is_named(shelf, query, paths):
    reply = shelf.get(f"/system/files?{query}", status=400)
    if paths is None:
        assert reply.json()["code"] == "request.malformed"
    else:
        assert reply.json()["code"] == "request.invalid"
        assert {entry["path"] for entry in reply.json()["validation"]} == paths, reply.text


def test_a_query_that_is_no_percent_code_is_malformed(stack, shelf):
    for query in ("name=%ZZ", "name=%", "name=%4", "%=1"):
        data = raw.request("GET", f"{stack.prefix}/system/files?{query}",
                           [("Authorization", f"Bearer {shelf.token}")])
        reply = raw.one(stack, data)
        assert reply.status == 400, query
        assert check_error(400, reply.headers, reply.body, query)["code"] == "request.malformed"


def test_an_unknown_parameter_has_the_code_unknown(shelf):
    reply = shelf.get("/system/files?colour=red", status=400, code="request.invalid", paths={"colour"})
    assert reply.json()["validation"][0]["code"] == "unknown"


def test_a_cursor_is_bent_in_vain(shelf):
    cursor = page(shelf, limit=2)["nextCursor"]
    for bent in (cursor[:-1], cursor + "A", cursor.swapcase(), cursor[::-1]):
        reply = shelf.get("/system/files", params={"cursor": bent}, status={200, 400})
        if reply.status_code == 400:
            assert {entry["path"] for entry in reply.json()["validation"]} == {"cursor"}
        else:
            assert set(ids(reply.json()["items"])) <= set(ids(shelf.records))


def test_a_new_organisation_has_an_empty_list(customer):
    assert page(customer) == {"items": [], "nextCursor": None, "total": 0}


def test_head_of_the_list_works(shelf):
    reply = shelf.api.head("/system/files", token=shelf.token, status=200)
    assert reply.headers["Content-Type"].startswith("application/json") and reply.content == b""


def test_an_upload_is_in_the_list_at_once_whichever_worker_answers(customer):
    for number in range(3):
        record = files.upload(customer, samples.text(), f"fresh {number}.txt")
        for _ in range(12):
            assert page(customer, limit=1)["items"] == [record]
