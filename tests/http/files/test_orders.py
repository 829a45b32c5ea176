# SPDX-License-Identifier: MIT
"""GET /system/files with sort, since and until, and what total tells."""

import concurrent.futures
import datetime
import threading
import uuid

import pytest

from support import files, samples
from support.database import key
from uploads import support_tus as tus

NAMES = ["b.txt", "B.txt", "a.txt", "ä.txt", "a b.txt", "10.txt", "9.txt", "Z.txt", "b.txt"]
SORTS = ["newest", "oldest", "name", "largest"]


@pytest.fixture(scope="module")
def shelf(accounts):
    """A customer with files of several names and sizes, oldest first in .records; the last one is archived."""
    account = accounts.customer()
    account.records = []
    for number, name in enumerate(NAMES):
        data = samples.text() + b"." * (number * 7 % 5 * 100)
        account.records.append(files.upload(account, data, name, tags=["odd"] if number % 2 else []))
    account.records[-1] = files.archive(account, account.records[-1]["id"], status=200).json()
    return account


def ordered(records, sort):
    """The records as the order has them."""
    oldest = sorted(records, key=lambda r: (r["createdAt"], r["id"]))
    if sort == "name":
        return sorted(records, key=lambda r: (r["info"]["name"].encode(), r["id"]))
    if sort == "largest":
        return sorted(records, key=lambda r: (r["info"]["size"], r["id"]), reverse=True)
    return oldest if sort == "oldest" else oldest[::-1]


def page(account, **parameters):
    return account.get("/system/files", params=parameters, status=200).json()


