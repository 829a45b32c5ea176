# SPDX-License-Identifier: MIT
"""The settings document when writers are killed in the middle of it, and on several hosts."""

import concurrent.futures
import contextlib
import json
import os
import random
import subprocess
import uuid

import pytest

from support import settings
from support.programs import crash, system
from support.stack import wait_until

pytestmark = pytest.mark.fault
LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"]
# More messages to the database than a change needs.
FLOOR, MOST = 5, 40
KILLS, HOST_ROUNDS = 40, 60


@pytest.fixture(autouse=True)
def since(administrator):
    """The version that held before the test."""
    tag = settings.put(administrator, **settings.QUIET).headers["ETag"]
    yield int(tag.strip('"'))
    settings.put(administrator, **settings.QUIET)


def put(worker, token, logging, **headers):
    """A change straight to a worker; the status, or None when it died over it."""
    answer = worker.call("PUT",
                         settings.PATH,
                         token=token,
                         body=json.dumps({"logging": logging}).encode(),
                         content_type="application/json",
                         headers=headers)
    return answer.status if answer.ended else None


def whole(administrator, database, since):
    """Every version is a whole document, and the newest is the one that holds."""
    found = [item for item in settings.history(administrator) if item["version"] >= since]
    assert all(item["settings"] is not None for item in found)
    assert found[0]["settings"]["logging"] == settings.get(administrator)
    versions = [item["version"] for item in found]
    assert len(set(versions)) == len(versions)
    # Each version has its audit row.
    told = {int(row[0]) for row in database.run("SELECT target_id FROM audit WHERE action = 'settings.update'")}
    assert set(versions) <= told
    return found


def test_a_writer_killed_at_any_message_leaves_the_old_or_the_new_document(stack, doom, administrator,
                                                                           database, since):
    seen = set()
    for number in range(1, MOST):
        old = {"level": LEVELS[number % 5], "filter": f"files={LEVELS[number % 6]}"}
        new = {"level": LEVELS[(number + 1) % 5], "filter": f"blob={LEVELS[number % 6]},mail=warn"}
        with doom.worker() as worker:
            token = administrator.token
            assert put(worker, token, old) == 200
            doom.arm(number)
            status = put(worker, token, new)
            doom.disarm()
        held = settings.get(administrator)
        assert held in (old, new), f"killed at message {number}"
        whole(administrator, database, since)
        if status is not None:
            assert status == 200 and held == new and number > FLOOR
            break
        seen.add(held == new)
    else:
        pytest.fail(f"a change takes more than {MOST} messages")
    assert False in seen


def test_a_command_killed_at_any_message_leaves_the_old_or_the_new_document(stack, doom, administrator,
                                                                            database, since):
    for number in range(1, MOST):
        old, level = settings.get(administrator), LEVELS[number % 6]
        doom.arm(number)
        done = subprocess.run([stack.ctl, "--config", stack.configuration, "settings", "set", "--level", level],
                              env={**os.environ, **doom.environment},
                              capture_output=True,
                              timeout=60)
        doom.disarm()
        assert settings.get(administrator) in (old, {**old, "level": level}), f"killed at message {number}"
        whole(administrator, database, since)
        if done.returncode == 0:
            assert settings.get(administrator)["level"] == level and number > FLOOR
            return
        assert done.returncode == -9, done
    pytest.fail(f"the command takes more than {MOST} messages")


