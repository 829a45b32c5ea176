# SPDX-License-Identifier: MIT
"""What a refused change of the settings says: which version does not match and why, which entries are wrong, and what
is to be done with a row that nobody can go beyond."""

import pytest

from settings.test_document import etag, put_back, version  # noqa: F401 # fixture
from support import settings
from support.programs import operator


@pytest.mark.parametrize("form, why", [
    ('"0"', "Somebody changed"), ('"0", "1"', "Somebody changed"), ("W/{0}", "in quotes, without W/"),
    ("{1}", "in quotes, without W/"), ("w/{0}", "in quotes, without W/"), ('"0" "1"', "in quotes, without W/"),
    (",", "in quotes, without W/")
])
def test_a_value_that_can_never_match_is_told_apart_from_a_stale_one(administrator, form, why):
    tag = etag(administrator)
    reply = settings.put(administrator, etag=form.format(tag, version(tag)), level="info", status=409)
    assert reply.json()["code"] == "settings.stale" and why in reply.json()["message"], reply.text


@pytest.mark.parametrize("text, said", [
    ("*=warn,nope=debug", ", entry 2"), ("files=loud, blob=warn,nope=debug,mail", ", entries 1, 3, 4"),
    ("files=debug,,blob=warn", ", entry 2"), ("," * 40, ", entries 1, 2, 3, 4, 5, 6, 7, 8, 9, 10")
])
def test_the_wrong_entries_of_a_filter_are_counted_out_and_not_repeated(administrator, text, said):
    reply = administrator.put(settings.PATH, json={"logging": {"filter": text}}, status=400)
    (entry, ) = reply.json()["validation"]
    assert entry["message"].endswith(said) and "nope" not in reply.text and "loud" not in reply.text


def test_behind_the_highest_version_there_is_none(stack, administrator, database):
    """A row that somebody typed in. Who looks into the log learns what to do."""
    before = etag(administrator)
    database.run("INSERT INTO settings (version, document) VALUES (9007199254740990, '{\"logging\":{\"level\":\"info\","
                 "\"filter\":\"\"}}')")
    try:
        settings.put(administrator, level="info", status=500)
        done = operator.run(stack, "settings", "set", "--level", "info", status=None)
        assert done.returncode == 1 and "delete it" in done.stderr, done.stderr
    finally:
        database.run("DELETE FROM settings WHERE version = 9007199254740990")
    settings.put(administrator, level="info")
    assert version(etag(administrator)) == version(before) + 1
