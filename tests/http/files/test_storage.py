# SPDX-License-Identifier: MIT
"""What files take up: quotas of organisations, and bytes that are stored once."""

import concurrent.futures
import json
import os
import uuid

import pytest

from support import files, multipart, samples
from support.database import key
from support.files import blob
from support.multipart import Part
from support.programs import operator
from support.programs.system import worker
from support.stack import wait_until


def set_quota(database, account, bytes_=None, count=None):
    database.run("UPDATE organisation SET quota_bytes = %s, quota_files = %s WHERE id = %s", bytes_, count,
                 key(account.organisation["id"]))


def usage(database, account):
    """(bytes, files) as the service counts, and as the rows add up to."""
    home = key(account.organisation["id"])
    counted = database.run("SELECT bytes, files FROM file_usage WHERE organisation_id = %s", home)
    rows = database.run("SELECT COALESCE(SUM(size), 0), COUNT(*) FROM file WHERE organisation_id = %s", home)
    return (counted[0] if counted else (0, 0)), (int(rows[0][0]), rows[0][1])


def assert_counted(database, account, total, count):
    assert usage(database, account) == ((total, count), (total, count))


def of_organisation(stack, account):
    """The bytes' inodes of every file of an organisation, with how many names each has."""
    found = {}
    for record in files.listed(account, status="all"):
        status = os.stat(blob(stack, record["id"]))
        found.setdefault(status.st_ino, []).append(status.st_nlink)
    return found


# ---- quotas --------------------------------------------------------------------------------------


def test_a_quota_of_bytes_holds_to_the_byte(customer, database):
    files.upload(customer, b"x" * 60, "60.txt")
    set_quota(database, customer, bytes_=100)
    files.send(customer, files.form(b"y" * 41, "41.txt"), status=409, code="quota.exceeded")
    files.upload(customer, b"z" * 40, "40.txt")
    files.send(customer, files.form(b"a", "1.txt"), status=409, code="quota.exceeded")
    assert_counted(database, customer, 100, 2)


def test_a_quota_of_files_holds_to_the_file(customer, database):
    set_quota(database, customer, count=2)
    several = [Part("bucket", "files"), Part("type", "misc")] + [Part("file", samples.text(), f"{n}.txt")
                                                                 for n in range(3)]
    files.send(customer, several, status=409, code="quota.exceeded")
    assert files.listed(customer, status="all") == []
    files.send(customer, several[:4], status=200)
    files.send(customer, files.form(b"a", "1.txt"), status=409, code="quota.exceeded")
    set_quota(database, customer)
    files.upload(customer, b"a", "1.txt")
    assert usage(database, customer)[0][1] == 3


def test_what_is_refused_leaves_nothing(customer, database, stack):
    set_quota(database, customer, bytes_=10)
    before = stack.blob_files().keys()
    for _ in range(3):
        files.send(customer, files.form(samples.noise(5000), "big.bin"), status=409, code="quota.exceeded")
    assert stack.blob_files().keys() == before and files.listed(customer, status="all") == []
    assert_counted(database, customer, 0, 0)


def test_archived_files_count_and_restoring_takes_no_more(customer, database):
    data = samples.text()
    record = files.upload(customer, data, "a.txt")
    files.archive(customer, record["id"], status=200)
    set_quota(database, customer, bytes_=len(data), count=1)
    files.send(customer, files.form(b"a", "1.txt"), status=409, code="quota.exceeded")
    assert_counted(database, customer, len(data), 1)
    customer.post(f"/system/files/{record['id']}/restore", status=200)
    customer.patch(f"/system/files/{record['id']}", json={"name": "b.txt"}, status=200)
    assert_counted(database, customer, len(data), 1)


def test_a_duplicate_or_a_bad_file_counts_nothing(customer, database):
    data = samples.text()
    files.upload(customer, data, "a.txt")
    files.send(customer, files.form(data, "a.txt"), status=409, code="file.duplicate")
    files.send(customer, files.form(b"", "empty.txt"), status=400)
    assert_counted(database, customer, len(data), 1)


def test_one_organisation_s_quota_is_no_other_s(customer, owner, database):
    set_quota(database, customer, bytes_=0, count=0)
    files.send(customer, files.form(b"a", "1.txt"), status=409, code="quota.exceeded")
    files.upload(owner, samples.text(), "fits.txt")


