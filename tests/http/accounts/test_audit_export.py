# SPDX-License-Identifier: MIT
"""Exports of the audit trail: the same rows as text/csv and application/x-ndjson, as many as there are, in constant
memory, and never a part that looks like the whole."""

import concurrent.futures
import csv
import io
import json
import pathlib
import re
import time
import uuid

import pymysql
import pytest

from accounts.test_audit_owners import OWN, rows
from accounts.test_audit_trail import AUDIT, ITEM
from support.database import key
from support.programs import crash, system
from support.runs import effort
from support.stack import wait_until
from support.wire import fastcgi_client

CSV, NDJSON = "text/csv", "application/x-ndjson"
MOST = 100_000
MEBIBYTE = 1 << 20


def export(account, accept, path=OWN, **parameters):
    return account.get(path, params=parameters, headers={"Accept": accept}, status=200)


def lines(reply):
    """The rows of NDJSON."""
    assert reply.headers["Content-Type"] == NDJSON
    return [json.loads(line) for line in reply.content.decode().splitlines()]


def table(reply):
    """The rows of CSV, as the items would be."""
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert reply.content.endswith(b"\r\n")
    found = list(csv.DictReader(io.StringIO(reply.content.decode(), newline=""), strict=True))
    assert found == [] or set(found[0]) == ITEM
    return [{**{name: value or None for name, value in row.items()}, "details": json.loads(row["details"])}
            for row in found]


def fill(database, organisation, count, details="{}"):
    """So many rows of an organisation, one a millisecond, the last one newest."""
    database.run(
        "INSERT INTO audit (id, at, action, organisation_id, target_type, target_id, client_address, request_id,"
        " outcome, details) SELECT"
        " UNHEX(CONCAT(LPAD(HEX(1500000000000 + seq), 12, '0'), '7000', 'a000', RIGHT(HEX(%s), 12))),"
        " '2017-07-14 02:40:00', 'user.login', %s, 'user', UUID(), '192.0.2.1', CONCAT('request-', seq), 'success', %s"
        f" FROM seq_1_to_{count}", key(organisation), key(organisation), details)


@pytest.fixture()
def filled(accounts, database):
    """A customer with a given number of old rows; they go afterwards."""
    made = []

    def fill_some(count):
        customer = accounts.customer()
        fill(database, customer.organisation["id"], count)
        made.append(customer.organisation["id"])
        return customer

    yield fill_some
    for organisation in made:
        database.run("DELETE FROM audit WHERE organisation_id = %s AND at = '2017-07-14 02:40:00'", key(organisation))


def test_an_export_has_the_rows_of_the_list(customer, administrator, document):
    identity = f"-{uuid.uuid4()}"
    customer.get("/customers/organisations/users/x", headers={"X-Request-Id": identity}, status=400)
    administrator.get(f"/customers/organisations/users/{customer.id}", status=200,
                      headers={"X-Request-Id": identity, "X-Reason": 'He said "a,b";\xa0'.strip("\xa0").encode()})
    wanted = rows(customer)
    reply = export(customer, NDJSON)
    schema = document.operation("GET", OWN)["responses"]["200"]["content"]["application/json"]["schema"]
    for line in lines(reply):
        document.validate({"items": [line], "nextCursor": None}, schema)
    assert lines(reply) == wanted and "X-Next-Cursor" not in reply.headers
    reply = export(customer, CSV)
    # A cell that begins with a hyphen would be calculated: it has an apostrophe in front.
    assert f",'{identity},".encode() in reply.content
    assert [{**row, "requestId": row["requestId"] and row["requestId"].lstrip("'")} for row in table(reply)] == wanted
    for form, kind in ((CSV, "csv"), (NDJSON, "ndjson")):
        reply = export(customer, form)
        day = time.strftime("%Y-%m-%d", time.gmtime())
        disposition = reply.headers["Content-Disposition"]
        assert re.fullmatch(rf'attachment; filename="audit-{day[:8]}\d\d\.{kind}"', disposition)
        assert reply.headers["Cache-Control"] == "no-store" and "Accept" in reply.headers["Vary"]


def test_internal_staff_export_everything_or_one_organisation(administrator, customer, database):
    organisation = customer.organisation["id"]
    own = rows(customer)
    told = lines(export(administrator, NDJSON, AUDIT, organisationId=organisation))
    assert told == own
    # Looking at it is a row, which comes after what was looked at.
    assert rows(customer)[0]["action"] == "access.crossOrganisation"
    everything = table(export(administrator, CSV, AUDIT, limit="50"))
    assert len(everything) == min(50, database.run("SELECT COUNT(*) FROM audit")[0][0])
    assert len({row["organisationId"] for row in everything}) > 1
    customer.get(AUDIT, headers={"Accept": CSV}, status=403, code="auth.permission")
    administrator.get(AUDIT, params={"limit": "0"}, headers={"Accept": CSV}, status=400, paths={"limit"})


