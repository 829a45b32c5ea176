# SPDX-License-Identifier: MIT
"""Disks that are full, at whatever moment of an upload they become so."""

import json
import os

import pytest

import support_disk as disks
import support_ledger as ledgers
from support_clients import Clients
from support_pool import Pool
from support.stack import wait_until

SIZE = 150_000


def only_where_disks_can_be_mounted(folder, kind, *arguments):
    """A mounted Disk; skips the test, with the reason, where this machine has none."""
    if os.geteuid() != 0:
        pytest.skip("no small file systems here: mounting takes root")
    try:
        made = disks.Disk(folder, kind, *arguments)
        made.mount()
        return made
    except (AssertionError, OSError) as fault:
        return pytest.skip(f"no small file systems here: {fault}")


@pytest.fixture(params=["ext4", "tmpfs"])
def small(request, tmp_path):
    """The folder for files on a small file system."""
    if request.param == "ext4":
        made = only_where_disks_can_be_mounted(tmp_path, "ext4", 16, ("-m", "0"))
        yield made.files()
        made.close()
        return
    mount = tmp_path / "tmpfs"
    (mount / "files").mkdir(parents=True)
    try:
        disks.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=0750", "tmpfs", mount)
    except AssertionError as fault:
        pytest.skip(f"no small file systems here: {fault}")
    (mount / "files").mkdir()
    yield mount / "files"
    disks.run("umount", "-l", mount)


@pytest.fixture()
def few_inodes(tmp_path):
    """The folder for files on a file system with room for much and names for little."""
    made = only_where_disks_can_be_mounted(tmp_path, "ext4", 64, ("-m", "0", "-N", "64"))
    yield made.files()
    made.close()


def free_bytes(folder):
    """What is left for files."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def fill(folder, left):
    """Takes all but some of the space."""
    path = folder.parent / "filling"
    with open(path, "wb") as file:
        file.truncate(0)
        os.fsync(file.fileno())
        room = free_bytes(folder) - left
        if room > 0:
            os.posix_fallocate(file.fileno(), 0, room)


def release(folder):
    """Gives it back."""
    (folder.parent / "filling").unlink()


def refused_as_full(answer, where):
    """Whether an answer is storage.full; anything but that and success fails."""
    assert answer is not None and answer.status in (200, 500), f"{where}: {answer}"
    if answer.status == 500:
        assert json.loads(answer.body)["code"] == "storage.full", f"{where}: {answer}"
        assert answer.headers["Retry-After"], where
    return answer.status == 500


def test_a_disk_full_at_any_stage_refuses_the_upload_and_keeps_nothing_of_it(stack, database, account, ledger, small):
    with Pool(stack, 1, files_directory=small, files_delivery="stream") as pool:
        assert pool.upload(ledger, account.token, SIZE).status == 200
        full = 0
        for left in [*range(0, SIZE + 40_000, 12_288)]:
            fill(small, left)
            before = ledgers.every_file(small)
            stored = len(ledger.stored)
            full += refused_as_full(pool.upload(ledger, account.token, SIZE), f"{left} bytes left")
            assert len(ledgers.every_file(small) - before) == len(ledger.stored) - stored
            assert pool.call("GET", "/system/files?limit=1", token=account.token).status == 200, "reads suffer"
            release(small)
        assert full >= 5, f"the disk was hardly ever full: {ledger}"
        assert pool.upload(ledger, account.token, SIZE).status in (200, 500)
        pool.no_worker_hangs()
    print(ledger)
    assert ledgers.check(ledger, database, small) == set()


def test_inodes_that_run_out_refuse_the_upload_and_keep_nothing_of_it(stack, database, account, ledger, few_inodes):
    """Small files until nothing more goes."""
    with Pool(stack, 1, files_directory=few_inodes, files_delivery="stream") as pool:
        for _ in range(200):
            if refused_as_full(pool.upload(ledger, account.token, 4_000), str(ledger)):
                break
        assert ledger.refused and free_bytes(few_inodes) > 1_000_000, f"{ledger}, {free_bytes(few_inodes)} bytes left"
        pool.no_worker_hangs()
    print(ledger)
    assert ledgers.check(ledger, database, few_inodes) == set()


def test_a_full_disk_under_the_web_servers_spool_is_said_so_and_passes(stack, database, account, ledger):
    """The body does not reach the worker at all: the web server has no room for it."""
    spool = stack.configuration.rsplit("/etc/", 1)[0] + "/tmp/bodies"
    if os.geteuid() != 0 or not os.path.isdir(spool):
        pytest.skip(f"no small disk can be mounted on {spool}")
    clients = Clients(stack, ledger, account.token, 0, 1)
    clients.upload(2_000_000)
    try:
        disks.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", spool)
    except AssertionError as fault:
        pytest.skip(f"no small disk here: {fault}")
    try:
        clients.upload(4_000_000)
        assert list(ledger.refused.values()) == ["500 storage.full"], ledger
        wait_until(lambda: not os.listdir(spool), 30, "nginx to remove what it could not spool")
        account.get("/customers/me", status=200)
    finally:
        disks.run("umount", "-l", spool)
    clients.upload(4_000_000)
    assert len(ledger.stored) == 2, ledger
    ledgers.check(ledger, database, stack.blobs)


def test_a_log_on_a_full_disk_stops_nothing(stack, database, account, ledger, small):
    with Pool(stack, 1, log_file=small / "gatehouse.log", files_directory=stack.blobs, files_delivery="stream") as pool:
        fill(small, 0)
        for _ in range(10):
            assert pool.upload(ledger, account.token, SIZE).status == 200
        release(small)
    ledgers.check(ledger, database, stack.blobs)
