# SPDX-License-Identifier: MIT
"""A worker at a limit of the system's: files that it may open, processes, address space, the memory of its control
group. Clean errors, nothing half done, and all is well as soon as the limit is gone. A worker that cannot go on may
end, and another one takes its place."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest

import support_ledger as ledgers
from support.database import key
from support.stack import wait_until
from support_groups import Group, children, is_dying
from support_memory import leaves, revive
from support_pool import Pool
from support_ground import Ground
from support_requests import REQUESTS, USUAL

# More files than any request has open at once.
ROOM = 12
NEEDING = ("upload", "upload in pieces", "download")
NEEDING_MEMORY = ("login", )
# Bytes of memory that are left.
LEFT = [0, *(4096 << power for power in range(0, 16, 2)), 1 << 30]


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


def revived(pool, answer):
    """Whether the worker has left, in order: it cannot take another connection. multiwatch then starts another one;
    here that is done by hand."""
    if not leaves(pool, answer):
        return False
    assert pool.processes[0].returncode >= 0, f"the worker was ended by signal {-pool.processes[0].returncode}"
    pool.kill()
    pool.start()
    return True


def check_files(stack, ground, database):
    """Rows and bytes agree; uploads in pieces that were not taken back stay until they expire."""
    database.run("DELETE FROM file_upload WHERE organisation_id = %s", key(ground.account.organisation["id"]))
    for path in ground.folder.glob("partial/*"):
        path.unlink()
    ledgers.check(ground.ledger, database, ground.folder)
    ledgers.repair(stack, database, ground.folder)


def check_answer(ground, ask, where, answer, usual):
    """The right one or an error of ours, where there is one; and the next request is answered as ever."""
    if answer is not None:
        assert answer.status in (usual, 500), where
        assert answer.status == usual or json.loads(answer.body)["code"], where
    again = ask(ground)
    assert again is not None and again.status == usual, f"{where}; afterwards {again}"


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
        left = revived(pool, answer)
        if not left:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, whole)
        where = f"{name}, {more} descriptors: {answer}"
        assert left or answer is not None, where
        check_answer(ground, ask, where, answer, usual)
        seen.append(answer and answer.status)
    print(f"{name}: {seen}")
    assert seen[-1] == usual
    assert name not in NEEDING or seen[0] != usual
    check_files(stack, ground, database)


# ---- memory


def size_of(pid):
    """The bytes of the address space."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"(?m)^VmSize:\s*(\d+) kB", status)[1]) << 10


@pytest.mark.parametrize("name", REQUESTS)
def test_a_worker_without_address_space_says_so_or_ends(stack, ground, database, name):
    if not os.environ.get("GATEHOUSE_FAILING_MEMORY"):
        pytest.skip("AddressSanitizer needs the whole address space.")
    ask, usual, pool = REQUESTS[name], USUAL.get(name, 200), ground.pool
    assert ask(ground).status == usual
    seen = []
    for left in LEFT[::3]:
        # What a worker has used once it keeps, so each begins anew.
        pool.kill()
        pool.start()
        pid, said = pool.processes[0].pid, len(pool.log.read_text(errors="replace"))
        whole = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (size_of(pid) + left, whole[1]))
        answer = ask(ground)
        where = f"{name}, {left} bytes of address space: {answer}"
        if leaves(pool, answer):
            fault = revive(pool, said)
            assert fault is None, f"{where}: {fault}"
        else:
            resource.prlimit(pid, resource.RLIMIT_AS, whole)
        check_answer(ground, ask, where, answer, usual)
        seen.append(answer and answer.status)
    print(f"{name}: {seen}")
    assert seen[-1] == usual
    assert name not in NEEDING_MEMORY or seen[0] != usual
    check_files(stack, ground, database)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_worker_without_memory_of_its_group_costs_its_request_alone(stack, ground, database, name):
    """The kernel kills whoever needs a page more than the group has."""
    ask, usual, pool = REQUESTS[name], USUAL.get(name, 200), ground.pool
    assert [ask(ground).status for _ in range(2)] == [usual] * 2
    seen = []
    for left in LEFT:
        with Group("memory") as group:
            process = pool.processes[0]
            # First the bound: the kernel refuses one below what a process has taken meanwhile.
            group.bound(left)
            group.add(process.pid)
            answer = ask(ground)
            group.lift()
            where = f"{name}, {left} bytes in its group: {answer}"
            if answer is None:
                assert process.wait(20) == -signal.SIGKILL, where
            elif group.has_killed() or ask(ground) is None:
                # Behind its answer, and it may still be there for a moment; or it was a child of the worker.
                assert group.has_killed(), where
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20 if is_dying(process.pid) else 2)
            if process.poll() is not None:
                pool.kill()
                pool.start()
        check_answer(ground, ask, where, answer, usual)
        seen.append(answer and answer.status)
    print(f"{name}: {seen}")
    assert seen[-1] == usual
    check_files(stack, ground, database)


# ---- processes


def sniffer_of(worker):
    """The pids of a worker's keeper and of its sniffer."""
    for keeper in children(worker):
        for sniffer in children(keeper):
            return keeper, sniffer
    return None


def test_an_upload_whose_sniffer_cannot_be_started_is_refused(stack, ground, database):
    """The sniffer has died, and its keeper may start no other: the upload is refused, the worker ends in order. Its
    successor stores the next one."""
    pool = ground.pool
    worker = pool.processes[0]
    keeper, sniffer = wait_until(lambda: sniffer_of(worker.pid), 20, "the sniffer")
    with Group("pids") as group:
        group.add(keeper)
        group.bound(1)
        os.kill(sniffer, signal.SIGKILL)
        state = pathlib.Path(f"/proc/{sniffer}/stat")
        wait_until(lambda: state.read_text().rpartition(")")[2].split()[0] == "Z", 20, "the sniffer to end")
        answer = ground.upload()
        assert answer is not None and answer.status == 500, answer
        assert json.loads(answer.body)["code"] == "internal", answer
        assert worker.wait(20) == 0
        pool.kill()
    pool.start()
    assert ground.upload().status == 200
    check_files(stack, ground, database)


def test_a_worker_that_can_start_no_process_does_not_begin_to_serve(stack, ground):
    """It says why, and ends; whoever watches it starts another one."""
    begin = 'echo $$ >"$0" && exec "$@"'
    with Group("pids") as group:
        group.bound(1)
        done = subprocess.run(["sh", "-c", begin, group.procs, stack.worker_program(), "--config", stack.configuration],
                              stdin=ground.pool.listener, capture_output=True, text=True, timeout=60, check=False,
                              env=ground.pool.environment)
    assert done.returncode > 0, done
    assert "no process for the sniffer" in done.stderr, done
    assert ground.call("GET", "/customers/me").status == 200
