# SPDX-License-Identifier: MIT
"""Every file call of a worker fails once, in every way that it can: a clean answer, nothing left, nothing lost."""

import errno
import json

import pytest

import support_ledger as ledgers
from support_faults import OPERATIONS, Faults
from support_pool import Pool
from support import samples

NUMBERS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR, errno.EACCES)
# What may be cut short instead.
PARTIAL = ("write", "read", "pread")
SIZE = 200_000


@pytest.fixture()
def folder(tmp_path):
    made = tmp_path / "files"
    made.mkdir()
    return made


@pytest.fixture()
def faults(tmp_path, library, folder):
    return Faults(tmp_path, library, folder)


@pytest.fixture()
def pool(stack, account, faults, folder):
    assert account
    with Pool(stack, 1, faults.environment, files_directory=folder, files_delivery="stream") as workers:
        yield workers


def calls_of(faults, request):
    """(operation, nth) of every file call that the request makes. The second time tells: the first may make folders."""
    faults.arm()
    request()
    faults.arm()
    request()
    counts = faults.counts()
    assert counts["openat"], f"the library sees no calls: {counts}"
    return [(name, nth) for name in OPERATIONS for nth in range(1, counts[name] + 1)]


def ways_to_fail(calls):
    """Every call with every errno, and cut short where that can be."""
    for operation, nth in calls:
        for number in NUMBERS + ((0, ) if operation in PARTIAL else ()):
            yield operation, nth, number


@pytest.mark.parametrize("data", [None, samples.noise(SIZE)], ids=["new bytes", "bytes that are there already"])
def test_each_call_of_an_upload_fails_once(database, account, pool, faults, folder, ledger, data):
    pool.upload(ledger, account.token, SIZE, data)
    calls = calls_of(faults, lambda: pool.upload(ledger, account.token, SIZE, data))
    assert {"openat", "write", "fsync", "linkat", "close"} <= {name for name, _ in calls}, calls
    tried = 0
    for operation, nth, number in ways_to_fail(calls):
        before = ledgers.every_file(folder)
        stored = len(ledger.stored)
        faults.arm(operation, nth, number)
        answer = pool.upload(ledger, account.token, SIZE, data)
        where = f"{operation} number {nth}, errno {number}: {answer}"
        fired = faults.fired()
        faults.arm()
        assert answer is not None and answer.status in (200, 500), where
        if answer.status == 500:
            assert json.loads(answer.body)["code"] in ("storage.full", "storage.unavailable"), where
            assert not fired or operation != "unlinkat", where
        assert not (number == 0 and answer.status != 200), where
        new = ledgers.every_file(folder) - before
        assert len(new) == len(ledger.stored) - stored or operation == "unlinkat", f"{where} left {new}"
        tried += fired
    assert tried >= 30, f"only {tried} calls have failed"
    print(f"{tried} failures: {ledger}")
    assert ledgers.check(ledger, database, folder) == set()
    pool.no_worker_hangs()


def test_after_a_failed_fsync_the_file_is_given_up_and_never_synced_again(account, pool, faults, folder, ledger):
    pool.upload(ledger, account.token, SIZE)
    kept = ledgers.every_file(folder)
    for number in (errno.EIO, errno.ENOSPC, errno.EINTR):
        faults.arm("fsync", 1, number)
        answer = pool.upload(ledger, account.token, SIZE)
        assert faults.fired() and answer.status == 500, answer
        assert faults.asked_again() == 0, "fsync() was called again on a file that it had failed for"
        assert ledgers.every_file(folder) == kept
        faults.arm()
        assert pool.upload(ledger, account.token, SIZE).status == 200
        kept = ledgers.every_file(folder)


def test_each_call_of_a_download_fails_once(account, pool, faults, folder, ledger):
    stored = json.loads(pool.upload(ledger, account.token, SIZE).body)
    name, = ledger.sent
    path = f"/system/files/{stored['id']}"

    def fetch():
        return pool.call("GET", path, token=account.token)

    whole = fetch().body
    assert ledgers.hashlib.sha256(whole).digest() == ledger.sent[name][0]
    tried = 0
    for operation, nth, number in ways_to_fail(calls_of(faults, fetch)):
        faults.arm(operation, nth, number)
        answer = fetch()
        tried += faults.fired()
        faults.arm()
        where = f"{operation} number {nth}, errno {number}: {answer.status}, {len(answer.body)} bytes"
        if answer.status == 200:
            # What was announced comes, or the connection ends before it: never other bytes.
            assert answer.headers["Content-Length"] == str(SIZE), where
            assert answer.body == whole[:len(answer.body)], where
            assert len(answer.body) == SIZE or not answer.ended, where
        elif answer.ended:
            assert answer.status == 500, where
            assert json.loads(answer.body)["code"] in ("storage.full", "storage.unavailable"), where
        else:
            assert answer.output == b"", where
    assert tried >= 10, f"only {tried} calls have failed"
    assert fetch().body == whole
    pool.no_worker_hangs()