@pytest.mark.parametrize("accept, kind", [
    (None, "application/json"), ("*/*", "application/json"), ("application/json", "application/json"),
    ("text/html", "application/json"), ("text/csv", CSV), ("TEXT/CSV", CSV), ("text/*", CSV), (NDJSON, NDJSON),
    ("text/csv, */*;q=0.1", CSV), ("text/csv;q=0.5, application/x-ndjson", NDJSON),
    ("text/csv;q=0", "application/json"),
    ("text/csv;q=0.3, application/json;q=0.4", "application/json"), ("application/json;q=0, */*", CSV),
    ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"), ("text/csv;q=1.5", "application/json")
])
def test_the_form_is_the_one_that_the_client_accepts(owner, accept, kind):
    reply = owner.get(OWN, params={"limit": "2"}, headers={"Accept": accept}, status=200)
    assert reply.headers["Content-Type"].split(";")[0] == kind
    assert len(reply.content) > 0 and reply.headers["Vary"].split(",")[0] == "Accept"
    head = owner.api.head(f"{OWN}?limit=2", token=owner.token, headers={"Accept": accept}, status=200)
    for name in ("Content-Type", "Content-Disposition", "Vary", "X-Next-Cursor"):
        assert head.headers.get(name) == reply.headers.get(name)


def test_what_an_export_leaves_out_is_told_and_can_be_asked_for(filled):
    customer = filled(450)
    wanted = rows(customer)
    found, cursor = [], None
    for _ in range(20):
        parameters = {"limit": "97", **({"cursor": cursor} if cursor else {})}
        reply = export(customer, CSV if len(found) % 2 else NDJSON, **parameters)
        page = table(reply) if len(found) % 2 else lines(reply)
        assert 1 <= len(page) <= 97
        found += page
        cursor = reply.headers.get("X-Next-Cursor")
        if cursor is None:
            break
        assert len(page) == 97 and cursor == page[-1]["id"]
    assert [row["id"] for row in found] == [row["id"] for row in wanted]
    # Pages of the list and of an export go on behind each other, and filters hold for all of it.
    page = customer.get(OWN, params={"limit": "100"}, status=200).json()
    assert page["items"] + lines(export(customer, NDJSON, cursor=page["nextCursor"])) == wanted
    old = [row for row in wanted if row["at"] < "2018"]
    assert lines(export(customer, NDJSON, until="2018-01-01T00:00:00Z")) == old and len(old) == 450
    assert lines(export(customer, NDJSON, requestId="request-7")) == [old[450 - 7]]
    assert lines(export(customer, NDJSON, outcome="failure", until="2018-01-01T00:00:00Z")) == []
    assert table(export(customer, CSV, outcome="failure", until="2018-01-01T00:00:00Z")) == []


