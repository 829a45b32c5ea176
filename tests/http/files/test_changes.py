# SPDX-License-Identifier: MIT
"""PATCH /system/files/{id} and POST /system/files/{id}/restore: names, tags, and being active again."""

import concurrent.futures
import json

import pytest

from support import files, samples
from support.database import key


def patch(account, identity, body, **arguments):
    return account.patch(f"/system/files/{identity}", json=body, **arguments)


def restore(account, identity, **arguments):
    return account.post(f"/system/files/{identity}/restore", **arguments)


def shown(account, identity):
    """The record as the list has it."""
    return next(item for item in files.listed(account, status="all") if item["id"] == identity)


@pytest.fixture()
def note(keeper):
    """A text file just uploaded: (record, bytes)."""
    data = samples.text()
    return files.upload(keeper, data, "note.txt", tags=["first", "both"]), data


def renamed(record, name):
    return dict(record, info=dict(record["info"], name=name))


# ---- name and tags -------------------------------------------------------------------------------


def test_a_new_name_is_what_every_reader_sees(keeper, note):
    record, data = note
    wanted = renamed(record, "Lieferschein № 7 \"süß\".txt")
    after = patch(keeper, record["id"], {"name": wanted["info"]["name"]}, status=200).json()
    assert files.still(after) == files.still(wanted) and after["updatedAt"] > record["updatedAt"]
    assert shown(keeper, record["id"]) == after and files.info(keeper, record["id"]) == wanted["info"]
    reply = files.download(keeper, record["id"], status=200)
    assert reply.content == data and "Lieferschein%20%E2%84%96%207" in reply.headers["Content-Disposition"]


def test_tags_are_replaced_whole_and_searchable_at_once(keeper, note):
    record, _ = note
    wanted = dict(record, tags=["both", "zwei Wörter", "Both"])
    after = patch(keeper, record["id"], {"tags": wanted["tags"]}, status=200).json()
    assert files.still(after) == files.still(wanted)
    for tag, there in (("first", False), ("both", True), ("Both", True), ("zwei Wörter", True)):
        assert (record["id"] in [item["id"] for item in files.listed(keeper, tag=tag)]) == there, tag
    assert patch(keeper, record["id"], {"tags": []}, status=200).json()["tags"] == []
    assert record["id"] not in [item["id"] for item in files.listed(keeper, tag="both")]


def test_what_is_not_sent_stays(keeper, note):
    record, _ = note
    patch(keeper, record["id"], {"name": "other.txt"}, status=200)
    after = patch(keeper, record["id"], {"tags": ["new"]}, status=200).json()
    assert files.still(after) == files.still(dict(renamed(record, "other.txt"), tags=["new"]))
    again = patch(keeper, record["id"], {"name": "other.txt", "tags": ["new"]}, status=200).json()
    assert files.still(again) == files.still(after)


@pytest.mark.parametrize("name, cleaned", [("../../etc/passwd", "passwd"), ("C:\\temp\\a b.txt", "a b.txt"),
                                           ("  spaced.txt ", "spaced.txt"), ("a\tb\r\nc.txt", "abc.txt"),
                                           ("‮txt.exe.txt", "txt.exe.txt"), ("ä" * 125 + ".txt", None),
                                           ("x" * 251 + ".txt", None)])
def test_a_name_is_cleaned_as_on_upload(keeper, note, name, cleaned):
    record, _ = note
    assert patch(keeper, record["id"], {"name": name}, status=200).json()["info"]["name"] == (cleaned or name)


@pytest.mark.parametrize("body, paths", [
    ({}, {""}), ([], {""}), ({"name": ""}, {"name"}), ({"name": ".."}, {"name"}), ({"name": "///"}, {"name"}),
    ({"name": None}, {"name"}), ({"name": 7}, {"name"}), ({"name": "x" * 256}, {"name"}),
    ({"name": "ä" * 128}, {"name"}), ({"name": "x" * 5000}, {"name"}), ({"tags": None}, {"tags"}),
    ({"tags": "a"}, {"tags"}), ({"tags": [""]}, {"tags[0]"}), ({"tags": ["a", "b", "a"]}, {"tags[2]"}),
    ({"tags": ["a" * 65]}, {"tags[0]"}), ({"tags": ["a\nb"]}, {"tags[0]"}), ({"tags": [1]}, {"tags[0]"}),
    ({"tags": [str(n) for n in range(17)]}, {"tags"}), ({"status": "archived"}, {"status"}),
    ({"name": "", "tags": ["", "x" * 65], "type": "misc"}, {"name", "tags[0]", "tags[1]", "type"})
])
def test_a_bad_patch_names_every_path_and_changes_nothing(keeper, note, body, paths):
    record, _ = note
    patch(keeper, record["id"], body, status=400, code="request.invalid", paths=paths)
    assert shown(keeper, record["id"]) == record


