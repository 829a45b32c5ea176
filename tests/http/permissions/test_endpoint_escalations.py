# SPDX-License-Identifier: MIT
"""Attempts to gain by each endpoint what one does not hold: the table of endpoint_escalations.json. `call` is method
and path; words in braces are ids of this run (support_cast.py)."""

import json
import pathlib
import re

import pytest

from permissions.support_cast import Cast
from support.accounts import fresh_email
from support.client import failing

FLOOR = 60
ATTEMPTS = json.loads(
    (pathlib.Path(__file__).parent / "endpoint_escalations.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cast(accounts, members):
    return Cast(accounts, members)


def test_the_table_is_as_long_as_promised():
    names = [row["name"] for row in ATTEMPTS]
    assert len(set(names)) == len(names) >= FLOOR


@pytest.mark.parametrize("row", ATTEMPTS, ids=[row["name"] for row in ATTEMPTS])
def test_an_attempt_is_refused_and_changes_no_row(cast, document, row):
    if document.operation(*re.sub(r"\{[^}]+\}|\?.*", "", row["call"].replace("/{", "/x{")).split(" ", 1)) is None:
        pytest.skip("the service has no such endpoint")
    caller = cast.people[row["caller"]]
    target = caller if row.get("target", "self") == "self" else cast.whole(row["target"])
    # A sign-in is a row of its own.
    caller.sign_in()
    email = fresh_email("escalated")
    sent = cast.fill({name: row.get(name) for name in ("call", "body")}, caller, target, email)
    method, path = sent["call"].split(" ", 1)
    before = cast.state(caller, target)
    arguments = {"json": sent["body"]} if "body" in row else {}
    reply = caller.api.call(method, path, token=caller.token, headers=row.get("headers"), **arguments)
    assert reply.status_code == row["status"], f"{reply.status_code} {reply.text}"
    if "code" in row:
        assert reply.json()["code"] == row["code"], reply.text
    if "paths" in row:
        assert set(failing(reply)) >= set(row["paths"]), reply.text
    assert cast.state(caller, target) == before, "the refused call has changed a row"
    for table, column in (("user", "email"), ("identity_account", "username")):
        assert not cast.database.run(f"SELECT 1 FROM `{table}` WHERE {column} = %s", email)
