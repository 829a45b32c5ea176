# SPDX-License-Identifier: MIT
"""Everything is killed at once, again and again, while people upload: what was acknowledged is there afterwards, no
record lacks its bytes, and what was left behind is swept."""

import random
import subprocess
import time

import pytest
from support.stack import wait_until
from support_load import Load

PEOPLE = 6


@pytest.fixture(scope="module")
def people(accounts):
    """Who uploads."""
    return [accounts.customer() for _ in range(PEOPLE)]


def fsck(cluster, *options):
    """gatehousectl fsck: its status and what it said."""
    done = subprocess.run([cluster.stack.ctl, "--config", cluster.stack.configuration, "fsck", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
    return done.returncode, done.stdout


def test_kill_9_of_everything_loses_nothing_acknowledged(stack, cluster, people, full, figures):
    rounds, uploads, wrong, lost, slowest = 100 if full else 3, 0, [], [], 0.0
    for _ in range(rounds):
        with Load(stack, people, weights=(10, 10, 80, 0)) as load:
            load.await_more(20)
            time.sleep(random.uniform(0, 0.5))
            cluster.kill(*cluster.everything())
            load.stop.set()
        began = time.monotonic()
        cluster.await_whole()
        slowest = max(slowest, time.monotonic() - began)
        wrong += load.wrong
        lost += load.verify()
        uploads += sum(len(client.uploads) for client in load.clients)
    status, said = fsck(cluster)
    swept, after = fsck(cluster, "--repair", "--min-age", "0")
    figures.note(f"kill -9 of everything, {rounds} times",
                 f"{len(lost)} of {uploads} acknowledged uploads lost, whole again within {slowest:.0f} s, "
                 f"fsck {status}")
    assert not wrong, wrong[:3]
    assert not lost, lost[:3]
    assert status == 0, said
    assert swept == 0, after
    wait_until(lambda: fsck(cluster, "--min-age", "0")[0] == 0, 60, "nothing to be left behind")