def test_a_name_that_stands_for_another_kind_of_file_is_refused(keeper, stored):
    record, _ = stored
    reply = patch(keeper, record["id"], {"name": "picture.pdf"}, status=400, code="request.invalid", paths={"name"})
    entry = reply.json()["validation"][0]
    assert entry["code"] == "mismatch" and "image/png" in entry["message"] and "pdf" in entry["message"]
    patch(keeper, record["id"], {"name": "picture.PNG"}, status=200)


def test_bytes_that_are_no_text_are_not_named_as_text_afterwards_either(keeper):
    record = files.upload(keeper, samples.noise(64), "noise.bin")
    for name in ("page.html", "noise.txt", "table.CSV"):
        reply = patch(keeper, record["id"], {"name": name}, status=400, code="request.invalid", paths={"name"})
        assert reply.json()["validation"][0]["code"] == "mismatch"
    assert shown(keeper, record["id"]) == record
    patch(keeper, record["id"], {"name": "noise.dat"}, status=200)
    typed = files.upload(keeper, b"#!AMR\n" + samples.noise(200), "voice.amr", content_type="audio/amr")
    patch(keeper, typed["id"], {"name": "voice.html"}, status=400, code="request.invalid", paths={"name"})


def test_text_without_a_type_of_its_own_may_be_named_as_text(keeper):
    record = files.upload(keeper, f"{samples.word()}\r\n\x1a".encode(), "scale.dat")
    patch(keeper, record["id"], {"name": "scale.txt"}, status=200)


def test_a_patch_that_makes_a_duplicate_is_refused_and_names_it(keeper, note):
    record, data = note
    other = files.upload(keeper, data, "other.txt")
    reply = patch(keeper, other["id"], {"name": "note.txt", "tags": ["lost"]}, status=409, code="file.duplicate")
    assert reply.json()["body"]["id"] == record["id"]
    assert shown(keeper, other["id"]) == other
    files.archive(keeper, record["id"], status=200)
    patch(keeper, other["id"], {"name": "note.txt"}, status=200)


def test_of_patches_to_one_name_at_once_one_wins(keeper):
    for _ in range(4):
        data = samples.text()
        records = [files.upload(keeper, data, f"{number}.txt") for number in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda record: patch(keeper, record["id"], {"name": "wanted.txt"}), records))
        assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409]
        won = next(reply.json()["id"] for reply in replies if reply.status_code == 200)
        assert {reply.json()["body"]["id"] for reply in replies if reply.status_code == 409} == {won}


def test_patches_of_different_members_at_once_are_both_kept(keeper, note):
    record, _ = note
    for number in range(5):
        bodies = [{"name": f"round {number}.txt"}, {"tags": [f"t{number}"]}]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for reply in pool.map(lambda body: patch(keeper, record["id"], body), bodies):
                assert reply.status_code == 200
        after = shown(keeper, record["id"])
        assert (after["info"]["name"], after["tags"]) == (f"round {number}.txt", [f"t{number}"])


# ---- restoring -----------------------------------------------------------------------------------


def test_restoring_undoes_archiving(keeper, note):
    record, data = note
    archived = files.archive(keeper, record["id"], status=200).json()
    restored = restore(keeper, record["id"], status=200).json()
    assert files.still(restored) == files.still(record) and restored["archivedAt"] is None
    assert record["updatedAt"] < archived["updatedAt"] < restored["updatedAt"]
    assert files.download(keeper, record["id"], status=200).content == data
    assert shown(keeper, record["id"]) == restored and record["id"] in [r["id"] for r in files.listed(keeper)]
    restore(keeper, record["id"], status=409, code="file.active")
    files.archive(keeper, record["id"], status=200)
    restore(keeper, record["id"], status=200)


def test_an_archived_file_is_not_patched(keeper, note):
    record, _ = note
    files.archive(keeper, record["id"], status=200)
    patch(keeper, record["id"], {"name": "late.txt", "tags": []}, status=409, code="file.archived")
    patch(keeper, record["id"], {"tags": [""]}, status=400, code="request.invalid", paths={"tags[0]"})
    assert files.still(shown(keeper, record["id"])) == files.still(dict(record, status="archived"))


def test_restoring_what_came_again_meanwhile_is_a_duplicate(keeper, note):
    record, data = note
    files.archive(keeper, record["id"], status=200)
    again = files.upload(keeper, data, "note.txt")
    reply = restore(keeper, record["id"], status=409, code="file.duplicate")
    assert reply.json()["body"]["id"] == again["id"]
    files.archive(keeper, again["id"], status=200)
    restore(keeper, record["id"], status=200)
    reply = restore(keeper, again["id"], status=409, code="file.duplicate")
    assert reply.json()["body"]["id"] == record["id"]


def test_of_restoring_and_uploading_the_same_at_once_one_wins(keeper):
    for _ in range(5):
        data = samples.text()
        old = files.upload(keeper, data, "race.txt")
        files.archive(keeper, old["id"], status=200)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tries = [pool.submit(restore, keeper, old["id"]),
                     pool.submit(files.send, keeper, files.form(data, "race.txt")),
                     pool.submit(files.send, keeper, files.form(data, "race.txt"))]
            replies = [future.result() for future in tries]
        assert sorted(reply.status_code for reply in replies) == [200, 409, 409], [r.text for r in replies]
        won = next(reply.json()["id"] for reply in replies if reply.status_code == 200)
        for reply in replies:
            assert reply.status_code == 200 or reply.json()["body"]["id"] == won
        assert [item["id"] for item in files.listed(keeper, name="race.txt", tag="none")] == []


