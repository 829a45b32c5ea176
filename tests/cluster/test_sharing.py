# SPDX-License-Identifier: MIT
"""What three hosts count and do together: quotas, wrong passwords, e-mails, and rows that all of them write."""

import itertools
import subprocess
import threading
import time
import uuid

import pytest
from support import files, samples
from support.accounts import invitation
from support.database import key
from support.parallel import count, run
from support.stack import wait_until

WRONG = {"password": "not the password"}
HOT_SECONDS, HOT_SECONDS_FULL = 8, 60
WRITERS = 9


def test_a_quota_of_fifty_takes_exactly_fifty_of_uploads_on_all_hosts(customer, hosts, database, figures):
    database.run("UPDATE organisation SET quota_files = 50 WHERE id = %s", key(customer.organisation["id"]))
    token = customer.token

    def upload(number):
        parts = files.form(samples.noise(500), f"{samples.word()}.bin")
        return hosts[number % 3].post("/system/files", token=token, **encoded(parts))

    replies = run(upload, range(135), threads=24)
    figures.note("135 uploads on three hosts, quota 50", f"{count(replies)}")
    assert count(replies) == {200: 50, 409: 85}
    assert {reply.json()["code"] for reply in replies if reply.status_code == 409} == {"quota.exceeded"}
    assert len(files.listed(customer)) == 50


def encoded(parts):
    """The arguments that send these parts."""
    mark = files.multipart.boundary()
    return {"data": files.multipart.encode(parts, mark),
            "headers": {"Content-Type": files.multipart.content_type(mark)}}


def test_wrong_passwords_on_all_hosts_count_as_on_one(customer, hosts, figures):
    def try_one(number):
        return hosts[number % 3].post("/customers/login", json={"username": customer.email, **WRONG})

    replies = run(try_one, range(24), threads=24)
    figures.note("24 wrong passwords at once on three hosts", f"{count(replies)}")
    assert count(replies) == {401: 5, 429: 19}


def test_three_job_runners_send_each_letter_once(accounts, cluster, hosts, full, figures):
    number = 180 if full else 90
    token = accounts.administrator.token
    bodies = [invitation() for _ in range(number)]
    database = cluster.databases[0]
    # A letter of earlier tests may still wait for the lease of a job runner that was killed.
    last = database.run("SELECT COALESCE(MAX(id), 0) FROM outbox")[0][0]
    replies = run(lambda pair: hosts[pair[0] % 3].post("/customers/signup", token=token, json=pair[1]),
                  list(enumerate(bodies)), threads=12)
    assert count(replies) == {200: number}
    runners = set()
    for body in bodies:
        accounts.mailbox.wait(body["email"])
    wait_until(lambda: not database.run("SELECT 1 FROM outbox WHERE status = 'waiting' AND id > %s LIMIT 1", last), 150,
               "the job runners to have nothing left to do")
    sent = [len(accounts.mailbox.messages(body["email"])) for body in bodies]
    figures.note(f"{number} sign-ups with three job runners", f"{sum(sent)} letters, {sent.count(1)} of them once")
    assert sent == [1] * number, runners


# ---- rows that everybody writes, each host on a node of its own

@pytest.fixture(scope="module")
def scattered(cluster):
    """Workers of each host that use a node of their own, on FastCGI sockets that the test speaks to through nginx: the
    hosts' own lists of nodes are turned, and turned back."""
    cluster.turn_lists()
    yield cluster
    cluster.turn_lists_back()


def hot(work, seconds):
    """Nine writers, three on each host, for that long: (status, seconds) of every request."""
    answers, stop = [], time.monotonic() + seconds

    def write(number):
        for turn in itertools.count():
            began = time.monotonic()
            if began > stop:
                return
            reply = work(number % 3, f"{number}-{turn}")
            answers.append((reply.status_code, time.monotonic() - began))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def tell_hot(figures, what, answers):
    """Prints what became of them; returns how many were not answered well."""
    times = sorted(seconds for _, seconds in answers)
    failed = [status for status, _ in answers if status != 200]
    figures.note(what, f"{len(failed)} of {len(answers)} failed, p50 {times[len(times) // 2] * 1000:.0f} ms, "
                       f"p99 {times[len(times) * 99 // 100] * 1000:.0f} ms, longest {times[-1]:.2f} s")
    return failed


def test_rows_that_all_hosts_write_through_three_nodes_fail_nobody(scattered, customer, accounts, hosts, full, figures):
    token, admin = customer.token, accounts.administrator.token
    record = files.upload(customer, samples.noise(100))
    seconds = HOT_SECONDS_FULL if full else HOT_SECONDS

    def upload(host, word):
        return hosts[host].post("/system/files", token=token, **encoded(files.form(word.encode() * 9, f"{word}.txt")))

    works = {"uploads of one organisation": upload,
             "changes of one person": lambda host, word: hosts[host].patch(
                 "/customers/me", token=token, json={"firstName": f"N {word}"}),
             "changes of one file": lambda host, word: hosts[host].patch(
                 f"/system/files/{record['id']}", token=token, json={"name": f"{word}.bin"}),
             "changes of the cache": lambda host, word: hosts[host].post(
                 "/system/cache", token=admin, json={"keys": [f"none:{word}"]})}
    failed = {what: tell_hot(figures, f"nine writers through three nodes, {what}", hot(work, seconds / 4))
              for what, work in works.items()}
    assert not any(failed.values()), failed
    assert len(scattered.nodes_in_use()) == 3


def test_migrate_on_two_nodes_at_once_ends_well_on_both(scattered, full, figures):
    rounds, bad = 20 if full else 4, []
    for _ in range(rounds):
        name = {"GATEHOUSE_DATABASE_NAME": f"twice_{uuid.uuid4().hex}"}
        running = [subprocess.Popen([scattered.stack.ctl, "--config", host.configuration, "migrate"], env=name,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                   for host in scattered.hosts[:2]]
        said = [one.communicate(timeout=120)[0] for one in running]
        if any(one.returncode != 0 for one in running):
            bad.append(said)
    figures.note("migrate at once on two nodes", f"{len(bad)} of {rounds} rounds failed")
    assert not bad, bad[0]
