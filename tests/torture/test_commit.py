# SPDX-License-Identifier: MIT
"""A COMMIT that never arrives, and one whose answer is lost: the row tells, and so does the reply."""

import json
import time

import pytest

import support_ledger as ledgers
from support_pool import Pool
from support_proxy import CONNECT_SECONDS, Proxy

ROUNDS = 15


@pytest.fixture()
def proxy(stack, tmp_path):
    between = Proxy(tmp_path, stack.database["socket"])
    yield between
    between.close()


@pytest.fixture()
def pool(stack, proxy, account):
    assert account
    with Pool(stack, 1, database_socket=proxy.path, database_connect_timeout_seconds=CONNECT_SECONDS) as workers:
        yield workers


def test_a_commit_that_never_arrived_is_refused_and_one_whose_answer_was_lost_is_not(stack, database, account, pool,
                                                                                     proxy, ledger):
    for fault, status in [("after", 200), ("before", 500), ("late", 200)] * ROUNDS:
        proxy.fault = fault
        answer = pool.upload(ledger, account.token, 20_000)
        assert proxy.happened == ledger.count(), "the upload's COMMIT was not met"
        assert answer is not None and answer.status == status, f"{fault}: {answer}"
    assert pool.upload(ledger, account.token, 20_000).status == 200
    print(ledger)
    ledgers.check(ledger, database, stack.blobs)
    ledgers.repair(stack, database, stack.blobs)
    ledgers.check(ledger, database, stack.blobs)


def test_a_database_that_is_gone_for_a_while_is_waited_for(stack, database, account, pool, proxy, ledger):
    proxy.fault, proxy.outage = "gone", 2.0
    answer = pool.upload(ledger, account.token, 20_000)
    assert proxy.happened == 1 and answer.status == 200, answer
    ledgers.check(ledger, database, stack.blobs)


def test_nobody_is_told_that_a_file_was_not_stored_when_nobody_knows(stack, database, account, pool, proxy, ledger):
    proxy.fault, proxy.outage = "gone", 3600.0
    started = time.monotonic()
    answer = pool.upload(ledger, account.token, 20_000)
    body = json.loads(answer.body)
    assert (answer.status, body["code"]) == (500, "database.unavailable") and ledgers.UNKNOWN in body["message"], body
    assert time.monotonic() - started < 60
    proxy.closed_until = 0.0
    assert len(ledger.unknown) == 1
    ledgers.check(ledger, database, stack.blobs)
    assert pool.upload(ledger, account.token, 20_000).status == 200
