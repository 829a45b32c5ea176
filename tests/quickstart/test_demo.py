# SPDX-License-Identifier: MIT
"""tools/quickstart --demo: the first look shows something, and it is the same at the next start."""

import collections
import subprocess

from test_life import KEYS, ask

PEOPLE = {"olivia": ["owner", "inv-manage", "log-manage"], "walter": ["inv-manage"], "lena": ["log-manage"],
          "carl": [], "ada": [], "nina": []}
FILES = 40
KINDS = {"application/pdf": 13, "image/png": 10, "text/csv": 12, "text/plain": 5}


def everything(quickstart, path, token):
    """All items of a list."""
    found, cursor = [], ""
    while True:
        status, reply = ask(quickstart, "GET", f"{path}?limit=100{cursor}", token=token)
        assert status == 200, reply
        found += reply["items"]
        if not reply["nextCursor"]:
            return found
        cursor = f"&cursor={reply['nextCursor']}"


def owner_token(quickstart):
    """The access token of the example's owner, with what quickstart.json says."""
    status, reply = ask(quickstart, "POST", "/customers/login", quickstart.facts()["demo"])
    assert status == 200, reply
    return reply["tokens"]["accessToken"]


def test_the_example_has_people_with_roles_and_forty_files(quickstart):
    began = quickstart.start("--demo")
    facts = quickstart.facts()
    assert set(facts) == KEYS | {"demo"}
    assert facts["demo"]["username"] in began.stdout and facts["demo"]["password"] in began.stdout
    files = has_the_example(quickstart)
    assert collections.Counter(one["info"]["contentType"] for one in files) == KINDS
    assert len({one["userId"] for one in files}) == 4
    assert sum(len(one["tags"]) for one in files) > FILES
    assert kinds_of_stored(quickstart) >= collections.Counter({"application/pdf": 13, "image/png": 10})


def has_the_example(quickstart):
    """People, roles and files are there, and the people sign in; returns the files."""
    token = owner_token(quickstart)
    people = everything(quickstart, "/customers/organisations/users", token)
    assert {one["email"].split("@")[0]: one["roles"] for one in people} == PEOPLE
    assert [one["email"].split("@")[0] for one in people if one["status"] != "active"] == ["nina"]
    files = everything(quickstart, "/system/files", token)
    assert len(files) == FILES
    return files


def kinds_of_stored(quickstart):
    """What another program takes the stored bytes for."""
    stored = [path for path in (quickstart.state / "data" / "files").rglob("*") if path.is_file()]
    said = subprocess.run(["file", "--brief", "--mime-type", *stored], stdout=subprocess.PIPE, text=True, check=True)
    return collections.Counter(said.stdout.split())


def test_later_starts_find_the_example_and_make_whole_what_was_broken_off(quickstart):
    quickstart.start("--demo")
    before = quickstart.facts()["demo"]
    quickstart.stop()
    for broken_off in (False, True):
        if broken_off:
            (quickstart.state / "secrets" / "demo-made").unlink()
        quickstart.start("--demo")
        assert quickstart.facts()["demo"] == before
        token = owner_token(quickstart)
        assert len(everything(quickstart, "/system/files", token)) == FILES
        assert len(everything(quickstart, "/customers/organisations/users", token)) == len(PEOPLE)
        quickstart.stop()
