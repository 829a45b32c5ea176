# SPDX-License-Identifier: MIT
"""Readiness: each part is brought down in turn, is named, and comes back without a restart of the worker."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

from operations.support_outbox import held_job
from operations.support_relay import relay
from support import readiness
from support.client import check_error
from support.programs import system
from support.stack import wait_until

PARTS = ("database", "migrations", "storage", "identityProvider", "secrets", "outbox", "configuration", "log", "cache",
         "mail")
DEADLINE = 5
# Beyond this it was not the deadline that ended a look; what hangs does so for minutes.
BOUND = 20


def ask(worker, stack):
    """(status, the states of the parts, the whole body) of one look at readiness."""
    answer, body = readiness.ask(worker, stack)
    if answer.status == 200:
        return 200, {part: body[part] for part in PARTS}, body
    check_error(answer.status, answer.headers, answer.body, "ready")
    return answer.status, {part: body["body"][part] for part in PARTS}, body


def assert_down(worker, stack, part, code):
    """The part, and no other, is down; the body names it and tells nothing of the machine."""
    status, states, body = ask(worker, stack)
    assert status == 500 and body["body"]["part"] == part and body["code"] == code, body
    assert [name for name in PARTS if states[name] == "down"] == [part], states
    assert [entry["path"] for entry in body["validation"]] == [part]
    for secret in (stack.database["socket"], str(stack.blobs), str(stack.path.parent), stack.database["user"] + "@"):
        assert secret not in json.dumps(body), secret
    return states


def wait_until_ready(worker, stack, seconds=60):

    def ready():
        status, states, _ = ask(worker, stack)
        assert status != 200 or set(states.values()) == {"ok"}, states
        return status == 200

    wait_until(ready, seconds, "the worker to be ready again")


def assert_alive(worker, stack):
    assert worker.call("GET", stack.prefix + "/system/health/live").status == 200
    assert worker.process.poll() is None


@pytest.mark.web_server
def test_ready_names_every_part_and_live_names_none(api):
    expected = {"status": "ok", **{part: "ok" for part in PARTS}}

    def look():
        """Some part may not have answered within the deadline, which is that of the stack."""
        ready = readiness.ready(api)
        # Other tests damage files on purpose, which takes no host out.
        assert ready.pop("scrub") in ("ok", "warning") and ready.keys() == expected.keys()
        print(ready)
        return ready == expected

    wait_until(look, readiness.PATIENCE, "all parts to be in order")
    assert api.get("/system/health/live", status=200).json() == {"status": "ok"}


def test_a_database_that_is_not_there_is_named_and_comes_back(stack, tmp_path):
    path = tmp_path / "database.sock"
    with readiness.worker(stack, database_socket=str(path)) as worker:
        states = assert_down(worker, stack, "database", "database.unavailable")
        # Whoever watches, asks most of all now.
        for uri in ("/system/metrics", "/system/version", "/system/openapi.json"):
            assert worker.call("GET", stack.prefix + uri).status == 200
        # What is kept in the database cannot be told about without it; the rest can.
        assert states["migrations"] == states["outbox"] == "unknown" and states["storage"] == "ok"
        assert_alive(worker, stack)
        path.symlink_to(stack.database["socket"])
        wait_until_ready(worker, stack)


def test_a_database_that_hangs_does_not_hold_ready_beyond_its_deadline(stack, tmp_path):
    # The worker's own bounds would let the database take minutes.
    with relay(tmp_path, stack.database["socket"]) as (path, between), system.worker(
            stack,
            database_socket=path,
            database_connect_timeout_seconds=60,
            database_query_timeout_seconds=600,
            health_deadline_seconds=DEADLINE) as worker:  # six looks wait for it
        wait_until_ready(worker, stack)
        for _ in range(3):  # with a connection that hangs, then with new ones that do
            between.silent.set()
            begun = time.monotonic()
            assert_down(worker, stack, "database", "database.unavailable")
            assert_down(worker, stack, "database", "database.unavailable")
            assert time.monotonic() - begun < 2 * BOUND
            assert_alive(worker, stack)
            between.silent.clear()
            wait_until_ready(worker, stack)


def test_a_database_older_than_the_service_is_named_until_it_is_migrated(stack, database, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(stack.data_file("sql").parent, data)
    (data / "sql" / "999-later.sql").write_text("SELECT 1;\n")
    row = (999, "999-later.sql", b"\0" * 32, 1, 1)
    with readiness.worker(stack, data_dir=data) as worker:
        assert_down(worker, stack, "migrations", "database.unavailable")
        assert_alive(worker, stack)
        try:
            database.run("INSERT INTO schema_migration (version, name, checksum, statements, done, applied_at)"
                         " VALUES (%s, %s, %s, %s, %s, UTC_TIMESTAMP(3))", *row)
            wait_until_ready(worker, stack)
        finally:
            database.run("DELETE FROM schema_migration WHERE version = 999")
        assert_down(worker, stack, "migrations", "database.unavailable")


def remount(disk, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def test_a_disk_that_is_nearly_full_or_read_only_is_named_and_comes_back(stack, small_disk):
    with readiness.worker(stack, files_directory=str(small_disk)) as worker:
        assert_down(worker, stack, "storage", "storage.full")
        remount(small_disk, "size=256m")
        wait_until_ready(worker, stack)
        remount(small_disk, "ro")
        assert_down(worker, stack, "storage", "storage.unavailable")
        assert_alive(worker, stack)
        remount(small_disk, "rw")
        wait_until_ready(worker, stack)
        assert list(pathlib.Path(small_disk).rglob("*")) == [], "looking left something behind"


def test_less_space_than_is_configured_is_named(stack):
    with readiness.worker(stack, health_free_bytes_min=1 << 50) as worker:
        assert_down(worker, stack, "storage", "storage.full")


def test_missing_provider_keys_are_named_and_come_back(stack, database, tmp_path):
    """A worker that has read the keys, or finds them in the host's cache, goes on with them; one without any is not
    ready."""
    with readiness.worker(stack) as running, readiness.worker(
            stack, cache_file=tmp_path / "cache") as fresh:
        wait_until_ready(running, stack)
        database.run("RENAME TABLE identity_signing_key TO identity_signing_key_away")
        try:
            assert_down(fresh, stack, "identityProvider", "identityProvider.unavailable")
            assert ask(running, stack)[0] == 200
        finally:
            database.run("RENAME TABLE identity_signing_key_away TO identity_signing_key")
        wait_until_ready(fresh, stack)


def test_jobs_that_wait_for_too_long_are_named_until_they_are_done(stack, database):
    with held_job(stack, database) as (holder, cursor, number), readiness.worker(
            stack, health_outbox_lag_seconds=1) as worker:
        wait_until(lambda: ask(worker, stack)[0] == 500, 60, "the job to be late")
        assert_down(worker, stack, "outbox", "internal")
        assert_alive(worker, stack)
        cursor.execute("DELETE FROM outbox WHERE id = %s", (number, ))
        holder.commit()
        wait_until_ready(worker, stack)


def test_a_provider_that_says_nothing_does_not_hold_ready_beyond_its_deadline(stack, tmp_path):
    """Alone, and together with a database that says nothing either: there is one deadline for all of it."""
    secret = tmp_path / "secret"
    secret.write_text("s")
    secret.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent, relay(
            tmp_path, stack.database["socket"]) as (path, between), system.worker(
                stack,
                identity_provider="keycloak",
                keycloak_url=f"http://127.0.0.1:{silent.getsockname()[1]}",
                keycloak_realm="none",
                keycloak_client_id="none",
                keycloak_client_secret_file=secret,
                keycloak_admin_client_id="none",
                keycloak_admin_client_secret_file=secret,
                cache_file=tmp_path / "cache",
                database_socket=path,
                database_query_timeout_seconds=600,
                health_deadline_seconds=DEADLINE) as worker:
        for hanging in (False, True):
            if hanging:
                between.silent.set()
            begun = time.monotonic()
            status, states, _ = ask(worker, stack)
            assert status == 500 and time.monotonic() - begun < BOUND
            assert states["database"] == ("down" if hanging else "ok")
            assert states["identityProvider"] == ("unknown" if hanging else "down"), states


@pytest.fixture()
def frozen(tmp_path):
    """A disk that can be frozen: whoever writes to it then waits in the kernel, and nothing ends that."""
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(200 << 20)
    for command in (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, mount]):
        if os.geteuid() != 0 or shutil.which(command[0]) is None or subprocess.run(command,
                                                                                   check=False).returncode != 0:
            pytest.skip("mounting a disk out of a file needs root and a loop device")
    yield mount
    subprocess.run(["fsfreeze", "-u", mount], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["umount", "-l", mount], check=True)


def test_a_disk_that_hangs_does_not_hold_ready_beyond_its_deadline(stack, frozen):
    with system.worker(stack, files_directory=frozen, health_deadline_seconds=DEADLINE) as worker:
        wait_until_ready(worker, stack)
        subprocess.run(["fsfreeze", "-f", frozen], check=True)
        try:
            for _ in range(3):
                begun = time.monotonic()
                status, states, body = ask(worker, stack)
                assert status == 500 and time.monotonic() - begun < BOUND
                assert body["body"]["part"] == "storage" and states["database"] == "ok", states
            assert_alive(worker, stack)
        finally:
            subprocess.run(["fsfreeze", "-u", frozen], check=True)
        wait_until(lambda: ask(worker, stack)[0] == 200, 60, "the disk to be used again")
