# SPDX-License-Identifier: MIT
"""A real Ceph loses a daemon, most of them, or all: what was acknowledged is there afterwards, and no request waits
longer than the deadline of the store, however long the store would have it wait."""

import concurrent.futures
import time

import pytest
from support import files, samples
from support.programs import operator
from support.stack import wait_until
from support_ceph import GATEWAYS, OSDS
from support_load import Load

# Reads of records, no changes of names, uploads, no logins.
UPLOADS = (20, 0, 80, 0)
MANY = 150
# The deadline of a call is 15 s ([files] s3_timeout_seconds); an upload makes several, on a busy machine.
PATIENCE = 120
REFUSED = {(500, "storage.unavailable")}
LARGE = 70 << 20


def check_load(load, what, figures, allowed=frozenset()):
    """Nothing that was acknowledged is lost, nothing wrong was read, and what failed has a reason that is allowed."""
    figures.note(what, load.figures())
    assert not load.wrong, load.wrong[:3]
    lost = load.verify()
    assert not lost, lost[:3]
    assert any(client.uploads for client in load.clients)
    failures = {(answer.status, answer.code) for answer in load.failed()}
    assert failures <= allowed, load.figures()


@pytest.mark.parametrize("name", ["ceph-osd0", "store1", "store2", "ceph-mgr"])
def test_a_daemon_that_is_killed_fails_no_request(stack, ceph, people, full, figures, name):
    count = 5 * MANY if full else MANY
    with Load(stack, people, UPLOADS) as load:
        load.await_more(count)
        ceph.hold(name)
        ceph.kill(name)
        load.await_more(count)
        ceph.release()
        load.await_more(count)
    check_load(load, f"kill -9 of {name}", figures)


def test_each_osd_in_turn_is_killed_while_a_large_file_comes(stack, ceph, people, figures):
    data = samples.noise(1 << 20) * (LARGE >> 20)
    owner, kept = people[0], []
    for name in OSDS:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sent = pool.submit(files.send, owner, files.form(data, f"{name}.bin"), timeout=PATIENCE)
            wait_until(lambda: any((stack.path.parent / "data" / "spool").rglob("*")) or sent.done(), PATIENCE,
                       "the upload to begin", pause=0.01)
            ceph.kill(name)
            reply = sent.result()
        assert reply.status_code == 200, reply.text
        kept.append(reply.json()["id"])
        ceph.await_whole()
    assert all(files.download(owner, identity, status=200).content == data for identity in kept)
    figures.note("kill -9 of each OSD during an upload of 70 MiB", f"0 of {len(kept)} failed")


def test_an_osd_that_freezes_is_left_out_and_holds_nobody_up_for_ever(stack, ceph, people, figures):
    with Load(stack, people, UPLOADS) as load:
        load.await_more(MANY)
        ceph.freeze("ceph-osd1")
        wait_until(lambda: ceph.up() == len(OSDS) - 1, PATIENCE, "the frozen OSD to be taken for dead", pause=0.5)
        load.await_more(MANY)
        ceph.thaw()
        load.await_more(MANY)
    check_load(load, "an OSD frozen", figures, REFUSED)


def test_two_of_three_osds_dead_are_an_error_in_time_and_nothing_is_lost(stack, ceph, people, figures):
    owner, data = people[0], samples.noise(100_000)
    record = files.upload(owner, data, "before.bin")
    dead = OSDS[:2]
    ceph.hold(*dead)
    ceph.kill(*dead)
    wait_until(lambda: ceph.up() == 1, PATIENCE, "both OSDs to be taken for dead", pause=0.5)

    def upload(number):
        return files.send(owner, files.form(samples.noise(100_000), f"never {number}.bin"), timeout=PATIENCE)

    def download(_):
        return files.download(owner, record["id"], timeout=PATIENCE)

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(lambda job: job[0](job[1]), [(upload, 0), (download, 0), (upload, 1), (download, 1)]))
    took = time.monotonic() - began
    assert {(reply.status_code, reply.json()["code"]) for reply in replies} == REFUSED
    # What needs no bytes is answered, and the operator is told which part is away.
    assert files.info(owner, record["id"]) == record["info"]
    told = operator.run(stack, "check", status=None)
    assert told.returncode != 0
    assert "The store at" in told.stdout and "gives no answer" in told.stdout, told.stdout
    ceph.release()
    ceph.await_whole()
    assert files.download(owner, record["id"], status=200).content == data
    assert not [item for item in files.listed(owner) if item["info"]["name"].startswith("never")]
    files.upload(owner, data, "after.bin")
    figures.note("two of three OSDs dead", f"uploads and downloads answered storage.unavailable within {took:.0f} s")


def test_both_gateways_dead_are_an_error_in_time(ceph, people):
    owner, data = people[0], samples.noise(1000)
    record = files.upload(owner, data, "gateways.bin")
    ceph.hold(*GATEWAYS)
    ceph.kill(*GATEWAYS)
    files.download(owner, record["id"], status=500, code="storage.unavailable", timeout=PATIENCE)
    files.send(owner, files.form(b"never", "never.bin"), status=500, timeout=PATIENCE)
    ceph.release()
    ceph.await_whole()
    assert files.download(owner, record["id"], status=200).content == data


def test_kill_9_of_everything_loses_nothing_acknowledged(stack, ceph, people, full, figures):
    """All daemons of Ceph, the service and its database, at once."""
    rounds, uploads, slowest = 10 if full else 2, 0, 0.0
    for _ in range(rounds):
        with Load(stack, people, UPLOADS) as load:
            load.await_more(40)
            ceph.kill(*ceph.everything())
            load.stop.set()
        began = time.monotonic()
        ceph.await_whole()
        slowest = max(slowest, time.monotonic() - began)
        assert not load.wrong, load.wrong[:3]
        lost = load.verify()
        assert not lost, lost[:3]
        uploads += sum(len(client.uploads) for client in load.clients)
    assert uploads
    done = operator.run(stack, "fsck", "--quick", status=None)
    assert not [line for line in done.stdout.splitlines() if line.startswith(("missing ", "size "))], done.stdout
    figures.note(f"kill -9 of everything, {rounds} times",
                 f"0 of {uploads} acknowledged uploads lost, whole again within {slowest:.0f} s")
