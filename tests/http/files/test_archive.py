# SPDX-License-Identifier: MIT
"""DELETE /system/files/{id} archives: the bytes stay, nobody gets them."""

import concurrent.futures

from support import files, samples
from support.runs.effort import cases


def test_archiving_answers_the_record_with_status_archived(keeper, stored):
    record, _ = stored
    after = files.archive(keeper, record["id"], status=200).json()
    assert files.still(after) == files.still(dict(record, status="archived"))
    assert after["archivedAt"] == after["updatedAt"] > record["updatedAt"] and record["archivedAt"] is None


def test_an_archived_file_is_not_downloaded_and_not_archived_again(keeper, stored):
    record, _ = stored
    files.archive(keeper, record["id"], status=200)
    for _ in range(3):
        files.download(keeper, record["id"], status=409, code="file.archived")
        files.archive(keeper, record["id"], status=409, code="file.archived")
    keeper.api.head(f"/system/files/{record['id']}", token=keeper.token, status=409)


def test_no_condition_and_no_range_reaches_an_archived_file(keeper, stored):
    record, _ = stored
    tag = f'"{record["info"]["hash"]}"'
    files.archive(keeper, record["id"], status=200)
    for headers in ({"Range": "bytes=0-1"}, {"If-None-Match": tag}, {"If-Match": tag}):
        files.download(keeper, record["id"], headers=headers, status=409, code="file.archived")


def test_info_of_an_archived_file_still_answers(keeper, stored):
    record, _ = stored
    files.archive(keeper, record["id"], status=200)
    assert files.info(keeper, record["id"]) == record["info"]


def test_the_bytes_of_an_archived_file_are_kept(keeper, stack, stored):
    record, data = stored
    before = stack.blob_files()
    files.archive(keeper, record["id"], status=200)
    assert stack.blob_files() == before and len(data) in before.values()


def test_the_list_moves_it_from_active_to_archived(keeper, stored):
    record, _ = stored

    def where():
        return {
            status: record["id"] in [item["id"] for item in files.listed(keeper, status=status)]
            for status in ("active", "archived", "all")
        }

    assert where() == {"active": True, "archived": False, "all": True}
    files.archive(keeper, record["id"], status=200)
    assert where() == {"active": False, "archived": True, "all": True}
    assert record["id"] not in [item["id"] for item in files.listed(keeper)]


def test_the_same_file_may_come_again_after_archiving(keeper, stored):
    record, data = stored
    files.archive(keeper, record["id"], status=200)
    again = files.upload(keeper, data, "picture.png", bucket="images", kind="image")
    assert again["id"] != record["id"] and files.download(keeper, again["id"], status=200).content == data


def test_of_archives_at_once_one_wins(keeper):
    for _ in range(cases(5, 500)):
        record = files.upload(keeper, samples.text(), "race.txt")
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers = sorted(
                pool.map(lambda _, identity=record["id"]: files.archive(keeper, identity).status_code,
                         range(6)))
        assert answers == [200] + [409] * 5


def test_of_equal_uploads_at_once_one_wins(keeper):
    for _ in range(cases(5, 500)):
        form = files.form(samples.text(), "race.txt")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _, parts=form: files.send(keeper, parts), range(4)))
        assert sorted(reply.status_code for reply in answers) == [200, 409, 409, 409]
        won = next(reply.json()["id"] for reply in answers if reply.status_code == 200)
        assert {reply.json()["body"]["id"] for reply in answers if reply.status_code == 409} == {won}


def test_a_download_while_archiving_is_whole_or_refused(keeper):
    data = samples.noise(500_000)
    for _ in range(cases(5, 500)):
        record = files.upload(keeper, data, "race.bin")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            fetched = [pool.submit(files.download, keeper, record["id"]) for _ in range(3)]
            files.archive(keeper, record["id"], status=200)
        for reply in (future.result() for future in fetched):
            assert (reply.status_code, reply.content == data) in ((200, True), (409, False))


def test_the_reader_may_not_archive(accounts, keeper, stored):
    record, _ = stored
    reader = accounts.user_with("cus:file:r", keeper.organisation["id"])
    files.archive(reader, record["id"], status=403, code="auth.permission")
    assert files.info(reader, record["id"]) == record["info"]