def private_bytes(pid):
    """The memory that the process shares with nobody."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return 1024 * sum(int(size) for size in re.findall(r"^Private_\w+: +(\d+) kB$", text, re.MULTILINE))


def test_memory_does_not_grow_with_the_rows_and_the_most_rows_are_told(stack, filled, tmp_path):
    """All of it in tools/test full; else a tenth of the rows, which is fifty times the page that is read at once."""
    count = effort.cases(MOST // 10, MOST + 5)
    customer = filled(count)
    parameters = "?until=2018-01-01T00:00:00Z"
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics") as worker:
        for accept in (CSV, NDJSON):
            answer = worker.call("GET", stack.prefix + OWN + parameters + "&limit=100", token=customer.token,
                                 headers={"Accept": accept})
            assert answer.status == 200
        before = private_bytes(worker.process.pid)
        for accept in (NDJSON, CSV):
            answer = worker.call("GET", stack.prefix + OWN + parameters, token=customer.token,
                                 headers={"Accept": accept}, timeout=300.0)
            body = answer.body.decode()
            told = body.count("\n") - (accept == CSV)
            assert answer.status == 200 and answer.ended and told == min(count, MOST)
            assert (answer.headers["X-Next-Cursor"] is not None) == (count > MOST)
            if count > MOST:
                assert answer.headers["X-Next-Cursor"] in body.splitlines()[-1]
            grown = private_bytes(worker.process.pid) - before
            # A sanitizer keeps what is freed for a while.
            assert crash.sanitized(stack) or grown <= MEBIBYTE, f"{accept}: {grown} bytes more for {count} rows"


def begin_export(worker, stack, customer, accept=NDJSON):
    """A connection on which an export was asked for."""
    connection = worker.connect(60.0)
    values = fastcgi_client.environment("GET", f"{stack.prefix}{OWN}?until=2018-01-01T00:00:00Z",
                                        headers={"Authorization": f"Bearer {customer.token}", "Accept": accept})
    connection.send(fastcgi_client.begin() + fastcgi_client.stream(fastcgi_client.PARAMS, fastcgi_client.pairs(values))
                    + fastcgi_client.stream(fastcgi_client.STDIN, b""))
    return connection


def test_a_reader_that_does_not_read_or_leaves_holds_no_worker(stack, filled, tmp_path):
    customer = filled(10_000)
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics", service_io_timeout_seconds=1) as worker:
        with begin_export(worker, stack, customer) as silent:
            assert silent.next()[2].startswith(b"Status: 200")
            started = time.monotonic()
            assert worker.call("GET", stack.prefix + "/customers/me", token=customer.token).status == 200
            assert time.monotonic() - started < 30
            rest = silent.answer()
            # What had been sent is there, and the end of the reply is not.
            assert not rest.ended
        with begin_export(worker, stack, customer) as gone:
            assert gone.next()[2].startswith(b"Status: 200")
        assert worker.call("GET", stack.prefix + "/customers/me", token=customer.token).status == 200
        assert worker.process.poll() is None


def test_an_export_that_breaks_off_does_not_look_complete(stack, filled, tmp_path):
    customer = filled(10_000)
    own = pymysql.connect(unix_socket=stack.database["socket"], user=stack.database["user"],
                          database=stack.database["name"], autocommit=True)
    with own, own.cursor() as cursor, \
            system.worker(stack, metrics_file=f"{tmp_path}/metrics", database_query_timeout_seconds=5,
                          cache_size_mib=0) as worker, begin_export(worker, stack, customer) as connection:
        assert connection.next()[2].startswith(b"Status: 200")
        # The worker has sent what fits between the two, and waits. The next page cannot be read.
        cursor.execute("LOCK TABLES audit WRITE")
        try:
            answer = connection.answer()
        finally:
            cursor.execute("UNLOCK TABLES")
        assert not answer.ended and answer.output.count(b"\n") < 10_000
        wait_until(lambda: worker.call("GET", stack.prefix + OWN, token=customer.token).status == 200, 30,
                   "the worker to serve again")


# The worker's statement has waited for the table for so long.
WAITS = ("SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table%%' AND time_ms > 5000"
         " AND info LIKE '%%FROM audit%%'")


def test_an_export_whose_rows_come_slowly_is_whole(stack, filled, database, tmp_path):
    """A client that takes the bytes as they come is not cut off because the database is slow."""
    customer = filled(10_000)
    own = database.fresh()
    with own, own.cursor() as cursor, \
            system.worker(stack, metrics_file=f"{tmp_path}/metrics", service_io_timeout_seconds=3,
                          database_query_timeout_seconds=40, cache_size_mib=0) as worker, \
            begin_export(worker, stack, customer) as connection, \
            concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = connection.next()[2]
        cursor.execute("LOCK TABLES audit WRITE")
        try:
            rest = pool.submit(connection.answer)
            wait_until(lambda: database.run(WAITS), 30, "the export to wait for the table", 0.1)
        finally:
            cursor.execute("UNLOCK TABLES")
        answer = rest.result()
    assert answer.ended and (first + answer.output).count(b'"action":"user.login"') == 10_000


def test_rows_that_come_meanwhile_are_not_in_the_export(stack, filled, database, tmp_path):
    customer = filled(3_000)
    with system.worker(stack, metrics_file=f"{tmp_path}/metrics") as worker, \
            begin_export(worker, stack, customer) as connection:
        first = connection.next()[2]
        assert first.startswith(b"Status: 200")
        fill_later = "INSERT INTO audit (id, at, action, organisation_id, outcome) SELECT" \
            " UNHEX(CONCAT(LPAD(HEX(1500000003000 + seq), 12, '0'), '7000', 'b000', RIGHT(HEX(%s), 12)))," \
            " '2017-07-14 02:40:00', 'user.logout', %s, 'success' FROM seq_1_to_50"
        database.run(fill_later, key(customer.organisation["id"]), key(customer.organisation["id"]))
        answer = connection.answer()
        text = (first + answer.output).decode()
        assert answer.ended and text.count('"action":"user.login"') == 3_000 and "user.logout" not in text
