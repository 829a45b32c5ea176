# SPDX-License-Identifier: MIT
"""What fails leaves nothing behind in the worker: neither memory nor a descriptor. The same fault is met again and
again, and after each a request is answered as ever; what the worker has does not grow with the rounds."""

import errno
import json
import os
import random

import pytest

from support.database import key
from support.runs.effort import FULL, cases
from support_faults import Faults
from support_ground import Ground
from support_memory import Memory, leaves, revive
from support_pool import Pool
from support_proxy import CONNECT_SECONDS, StatementProxy
from support_requests import MORE_REQUESTS, REQUESTS, USUAL
from test_statements import FAULTS

KINDS = REQUESTS | MORE_REQUESTS if FULL else REQUESTS
# Rounds before the worker is looked at, and between the two looks. What is kept on purpose (the statements of a new
# connection, a table that doubles) grows in fewer rounds than all of them; a leak grows in each.
WARM, ROUNDS = 3, 6
# Faults of each sort that are tried for a kind, and allocations until one is met without which the worker goes on; all
# of them where it has ended by every fault so far.
EACH = cases(1, 8)
ALLOCATIONS = cases(4, 40)
# They can fail only where they ask for memory, and without it the worker ends.
ENDING = ("checkLiveness", "describeUploads")


@pytest.fixture()
def memory(tmp_path):
    library = os.environ.get("GATEHOUSE_FAILING_MEMORY")
    if not library:
        pytest.skip("A build with AddressSanitizer has an allocator of its own, and finds leaks by itself.")
    return Memory(tmp_path, library)


@pytest.fixture()
def proxy(stack, tmp_path):
    between = StatementProxy(tmp_path, stack.database["socket"])
    yield between
    between.close()


@pytest.fixture()
def folder(tmp_path):
    made = tmp_path / "files"
    made.mkdir()
    return made


@pytest.fixture()
def calls(tmp_path, library, folder):
    return Faults(tmp_path, library, folder)


@pytest.fixture()
def ground(stack, account, memory, proxy, calls, folder, ledger, database):
    environment = calls.environment | memory.environment
    environment["LD_PRELOAD"] = f"{calls.environment['LD_PRELOAD']} {memory.environment['LD_PRELOAD']}"
    with Pool(stack, 1, environment, database_socket=proxy.path, database_connect_timeout_seconds=CONNECT_SECONDS,
              files_directory=folder, files_delivery="stream") as pool:
        yield Ground(pool, account, ledger)
    # Uploads in pieces that were not taken back.
    database.run("DELETE FROM file_upload WHERE organisation_id = %s", key(account.organisation["id"]))


class Round:
    """A request that meets a fault, and one that meets none."""

    def __init__(self, name, ground, memory):
        self.name, self.ask, self.usual = name, KINDS[name], USUAL.get(name, 200)
        self.ground, self.memory = ground, memory

    def good(self):
        answer = self.ask(self.ground)
        assert answer is not None and answer.status == self.usual, f"{self.name}: {answer}"

    def bad(self, arm, disarm, may_end):
        """Whether the worker goes on. Only for want of memory it may end; a file that cannot be read to its end cuts
        the answer and nothing more."""
        said = len(self.ground.pool.log.read_text(errors="replace"))
        arm()
        answer = self.ask(self.ground)
        disarm()
        if answer is not None:
            assert answer.status in (self.usual, 500), f"{self.name}: {answer}"
        if not may_end or not leaves(self.ground.pool, answer):
            assert self.ground.pool.living() == 1, f"{self.name}: the worker has ended"
            return True
        fault = revive(self.ground.pool, said)
        assert fault is None, f"{self.name}: {fault}"
        return False

    def grown(self, arm, disarm, may_end=False):
        """By how much the worker has grown in ROUNDS rounds: (allocations, descriptors); None where it has ended."""
        before = None
        for number in range(WARM + ROUNDS):
            if number == WARM:
                before = self.memory.held()
            if not self.bad(arm, disarm, may_end):
                return None
            self.good()
        return tuple(now - then for now, then in zip(self.memory.held(), before))


def failing_statements(one, proxy):
    proxy.arm()
    one.good()
    count = proxy.disarm()[0]
    for _ in range(EACH if count else 0):
        nth, (words, fault) = random.randint(1, count), random.choice(sorted(FAULTS.items(), key=str))
        yield f"statement {nth} of {count} is {words}", lambda nth=nth, fault=fault: proxy.arm(fault, nth), proxy.disarm


def failing_calls(one, calls):
    calls.arm()
    one.good()
    made = {operation: count for operation, count in calls.counts().items() if count}
    for _ in range(EACH if made else 0):
        operation = random.choice(sorted(made))
        nth = random.randint(1, made[operation])
        yield (f"{operation} {nth} of {made[operation]} fails",
               lambda operation=operation, nth=nth: calls.arm(operation, nth, errno.EIO), calls.arm)


def failing_allocations(one, memory):
    memory.arm()
    one.good()
    count = memory.disarm()[0]
    for nth in random.sample(range(1, count + 1), count):
        yield f"allocation {nth} of {count} fails", lambda nth=nth: memory.arm(nth), memory.disarm


def check(where, grown, bound=ROUNDS):
    allocations, descriptors = grown
    assert allocations < bound, f"{where}: {allocations} allocations more after {ROUNDS} rounds"
    assert descriptors == 0, f"{where}: {descriptors} descriptors more after {ROUNDS} rounds"


@pytest.mark.parametrize("name", KINDS)
def test_what_fails_leaves_nothing_behind(ground, memory, proxy, calls, name):
    one = Round(name, ground, memory)
    for _ in range(3):
        one.good()
    seen = []
    for sort, may_end in ((failing_statements(one, proxy), False), (failing_calls(one, calls), False),
                          (failing_allocations(one, memory), True)):
        enough = EACH
        for tried, (where, arm, disarm) in enumerate(sort):
            if tried >= ALLOCATIONS and (seen or name in ENDING):
                break
            grown = one.grown(arm, disarm, may_end)
            if grown is None:
                continue
            # libmariadb 3.3 itself loses one allocation where mysql_stmt_prepare() gets no memory for what it reads.
            check(f"{name}: {where}", grown, ROUNDS + may_end * memory.met_by_database())
            seen.append((where, *grown))
            enough -= 1
            if enough == 0:
                break
    print(f"{name}: {json.dumps(seen)}")
    assert seen or name in ENDING, "the worker has ended by every fault"


@pytest.mark.parametrize("kept", ["memory", "descriptors"])
def test_a_leak_is_noticed(ground, memory, kept):
    """One allocation, or one descriptor, is left behind by each request that meets the fault."""
    one = Round("downloadFile", ground, memory)
    for _ in range(3):
        one.good()
    check("nothing is kept", one.grown(lambda: None, lambda: None))
    grown = one.grown(lambda: memory.keep(**{kept: 1}), memory.keep)
    assert grown is not None
    with pytest.raises(AssertionError, match=f"{kept.replace('memory', 'allocations')} more"):
        check("one is kept", grown)
