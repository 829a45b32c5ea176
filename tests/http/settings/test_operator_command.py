# SPDX-License-Identifier: MIT
"""gatehousectl settings: the operator reads the document, changes it, goes back to a version and reads the history."""

import json

import pytest

from settings.test_document import LEVELS, damage, etag, put_back, version  # noqa: F401 # put_back is a fixture
from support import settings


def test_the_operator_reads_and_changes_the_settings(stack, administrator):
    assert json.loads(settings.ctl(stack, "get")) == {"logging": settings.QUIET}
    settings.ctl(stack, "set", "--filter", "files=debug, *=warn")
    assert settings.get(administrator) == {"level": "info", "filter": "files=debug, *=warn"}
    settings.ctl(stack, "set", "--level=error")
    assert json.loads(settings.ctl(stack, "get")) == {"logging": {"level": "error", "filter": "files=debug, *=warn"}}
    newest = settings.history(administrator)[0]
    assert newest["userId"] is None
    tag = version(etag(administrator))
    settings.ctl(stack, "set", "--level", "info", "--if-version", str(tag))
    assert "changed" in settings.ctl(stack, "set", "--level", "info", "--if-version", str(tag), status=1)


def test_the_operator_goes_back_to_a_version(stack, administrator, database):
    good = version(settings.put(administrator, level="warn", filter="blob=trace").headers["ETag"])
    settings.put(administrator, level="error", filter="")
    settings.ctl(stack, "rollback", str(good))
    assert settings.get(administrator) == {"level": "warn", "filter": "blob=trace"}
    assert version(etag(administrator)) == good + 2
    rows = administrator.get("/system/audit", params={"action": "settings.update"}, status=200).json()["items"]
    assert rows[0]["details"]["rollbackTo"] == good and rows[0]["userId"] is None
    broken = damage(database, "broken")
    for number in (str(broken), "999999999"):
        assert "version" in settings.ctl(stack, "rollback", number, status=1)


def test_the_operator_reads_the_history(stack, administrator):
    for level in LEVELS:
        settings.put(administrator, level=level)
    lines = settings.ctl(stack, "history", "--limit", "6").splitlines()
    assert len(lines) == 7
    for line, item in zip(lines[1:], settings.history(administrator)):
        assert line.split()[0] == str(item["version"]) and item["at"] in line and administrator.id in line
        assert f'"level":"{item["settings"]["logging"]["level"]}"' in line
    whole = settings.ctl(stack, "history", "--limit", "1000").splitlines()
    assert len(whole) == len(settings.history(administrator)) + 1


@pytest.mark.parametrize("words, status",
                         [(["set", "--level", "loud"], 1), (["set", "--filter", "nope=debug"], 1), (["set"], 2),
                          (["set", "--colour", "red"], 2), (["rollback"], 2), (["rollback", "x"], 2),
                          (["rollback", "0"], 2),
                          (["history", "--limit", "0"], 2), (["get", "more"], 2), (["forget"], 2), ([], 2),
                          (["set", "--level", "info", "--if-version", "x"], 2),
                          (["set", "--level", "info", "more"], 2)])
def test_the_operators_mistakes_are_told_and_change_nothing(stack, administrator, words, status):
    before = etag(administrator)
    assert settings.ctl(stack, *words, status=status)
    assert etag(administrator) == before