@pytest.mark.parametrize("bytes_, count, fits", [(7300, None, 73), (None, 41, 41), (7350, 99, 73)])
def test_of_a_hundred_uploads_at_once_just_those_that_fit_are_stored(accounts, database, stack, bytes_, count, fits):
    account = accounts.customer()
    assert account.token
    set_quota(database, account, bytes_, count)

    def send(number):
        return files.send(account, files.form(f"{number:04d}".encode() * 25, f"{number}.txt"), timeout=120)

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        replies = list(pool.map(send, range(100)))
    stored = {reply.json()["id"] for reply in replies if reply.status_code == 200}
    refused = [reply.json()["code"] for reply in replies if reply.status_code != 200]
    assert len(stored) == fits and set(refused) == {"quota.exceeded"}, refused
    assert {record["id"] for record in files.listed(account, status="all")} == stored
    assert all(blob(stack, identity).exists() for identity in stored)
    assert_counted(database, account, fits * 100, fits)


def test_a_file_over_the_bound_is_413_and_one_of_the_bound_is_not(stack, keeper):
    """The web server's own bound lies above; a worker of the test's own has a small one."""
    most = 100_000
    mark = multipart.boundary()

    def send(process, *sizes):
        parts = [Part("bucket", "files"), Part("type", "misc")]
        parts += [Part("file", samples.noise(size), f"{number}.bin") for number, size in enumerate(sizes)]
        return process.call("POST", f"{stack.prefix}/system/files", token=keeper.token,
                            body=multipart.encode(parts, mark), content_type=multipart.content_type(mark))

    before = stack.blob_files().keys()
    with worker(stack, service_max_file_bytes=most) as process:
        for sizes, path in (((most + 1,), "file[0]"), ((10, 20, most * 2), "file[2]")):
            reply = send(process, *sizes)
            assert reply.status == 413
            body = json.loads(reply.body)
            assert body["code"] == "request.tooLarge" and [entry["path"] for entry in body["validation"]] == [path]
        assert stack.blob_files().keys() == before
        assert send(process, most, most).status == 200


# ---- bytes stored once ---------------------------------------------------------------------------


@pytest.mark.directory
def test_the_same_bytes_are_stored_once_inside_an_organisation(accounts, customer, stack, database):
    colleague = accounts.user_with("cus:file:w", customer.organisation["id"])
    data = samples.noise(50_000)
    made = [files.upload(customer, data, "a.bin"), files.upload(customer, data, "b.bin"),
            files.upload(customer, data, "a.bin", kind="contract"), files.upload(colleague, data, "a.bin")]
    assert of_organisation(stack, customer) == {os.stat(blob(stack, made[0]["id"])).st_ino: [4] * 4}
    for record in made:
        assert files.download(customer, record["id"], status=200).content == data
        assert record["info"]["hash"] == files.sha256(data)
    assert_counted(database, customer, 4 * len(data), 4)


@pytest.mark.directory
def test_the_same_bytes_twice_in_one_request_are_stored_once(customer, stack):
    data, other = samples.noise(9000), samples.noise(9000)
    parts = [Part("bucket", "files"), Part("type", "misc"), Part("file", data, "a.bin"), Part("file", other, "b.bin"),
             Part("file", data, "c.bin")]
    records = files.send(customer, parts, status=200).json()
    inodes = [os.stat(blob(stack, record["id"])).st_ino for record in records]
    assert inodes[0] == inodes[2] != inodes[1]
    for record, wanted in zip(records, (data, other, data)):
        assert files.download(customer, record["id"], status=200).content == wanted


@pytest.mark.inode
def test_bytes_are_never_shared_across_organisations(customer, other, stack):
    data = samples.noise(9000)
    mine, theirs = files.upload(customer, data, "a.bin"), files.upload(other, data, "a.bin")
    paths = [blob(stack, record["id"]) for record in (mine, theirs)]
    assert [os.stat(path).st_nlink for path in paths] == [1, 1]
    assert os.stat(paths[0]).st_ino != os.stat(paths[1]).st_ino


@pytest.mark.directory
def test_each_name_lives_and_dies_alone(customer, stack):
    data = samples.noise(9000)
    first, second = (files.upload(customer, data, name) for name in ("a.bin", "b.bin"))
    files.archive(customer, first["id"], status=200)
    os.unlink(blob(stack, first["id"]))  # as a purge would
    assert files.download(customer, second["id"], status=200).content == data
    third = files.upload(customer, data, "c.bin")  # archived bytes count as there, gone ones do not
    assert os.stat(blob(stack, third["id"])).st_ino == os.stat(blob(stack, second["id"])).st_ino


