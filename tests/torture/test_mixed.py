# SPDX-License-Identifier: MIT
"""All of it at once: uploads and reads while workers, job runners, the database and the web server's own processes are
killed and told to begin anew. Afterwards nothing is lost and everything answers."""

import contextlib
import os
import random
import signal
import threading
import time

import support_ledger as ledgers
from support.runs.effort import cases
from support.stack import wait_until
from support_clients import Clients, Reader, children, every_worker_answers

SECONDS = cases(15, 600)
READERS = 3


def one_of(pids, number):
    """Sends a signal to one of the processes, if there is one."""
    if pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(pids), number)


def faults(stack):
    """What may happen, and how often of a hundred times."""
    nginx = stack.pids_named("nginx")

    def workers(pool):
        return [child for pid in stack.pids_named(pool) for child in children(pid)]

    return (
        (50, lambda: one_of(workers("workers"), signal.SIGKILL)),
        (20, lambda: one_of(workers("workers"), signal.SIGTERM)),
        (10, lambda: one_of(workers("login"), signal.SIGKILL)),
        (8, lambda: one_of(nginx, signal.SIGHUP)),
        # Not SIGTERM: nginx then forgets to count down its uploads under way (limit_conn).
        (5, lambda: one_of(children(nginx[0]), signal.SIGQUIT)),
        (4, lambda: one_of(stack.pids_named("jobs"), signal.SIGKILL)),
        (3, lambda: one_of(stack.pids_named("mariadb"), signal.SIGKILL)),
    )


def await_recovery(stack, reader, ledger):
    """The first upload that succeeds when it is over."""
    before, refused = len(ledger.stored), len(ledger.refused)
    try:
        wait_until(lambda: len(ledger.stored) > before, 120, "an upload that succeeds afterwards")
    except AssertionError as late:
        words = list(ledger.refused.values())[refused:][-3:]
        raise AssertionError(f"{late}; refused since: {words}; readers: {reader.faults[-2:]}; {stack.pids()}") from None


def test_nothing_is_lost_when_everything_happens_at_once(stack, database, accounts, account, ledger):
    stop = threading.Event()
    readers = [Reader(accounts.customer(), stop) for _ in range(READERS)]
    choices = faults(stack)
    happened = [0] * len(choices)
    with Clients(stack, ledger, account.token, 4, 300_000):
        for reader in readers:
            reader.start()
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            which, = random.choices(range(len(choices)), [often for often, _ in choices])
            choices[which][1]()
            happened[which] += 1
            time.sleep(random.uniform(0.05, 0.4))
        await_recovery(stack, readers[0], ledger)
        stop.set()
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive()
        wrong = [fault for fault in reader.faults if not fault.startswith(("500 ", "502 ", "504 ")) and
                 "Connection" not in fault]
        assert not wrong, f"answers that are wrong: {wrong[:5]}"
    every_worker_answers(stack, account)
    print(f"{happened}: {ledger}; of {sum(reader.seen for reader in readers)} reads "
          f"{sum(len(reader.faults) for reader in readers)} failed")
    assert ledger.stored and sum(happened)
    ledgers.check(ledger, database, stack.blobs)
    ledgers.repair(stack, database, stack.blobs)
    ledgers.check(ledger, database, stack.blobs)