def test_of_restores_at_once_one_wins(keeper):
    for _ in range(4):
        record = files.upload(keeper, samples.text(), "race.txt")
        files.archive(keeper, record["id"], status=200)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            replies = list(pool.map(lambda _, identity=record["id"]: restore(keeper, identity), range(6)))
        assert sorted(reply.status_code for reply in replies) == [200] + [409] * 5
        assert {reply.json()["code"] for reply in replies if reply.status_code == 409} == {"file.active"}


# ---- the person's name ----------------------------------------------------------------------------


def test_the_name_of_the_person_is_the_one_they_have_now(accounts, keeper, database):
    colleague = accounts.user_with("cus:file:w", keeper.organisation["id"])
    record = files.upload(colleague, samples.text(), "theirs.txt")
    keeper.patch(f"/customers/organisations/users/{colleague.id}", json={"firstName": "Änne", "lastName": "Neu"},
                 status=200)
    assert shown(keeper, record["id"])["userName"] == "Änne Neu"
    assert patch(keeper, record["id"], {"tags": ["x"]}, status=200).json()["userName"] == "Änne Neu"
    assert files.archive(keeper, record["id"], status=200).json()["userName"] == "Änne Neu"
    database.run("UPDATE user SET first_name = '', last_name = '' WHERE id = %s", key(colleague.id))
    assert shown(keeper, record["id"])["userName"] is None
    assert restore(keeper, record["id"], status=200).json()["userName"] is None


# ---- who may -------------------------------------------------------------------------------------


def test_a_foreign_and_an_unknown_file_are_one_answer(keeper, other, note, database):
    record, _ = note
    unknown = "01890000-0000-7000-8000-000000000000"
    for change in (lambda identity: patch(other, identity, {"name": "stolen.txt"}),
                   lambda identity: restore(other, identity)):
        answers = [change(identity) for identity in (record["id"], unknown)]
        for reply in answers:
            assert reply.status_code == 400 and reply.json()["code"] == "file.unknown"
        first, second = ({**reply.json(), "body": {}} for reply in answers)
        assert first == second
    assert shown(keeper, record["id"]) == record


def test_the_reader_may_neither_patch_nor_restore(accounts, keeper, note):
    record, _ = note
    reader = accounts.user_with("cus:file:r", keeper.organisation["id"])
    for reply in (patch(reader, record["id"], {"name": "x.txt"}), restore(reader, record["id"])):
        assert reply.status_code == 403 and reply.json()["body"]["required"] == "cus:file:w"


def test_a_colleague_may_change_what_another_uploaded(accounts, keeper, note):
    record, _ = note
    colleague = accounts.user_with("cus:file:w", keeper.organisation["id"])
    after = patch(colleague, record["id"], {"tags": ["seen"]}, status=200).json()
    assert files.still(after) == files.still(dict(record, tags=["seen"]))
    files.archive(colleague, record["id"], status=200)
    assert restore(colleague, record["id"], status=200).json()["userId"] == keeper.id


def trail(database, identity):
    """The audit rows about a file, oldest first: (action, outcome, details, organisation)."""
    rows = database.run(
        "SELECT action, outcome, details, organisation_id FROM audit WHERE target_id = %s ORDER BY id", identity)
    return [(action, outcome, json.loads(details), organisation) for action, outcome, details, organisation in rows]


def test_every_change_leaves_a_row_in_the_trail(keeper, note, database):
    record, _ = note
    patch(keeper, record["id"], {"name": "new.txt", "tags": ["a", "b"]}, status=200)
    files.archive(keeper, record["id"], status=200)
    restore(keeper, record["id"], status=200)
    restore(keeper, record["id"], status=409)
    home = key(keeper.organisation["id"])
    assert trail(database, record["id"]) == [
        ("file.upload", "success", {}, home),
        ("file.update", "success", {"from": "note.txt", "name": "new.txt", "tags": ["a", "b"]}, home),
        ("file.archive", "success", {}, home), ("file.restore", "success", {}, home)]


def test_internal_staff_may_and_the_crossing_is_told(administrator, keeper, note, database):
    record, _ = note
    after = patch(administrator, record["id"], {"tags": ["checked"]}, status=200).json()
    assert files.still(after) == files.still(dict(record, tags=["checked"]))
    files.archive(administrator, record["id"], status=200)
    assert restore(administrator, record["id"], status=200).json()["organisationId"] == keeper.organisation["id"]
    home = key(keeper.organisation["id"])
    rows = trail(database, record["id"])
    assert [row[0] for row in rows] == ["file.upload"] + [
        word for action in ("file.update", "file.archive", "file.restore")
        for word in ("access.crossOrganisation", action)]
    assert {row[3] for row in rows} == {home}