def test_a_storm_of_kills_leaves_one_whole_document(stack, administrator, database, since):
    """Writers of every kind, with and without a condition, while workers are killed at random."""
    if not stack.nginx:
        pytest.skip("what a crash leaves does not depend on the web server; it is looked at behind nginx")
    token, sent, killed = administrator.token, [], 0
    choose = random.Random(7)

    def write(number):
        logging = {"level": LEVELS[number % 6], "filter": f"files={LEVELS[number % 5]},blob={LEVELS[number % 6]}"}
        sent.append(logging)
        headers = {}
        if number % 2:
            got = administrator.api.get(settings.PATH, token=token, edge=True, status={200, 500, 502, 503, 504})
            headers = {"If-Match": got.headers["ETag"]} if got.status_code == 200 else {}
        reply = administrator.api.put(settings.PATH,
                                      token=token,
                                      json={"logging": logging},
                                      headers=headers,
                                      edge=True,
                                      status={200, 409, 500, 502, 503, 504})
        return reply.status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        pending, number, done = set(), 0, []
        while killed < KILLS:
            while len(pending) < 16:
                pending.add(pool.submit(write, number))
                number += 1
            finished, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            done += [one.result() for one in finished]
            victims = [child for name in ("worker", ) for one in stack.pids_named(name)
                       for child in crash.children(one)]
            if victims and choose.random() < 0.5:
                killed += crash.kill(choose.choice(victims))
        done += [one.result() for one in pending]
    assert done.count(200) > KILLS / 2, done
    wait_until(lambda: administrator.api.get(settings.PATH, token=token, edge=True).status_code == 200, 60,
               "the workers to be back")
    found = whole(administrator, database, since)
    assert settings.get(administrator) in sent
    assert sum(item["settings"]["logging"] in sent for item in found) >= done.count(200)


# ---- several hosts ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def host(stack, folder):
    """Another host: a worker and a job runner that share nothing with the stack's own but the database."""
    places = {"METRICS_FILE": str(folder / "metrics"), "LOG_DESTINATION": "stderr"}
    environment = {**os.environ, **{f"GATEHOUSE_{name}": value for name, value in places.items()}}
    runner = subprocess.Popen([stack.ctl, "--config", stack.configuration, "jobs"],
                              env=environment,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        with system.worker(stack, **{name.lower(): value for name, value in places.items()}) as worker:
            yield worker
    finally:
        runner.terminate()
        runner.wait(60)


def says(worker, path, token=None):
    """Whether the worker leaves a line of a request at level info."""
    identity = f"test-host-{uuid.uuid4()}"
    assert worker.call("GET", path, token=token, headers={"X-Request-Id": identity}).status == 200
    with open(worker.log, encoding="utf-8") as file:
        return any(identity in line and '"message":"request"' in line for line in file)


def test_another_host_follows_on_its_next_request(stack, administrator, tmp_path):
    token = administrator.token
    with host(stack, tmp_path) as worker:
        stale = 0
        for number in range(HOST_ROUNDS):
            wanted = number % 2 == 0
            settings.put(administrator, level="info" if wanted else "error")
            stale += says(worker, "/customers/me", token) != wanted
        assert stale == 0


def test_another_hosts_paths_without_a_database_follow_within_a_moment(stack, administrator, tmp_path):
    with host(stack, tmp_path) as worker:
        for level, wanted in (("error", False), ("info", True), ("fatal", False), ("debug", True)):
            settings.put(administrator, level=level)
            for path in ("/system/version", "/system/health/live"):
                wait_until(lambda path=path, wanted=wanted: says(worker, path) == wanted, 60,
                           f"{path} of the other host to follow level {level}")


def test_a_host_without_a_database_goes_on_with_what_it_knows(stack, administrator, tmp_path):
    """A worker that cannot ask what is new answers what it can all the same."""
    settings.put(administrator, level="info")
    places = {"metrics_file": str(tmp_path / "metrics"), "log_destination": "stderr"}
    with system.worker(stack, **places) as worker:
        assert says(worker, "/customers/me", administrator.token)
        settings.put(administrator, level="error")
        with system.worker(stack, database_socket=str(tmp_path / "nobody.sock"), **places) as lonely:
            # Its host knows of the change; it cannot follow it, and keeps its configuration's level.
            assert not says(worker, "/customers/me", administrator.token)
            assert says(lonely, "/system/version")
            with open(lonely.log, encoding="utf-8") as file:
                assert "a change could not be followed yet" in file.read()