@pytest.mark.inode
@pytest.mark.parametrize("fault", ["gone", "cut", "flipped", "other"])
def test_bytes_that_went_or_changed_meanwhile_are_not_linked(customer, stack, fault):
    """A purge may come between looking the bytes up and linking them; the upload keeps its own then."""
    data = samples.noise(9000)
    first = files.upload(customer, data, "a.bin")
    path = blob(stack, first["id"])
    os.rename(path, f"{path}.aside")
    if fault == "cut":
        with open(path, "wb") as file:
            file.write(data[:-1])
    elif fault == "flipped":
        with open(path, "wb") as file:
            file.write(data[:-1] + bytes([data[-1] ^ 1]))
    elif fault == "other":
        os.symlink(f"{path}.aside", path)
    try:
        second = files.upload(customer, data, "b.bin")
        assert files.download(customer, second["id"], status=200).content == data
        assert os.stat(blob(stack, second["id"])).st_nlink == 1
    finally:
        os.replace(f"{path}.aside", path)
    assert files.download(customer, first["id"], status=200).content == data


@pytest.mark.inode
def test_a_second_name_looks_young_to_whoever_clears_away(customer, stack):
    data = samples.noise(9000)
    first = files.upload(customer, data, "a.bin")
    os.utime(blob(stack, first["id"]), (0, 0))
    second = files.upload(customer, data, "b.bin")
    now = os.stat(blob(stack, files.upload(customer, samples.noise(10), "clock.bin")["id"])).st_mtime
    assert now - os.stat(blob(stack, second["id"])).st_mtime < 3600


@pytest.mark.inode
def test_a_name_that_a_crash_left_goes_without_the_bytes_that_others_share(customer, stack):
    """What remains of a worker that died between the second name and its row."""
    data = samples.noise(9000)
    first = files.upload(customer, data, "a.bin")
    left = str(uuid.uuid4())
    path = blob(stack, left)
    os.makedirs(os.path.dirname(path), mode=0o750, exist_ok=True)
    os.link(blob(stack, first["id"]), path)
    operator.run(stack, "fsck", "--repair", status=None)
    assert os.path.exists(path), "it may be an upload that is under way"
    os.utime(path, (1, 1))
    out = operator.run(stack, "fsck", "--repair", "--min-age", "3600", status=None).stdout
    (line, ) = operator.lines_about(out, left)
    assert line.startswith("orphan ") and not os.path.exists(path)
    assert files.download(customer, first["id"], status=200).content == data
    os.unlink(os.path.join(stack.blobs, line.rsplit(" ", 1)[1]))


@pytest.mark.directory
def test_a_purged_file_leaves_the_bytes_that_others_share(customer, stack, database):
    data = samples.noise(9000)
    first, second = (files.upload(customer, data, name) for name in ("a.bin", "b.bin"))
    files.archive(customer, first["id"], status=200)
    database.run("UPDATE file SET archived_at = UTC_TIMESTAMP(3) - INTERVAL 40 DAY WHERE id = %s", key(first["id"]))
    operator.run(stack, "purge", "--older-than", "30")
    assert not os.path.exists(blob(stack, first["id"]))
    assert files.download(customer, second["id"], status=200).content == data
    assert_counted(database, customer, len(data), 1)
    files.upload(customer, data, "a.bin")
    assert of_organisation(stack, customer) == {os.stat(blob(stack, second["id"])).st_ino: [2, 2]}


@pytest.mark.directory
@pytest.mark.web_server
def test_uploads_of_the_same_bytes_at_once_all_keep_theirs(customer, stack):
    data = samples.noise(20_000)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        records = list(pool.map(lambda number: files.upload(customer, data, f"{number}.bin"), range(16)))
    for record in records:
        assert files.download(customer, record["id"], status=200).content == data
    late = files.upload(customer, data, "late.bin")
    assert os.stat(blob(stack, late["id"])).st_nlink > 1


@pytest.mark.inode
def test_a_refused_upload_takes_no_name_from_the_bytes_it_would_have_shared(customer, stack, database):
    data = samples.noise(9000)
    first = files.upload(customer, data, "a.bin")
    for _ in range(3):
        files.send(customer, files.form(data, "a.bin"), status=409, code="file.duplicate")
    set_quota(database, customer, count=1)
    files.send(customer, files.form(data, "b.bin"), status=409, code="quota.exceeded")
    wait_until(lambda: os.stat(blob(stack, first["id"])).st_nlink == 1, 60, "the refused names to go")
    assert files.download(customer, first["id"], status=200).content == data
