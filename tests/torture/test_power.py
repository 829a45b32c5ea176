# SPDX-License-Identifier: MIT
"""Power cuts: the file system under the blobs stops in the middle of uploads, without flushing its journal, is mounted
anew and recovers.

A power cut ends the programs, too, and at the same moment. So the workers are frozen (SIGSTOP) right before the plug is
pulled: a call that is in the kernel meets the cut, but no line of a worker runs after it, and no answer gets out.
Without that the tests would see what no client ever can: XFS, for one, lets fsync() of a folder succeed after the cut.
"""

import random
import threading
import time

import pytest

import support_disk as disks
import support_ledger as ledgers
from support.runs.effort import cases
from support.stack import wait_until
from support_faults import Faults
from support_pool import Pool

CUTS = cases(50, 200)  # of each file system
DISK_MIB = 40 * CUTS  # holds what a fast machine stores between all of them; the image has holes


@pytest.fixture(params=["ext4", "xfs"])
def disk(request, tmp_path):
    """A file system of its own; skipped, with the reason, where this machine has none."""
    reason = disks.missing(request.param)
    if reason:
        pytest.skip(f"no power cuts on {request.param} here: {reason}")
    try:
        made = disks.Disk(tmp_path, request.param, DISK_MIB)
        made.mount()
        made.pull_the_plug()
        made.unmount()
        made.mount()
    except (AssertionError, OSError) as fault:
        pytest.skip(f"no power cuts on {request.param} here: {fault}")
    yield made
    made.close()


def one_cut(pool, disk, account, ledger):
    """Uploads by three clients until the power goes at a random moment; then the disk is mounted anew."""
    dark = threading.Event()

    def work():
        while not dark.is_set():
            pool.upload(ledger, account.token, random.choice((300, 3_000, 10_000, 30_000)))

    pool.start()
    before = len(ledger.stored)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while len(ledger.stored) == before and time.monotonic() < deadline:
        dark.wait(0.01)
    stuck = len(ledger.stored) == before
    dark.wait(random.uniform(0, 0.15))
    dark.set()
    pool.freeze()
    disk.pull_the_plug()
    pool.kill()
    wait_until(lambda: pool.drop_waiting() or not any(thread.is_alive() for thread in threads), 60,
               "the clients to give up")
    disk.unmount()
    disk.mount()
    assert not stuck, "no upload is stored any more"


def test_a_power_cut_loses_nothing_that_was_acknowledged(stack, database, account, ledger, disk):
    folder = disk.files()
    with Pool(stack, 2, files_directory=folder, files_delivery="stream") as pool:
        pool.kill()
        for cut in range(CUTS):
            one_cut(pool, disk, account, ledger)
            ledgers.check(ledger, database, folder, hashes=cut % 10 == 9)
        pool.start()
        pool.no_worker_hangs()
    print(f"{disk.kind}, {CUTS} cuts: {ledger}")
    ledgers.repair(stack, database, folder)
    ledgers.check(ledger, database, folder)


def test_a_worker_that_does_not_wait_for_the_disk_would_be_found_out(stack, database, account, ledger, disk, library,
                                                                     tmp_path):
    """The check of the check: where fsync() does nothing, power cuts lose acknowledged files, and that is seen."""
    folder = disk.files()
    faults = Faults(tmp_path, library, folder)
    faults.arm(lie=True)
    with Pool(stack, 2, faults.environment, files_directory=folder, files_delivery="stream") as pool:
        pool.kill()
        for _ in range(5):
            one_cut(pool, disk, account, ledger)
        with pytest.raises(AssertionError, match="acknowledged|the bytes have changed"):
            ledgers.check(ledger, database, folder)
