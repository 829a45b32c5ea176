# SPDX-License-Identifier: MIT
"""A worker that may open no more files: clean errors, nothing half done, and all is well as soon as it may again."""

import json
import os
import resource
import subprocess

import pytest

import support_ledger as ledgers
from support.database import key
from support_pool import Pool
from support_requests import REQUESTS, USUAL, Ground

# More files than any request has open at once.
ROOM = 12
NEEDING = ("upload", "upload in pieces", "download")


@pytest.fixture()
def ground(stack, account, tmp_path, ledger):
    folder = tmp_path / "files"
    folder.mkdir()
    with Pool(stack, 1, files_directory=folder, files_delivery="stream") as pool:
        made = Ground(pool, account, ledger)
        made.folder = folder
        yield made


def bound_for(pid, more):
    """The limit with which the process may have so many descriptors more."""
    used = {int(number) for number in os.listdir(f"/proc/{pid}/fd")}
    return [number for number in range(len(used) + more + 1) if number not in used][more]


def revived(pool):
    """Whether the worker has left, in order: it cannot take another connection. multiwatch then starts another one;
    here that is done by hand."""
    try:
        pool.processes[0].wait(0.2)
    except subprocess.TimeoutExpired:
        return False
    assert pool.processes[0].returncode >= 0, f"the worker was ended by signal {-pool.processes[0].returncode}"
    pool.kill()
    pool.start()
    return True


@pytest.mark.parametrize("name", REQUESTS)
def test_a_worker_without_descriptors_says_so_and_goes_on(stack, ground, database, name):
    """Each request with every number of descriptors from none to enough."""
    ask, usual, pool = REQUESTS[name], USUAL.get(name, 200), ground.pool
    assert [ask(ground).status for _ in range(2)] == [usual] * 2
    seen = []
    for more in range(ROOM):
        pid = pool.processes[0].pid
        whole = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (bound_for(pid, more), whole[1]))
        answer = ask(ground)
        left = revived(pool)
        if not left:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, whole)
        where = f"{name}, {more} descriptors: {answer}"
        assert left or answer is not None, where
        if answer is not None:
            assert answer.status in (usual, 500), where
            assert answer.status == usual or json.loads(answer.body)["code"], where
        seen.append(answer and answer.status)
        again = ask(ground)
        assert again is not None and again.status == usual, f"{where}; afterwards {again}"
    print(f"{name}: {seen}")
    assert seen[-1] == usual
    assert name not in NEEDING or seen[0] != usual
    database.run("DELETE FROM file_upload WHERE organisation_id = %s", key(ground.account.organisation["id"]))
    for path in ground.folder.glob("partial/*"):
        path.unlink()
    ledgers.check(ground.ledger, database, ground.folder)
    ledgers.repair(stack, database, ground.folder)
