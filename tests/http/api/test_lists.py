# SPDX-License-Identifier: MIT
"""What holds for every list with pages, in each of its orders: pages join to what stood all the time, whatever comes
and goes meanwhile; and a first page of many rows reads few of them."""

import pytest

from support.lists import OPERATIONS, SHORT, WAYS, Rows, page
from support.runs.effort import cases

STANDING = 60
FEW = 10000
# Rows of people take their time: the triggers of the table write several others.
MANY = {"user": cases(24000, 200000)}
MANY_ELSE = cases(24000, 1000000)
# What a page of 25 may read: some rows for each item; where a filter is counted first, and the first files of an order
# are looked at, some thousands, which do not grow with the number of files.
READ_MAX = 15000
# How many times as many it may read of many rows as of FEW, and some more for what happens meanwhile.
GROWTH, MEANWHILE = 1.5, 60
PORTION = 50000  # a transaction
READS = ("Handler_read_first", "Handler_read_key", "Handler_read_last", "Handler_read_next", "Handler_read_prev",
         "Handler_read_rnd", "Handler_read_rnd_next")


def test_each_operation_with_pages_is_in_the_table(document):
    paged = {operation["operationId"] for _, _, operation in document.operations()
             if {"limit", "cursor"} <= {parameter["name"] for parameter in operation.get("parameters", [])}}
    assert paged == set(OPERATIONS) | SHORT


@pytest.mark.parametrize("name", sorted(WAYS))
def test_pages_while_rows_come_and_go_show_what_stands_once(accounts, database, boss, name):
    """Rows stand at even numbers. Behind each page rows come at odd numbers, before and behind the place that was
    reached, and those of the page before go again."""
    listing, owner = WAYS[name], boss
    with Rows(database, owner, listing) as rows:
        rows.add(100, 100 + 2 * (STANDING - 1), 2)
        standing = {rows.identity(100 + 2 * number) for number in range(STANDING)}
        seen, cursor, added = [], None, []
        while True:
            body = page(listing, accounts, owner, limit=7, **({"cursor": cursor} if cursor else {}))
            seen += [item["id"] for item in body["items"]]
            cursor = body["nextCursor"]
            if cursor is None or standing <= set(seen):
                break
            if added:
                rows.remove(*added)
            start = 101 + 4 * (len(seen) // 7 % 20)
            added = [start, start + 20, start + 38, 61]
            for number in added:
                rows.add(number, number)
        assert len(seen) == len(set(seen)), "a row came twice"
        assert standing <= set(seen), f"{len(standing - set(seen))} rows were left out"


def reads(database, ask):
    """How many rows the server reads for a request, and how many it sorts. Others read as well, so the least of a few
    counts."""
    def state():
        found = dict(database.run("SHOW GLOBAL STATUS"))
        return sum(int(found[name]) for name in READS), int(found["Sort_rows"])

    def once():
        before = state()
        ask()
        return [after - earlier for after, earlier in zip(state(), before)]
    # The question itself is answered from a table, too.
    asking = min(-(state()[0] - state()[0]) for _ in range(3))
    found = [once() for _ in range(5)]
    return min(read for read, _ in found) - asking, min(sort for _, sort in found)


@pytest.mark.parametrize("table", sorted({listing.table for listing in WAYS.values()}))
def test_a_first_page_of_many_rows_reads_few(accounts, database, boss, table):
    ways = {name: listing for name, listing in WAYS.items() if listing.table == table}
    owner, many = boss, MANY.get(table, MANY_ELSE)
    most = max(ways.values(), key=lambda listing: listing.also is not None)

    def measure():
        return {name: reads(database, lambda listing=listing: page(listing, accounts, owner, limit=25))
                for name, listing in ways.items()}

    with Rows(database, owner, most) as rows:
        rows.add(1000, 999 + FEW)
        before = measure()
        for first in range(1000 + FEW, 1000 + many, PORTION):
            rows.add(first, min(first + PORTION, 1000 + many) - 1)
        for name, (read, sorts) in measure().items():
            print(f"{name}: {read} rows read and {sorts} sorted of {many}, {before[name]} of {FEW}")
            assert read <= min(READ_MAX, GROWTH * before[name][0] + MEANWHILE), f"{name} reads {read} of {many} rows"
            assert sorts <= min(READ_MAX, GROWTH * before[name][1] + MEANWHILE), f"{name} sorts {sorts} rows"
