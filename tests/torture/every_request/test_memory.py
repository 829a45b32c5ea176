# SPDX-License-Identifier: MIT
"""Each allocation of a request fails once, ours and the libraries': no other answer than the right one or an error of
the service, no half of a change, no file without bytes. A worker without memory may end, as architecture.md says, by
abort() and with a word on its standard error; whatever else ends it is a fault."""

import json
import os
import random

import pytest

import support_ledger as ledgers
from support.database import key
from support.runs.effort import FULL
from support_ground import Ground
from support_memory import Memory, leaves, revive
from support_pool import Pool
from support_requests import MORE_REQUESTS, REQUESTS, USUAL

# How many of the allocations that not every request makes fail in a run, and one of those others. In a full run each of
# them fails, in their order.
TRIED = 6
KINDS = REQUESTS | MORE_REQUESTS if FULL else REQUESTS


@pytest.fixture()
def memory(tmp_path):
    library = os.environ.get("GATEHOUSE_FAILING_MEMORY")
    if not library:
        pytest.skip("A build with AddressSanitizer has an allocator of its own.")
    return Memory(tmp_path, library)


@pytest.fixture()
def ground(stack, account, memory, tmp_path, ledger):
    folder = tmp_path / "files"
    folder.mkdir()
    with Pool(stack, 1, memory.environment, files_directory=folder, files_delivery="stream") as pool:
        made = Ground(pool, account, ledger)
        made.folder = folder
        yield made


def allocations(memory, request):
    """How many a request makes."""
    memory.arm()
    request()
    return memory.disarm()[0]


@pytest.mark.parametrize("name", KINDS)
def test_each_allocation_of_a_request_fails_once(stack, ground, memory, database, name):
    ask, pool = KINDS[name], ground.pool
    usual = [ask(ground).status for _ in range(3)][-1]
    assert usual == USUAL.get(name, 200)
    common, count = (allocations(memory, one) for one in (lambda: ground.call("GET", "/system/health/live"),
                                                          lambda: ask(ground)))
    assert 0 < common and 0 < count, "the library does not see them"
    common = min(common, count)
    tried = sorted([random.randint(1, common), *random.sample(range(common + 1, count + 1),
                                                              min(TRIED, count - common))])
    if FULL:
        tried = range(1, count + 1)
    seen = {}
    for nth in tried:
        said = len(pool.log.read_text(errors="replace"))
        memory.arm(nth)
        answer = ask(ground)
        _, fired = memory.disarm()
        where = f"{name}, allocation {nth} of {count}: {answer}"
        if leaves(pool, answer):
            fault = revive(pool, said)
            assert fault is None, f"{where}: {fault}"
        if answer is not None:
            assert answer.status in (usual, 500), where
            assert answer.status == usual or json.loads(answer.body)["code"], where
        seen[answer and answer.status] = seen.get(answer and answer.status, 0) + fired
        again = ask(ground)
        assert again is not None and again.status == usual, f"{where}; afterwards {again}"
    print(f"{name}: {len(tried)} of {count} allocations failed: {seen}")
    # Uploads in pieces that were not taken back stay until they expire.
    database.run("DELETE FROM file_upload WHERE organisation_id = %s", key(ground.account.organisation["id"]))
    for path in ground.folder.glob("partial/*"):
        path.unlink()
    ledgers.check(ground.ledger, database, ground.folder)
    ledgers.repair(stack, database, ground.folder)