def shifted(moment, milliseconds):
    """The time so much later, as text."""
    then = datetime.datetime.fromisoformat(moment) + datetime.timedelta(milliseconds=milliseconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("limit", [1, 2, 3, 8, 9, 100])
def test_pages_of_every_order_join_to_the_whole(shelf, sort, limit):
    assert files.listed(shelf, sort=sort, limit=limit, status="all") == ordered(shelf.records, sort)
    assert files.listed(shelf, sort=sort, limit=limit) == ordered(shelf.records[:-1], sort)


def test_without_a_sort_the_newest_comes_first(shelf):
    assert page(shelf, limit=5) == page(shelf, limit=5, sort="newest")


@pytest.mark.parametrize("sort", SORTS)
def test_filters_hold_in_every_order(shelf, sort):
    assert files.listed(shelf, sort=sort, tag="odd", limit=2) == ordered(shelf.records[1::2], sort)
    named = [r for r in shelf.records[:-1] if r["info"]["name"].startswith("a")]
    assert files.listed(shelf, sort=sort, name="a", limit=1) == ordered(named, sort)
    assert files.listed(shelf, sort=sort, status="archived") == shelf.records[-1:]
    assert files.listed(shelf, sort=sort, bucket="images") == []
    assert files.listed(shelf, sort=sort, userId=shelf.id, type="misc") == ordered(shelf.records[:-1], sort)


@pytest.mark.parametrize("sort", SORTS)
def test_a_period_includes_its_beginning_and_not_its_end(shelf, sort):
    first, last = shelf.records[2]["createdAt"], shelf.records[6]["createdAt"]
    inside = [r for r in shelf.records[:-1] if first <= r["createdAt"] < last]
    assert shelf.records[2] in inside and shelf.records[6] not in inside
    for limit in (1, 3, 100):
        assert files.listed(shelf, sort=sort, since=first, until=last, limit=limit) == ordered(inside, sort)
    later = [r for r in shelf.records[:-1] if r["createdAt"] >= last]
    assert files.listed(shelf, sort=sort, since=last, limit=1) == ordered(later, sort)
    assert files.listed(shelf, sort=sort, since=shifted(shelf.records[-1]["createdAt"], 1)) == []
    assert files.listed(shelf, sort=sort, until="1970-01-01T00:00:00Z") == []
    ever = {"since": "1970-01-01T00:00:00+05:00", "until": "9999-12-31T23:59:59Z"}
    assert files.listed(shelf, sort=sort, limit=2, **ever) == ordered(
        shelf.records[:-1], sort)


def test_a_time_of_another_zone_is_the_same_moment(shelf):
    first = shelf.records[3]["createdAt"]
    there = datetime.datetime.fromisoformat(first).astimezone(datetime.timezone(datetime.timedelta(hours=5)))
    assert page(shelf, since=there.isoformat(timespec="milliseconds")) == page(shelf, since=first)


def test_the_total_is_told_where_it_is_known(shelf):
    assert page(shelf)["total"] == len(NAMES) - 1
    assert page(shelf, limit=2)["total"] is None
    assert page(shelf, tag="odd")["total"] == 4 and page(shelf, tag="odd", limit=1)["total"] is None
    for sort in SORTS:
        first = page(shelf, status="all", limit=2, sort=sort)
        assert first["total"] == len(NAMES)
        assert page(shelf, status="all", limit=2, sort=sort, cursor=first["nextCursor"])["total"] == len(NAMES)
        assert page(shelf, status="all", limit=2, sort=sort, name="b")["total"] in (None, 2)


@pytest.mark.parametrize("asked,paths", [
    ({"limit": 0, "cursor": "x", "since": "2026-13-01T00:00:00Z"}, {"limit", "cursor", "since"}),
    ({"bucket": "none", "until": "2026-01-01 00:00:00Z!"}, {"bucket", "until"}),
    ({"userId": "x", "sort": "name", "cursor": "x", "since": "then"}, {"userId", "cursor", "since"}),
    ({"sort": "best", "cursor": "x", "status": "gone"}, {"sort", "status"}),  # the order says which cursors are good
])
def test_every_fault_of_a_list_is_named_at_once(customer, asked, paths):
    customer.get("/system/files", params=asked, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("sort", SORTS)
def test_the_total_counts_no_upload_that_is_under_way(customer, sort):
    for number in range(3):
        files.upload(customer, samples.text(), f"{number}.txt")
    path = tus.begin(customer, 100)
    assert page(customer, status="all", limit=1, sort=sort)["total"] == 3
    tus.patch(customer, path, 0, samples.noise(100))
    assert page(customer, status="all", limit=1, sort=sort)["total"] == 4


@pytest.mark.parametrize("sort", SORTS)
def test_pages_stay_while_files_come_and_go(accounts, sort):
    account = accounts.customer()
    there = {files.upload(account, samples.text(), f"{n}.txt")["id"] for n in range(8)}
    going = threading.Event()

    def disturb():
        while not going.is_set():
            new = files.upload(account, samples.text(), f"{uuid.uuid4()}.txt")
            files.archive(account, new["id"], status=200)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        disturbing = [pool.submit(disturb) for _ in range(2)]
        try:
            for _ in range(4):
                seen = [record["id"] for record in files.listed(account, sort=sort, limit=2)]
                assert len(seen) == len(set(seen)) and there <= set(seen)
        finally:
            going.set()
        for future in disturbing:
            future.result()


def test_a_cursor_is_good_for_its_own_order_alone(shelf):
    cursors = {sort: page(shelf, sort=sort, limit=1)["nextCursor"] for sort in SORTS}
    assert len(set(cursors.values())) == 4
    for made in SORTS:
        for sort in SORTS:
            if made != sort:
                shelf.get("/system/files", params={"sort": sort, "cursor": cursors[made]}, status=400,
                          code="request.invalid", paths={"cursor"})
    shelf.get("/system/files", params={"since": "2026-01-01T00:00:00Z", "cursor": cursors["newest"]}, status=400,
              paths={"cursor"})


@pytest.mark.parametrize("sort", SORTS)
def test_a_bent_cursor_shows_nothing_of_others(shelf, sort):
    cursor = page(shelf, sort=sort, limit=2)["nextCursor"]
    mine = {record["id"] for record in shelf.records}
    for bent in (cursor[:-1], cursor[1:], cursor + "A", cursor.swapcase(), cursor[::-1], "_" * 40, "A" * 512):
        reply = shelf.get("/system/files", params={"sort": sort, "cursor": bent}, status={200, 400})
        if reply.status_code == 400:
            assert {entry["path"] for entry in reply.json()["validation"]} == {"cursor"}
        else:
            assert {item["id"] for item in reply.json()["items"]} <= mine


@pytest.mark.parametrize("query, paths", [
    ("sort=Newest", {"sort"}), ("sort=", {"sort"}), ("sort=size", {"sort"}), ("sort=name&sort=name", {"sort"}),
    ("since=yesterday", {"since"}), ("since=2026-01-01", {"since"}), ("until=2026-13-01T00:00:00Z", {"until"}),
    ("since=2026-01-01T00:00:00&until=x", {"since", "until"}), ("cursor=", {"cursor"}),
    ("sort=x&until=x&cursor=" + "A" * 513, {"sort", "until", "cursor"}),
])
def test_bad_values_are_named(shelf, query, paths):
    shelf.get(f"/system/files?{query}", status=400, code="request.invalid", paths=paths)


def test_staff_see_the_order_of_another_organisation_and_others_do_not(administrator, other, shelf, database):
    home = shelf.organisation["id"]
    for sort in SORTS:
        assert page(administrator, organisationId=home, sort=sort) == page(shelf, sort=sort)
        cursor = page(shelf, sort=sort, limit=1)["nextCursor"]
        seen = {item["organisationId"] for item in page(other, sort=sort, cursor=cursor)["items"]}
        assert seen <= {other.organisation["id"]}
        other.get("/system/files", params={"organisationId": home, "sort": sort}, status=403, code="auth.permission")
    rows = database.run("SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND organisation_id = %s",
                        key(home))
    assert rows[0][0] >= len(SORTS)
