# SPDX-License-Identifier: MIT
"""kill -9: of workers at random moments of uploads, of the database under them."""

import os
import random
import signal
import threading
import time

import support_ledger as ledgers
from support.runs.effort import cases
from support.stack import wait_until
from support_clients import Clients, Reader, children, every_worker_answers

KILLS = 200
# One of them every tenth of a second.
KILLS_OF_READERS = cases(100, 600)
READERS = 4
DATABASE_KILLS = 8


def test_workers_killed_at_two_hundred_moments_lose_nothing(stack, database, account, ledger):
    """Uploads run through the web server; a worker is killed every few milliseconds, two hundred times."""
    supervisor, = stack.pids_named("workers")
    killed = 0
    with Clients(stack, ledger, account.token, 6, 400_000):
        deadline = time.monotonic() + 150
        while killed < KILLS:
            assert time.monotonic() < deadline, f"only {killed} workers could be killed"
            time.sleep(random.uniform(0.005, 0.08))
            workers = children(supervisor)
            if workers:
                try:
                    os.kill(random.choice(workers), signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
    every_worker_answers(stack, account)
    print(f"{killed} kills: {ledger}")
    assert ledger.stored and ledger.unknown, f"the kills met no upload: {ledger}"
    ledgers.check(ledger, database, stack.blobs)
    ledgers.repair(stack, database, stack.blobs)
    ledgers.check(ledger, database, stack.blobs)


def test_readers_do_not_notice_that_workers_are_killed(stack, accounts):
    """The web server asks another worker where one died before its answer, once a request. So on a machine that is too
    busy for a read within a tenth of a second, the next one dies when every reader has gone on."""
    supervisor, = stack.pids_named("workers")
    stop = threading.Event()
    readers = [Reader(accounts.customer(), stop) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    killed = set()
    while len(killed) < KILLS_OF_READERS:
        pid = random.choice(wait_until(lambda: children(supervisor), 30, "a worker"))
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
        before = [reader.seen for reader in readers]
        time.sleep(0.1)
        wait_until(lambda: all(reader.seen > seen for reader, seen in zip(readers, before)), 30,
                   "every reader to go on")
    stop.set()
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive() and reader.seen
    every_worker_answers(stack, readers[0].account)
    faults = [fault for reader in readers for fault in reader.faults]
    print(f"{len(killed)} kills, {sum(reader.seen for reader in readers)} reads, failed: {faults}")
    assert not faults


def test_a_database_killed_under_uploads_loses_nothing(stack, database, account, ledger):
    """MariaDB is killed several times while uploads run and comes back by itself."""
    with Clients(stack, ledger, account.token, 4, 200_000):
        for _ in range(DATABASE_KILLS):
            before = len(ledger.stored)
            wait_until(lambda: len(ledger.stored) > before + 10, 60, "uploads that succeed")
            pid, = stack.pids_named("mariadb")
            time.sleep(random.uniform(0, 0.1))
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: pid not in stack.pids_named("mariadb"), 60, "MariaDB to be started again")
        before = len(ledger.stored)
        wait_until(lambda: len(ledger.stored) > before + 10, 60, "uploads that succeed again")
    every_worker_answers(stack, account)
    print(f"{DATABASE_KILLS} kills: {ledger}")
    assert set(code.split()[1] for code in ledger.codes()) <= {"database.unavailable"}, ledger
    ledgers.check(ledger, database, stack.blobs)
    ledgers.repair(stack, database, stack.blobs)
    ledgers.check(ledger, database, stack.blobs)
