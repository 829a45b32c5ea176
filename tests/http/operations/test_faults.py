# SPDX-License-Identifier: MIT
"""What the service needs is taken away: clean errors that say when to come again, nothing half done,
recovery by itself."""

import json
import os
import resource
import signal
import socket
import threading
import time

import pytest

from support import files, multipart, readiness, samples
from support.client import check_error
from support.database import key
from support.programs import crash, system
from support.stack import wait_until
from support.wire import fastcgi_client


@pytest.fixture()
def stray(accounts, database):
    """A customer whose files lie elsewhere than in the stack's own blob directory; their rows go when the
    test ends."""
    account = accounts.customer()
    yield account
    database.run(
        "DELETE file_tag FROM file_tag JOIN file ON file.id = file_tag.file_id WHERE file.user_id = %s",
        key(account.id))
    database.run("DELETE FROM file WHERE user_id = %s", key(account.id))
    database.run("DELETE FROM file_usage WHERE organisation_id = (SELECT organisation_id FROM user WHERE id = %s)",
                 key(account.id))


def body_of(answer, where):
    """The parsed error body of a FastCGI answer."""
    return check_error(answer.status, answer.headers, answer.body, where)


def blobs(directory):
    """Every file under a directory."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names]


def test_without_a_database_every_answer_is_a_clean_500(stack, keeper, tmp_path):
    with system.worker(stack, database_socket=str(tmp_path / "nobody.sock")) as worker:
        for method, path, body in (("GET", "/customers/me", None), ("GET", "/system/files", None),
                                   ("POST", "/customers/login",
                                    b'{"username":"a@example.com","password":"wrong password"}')):
            answer = worker.call(method,
                                 stack.prefix + path,
                                 token=keeper.token if method == "GET" else None,
                                 body=body or b"",
                                 content_type="application/json" if body else None)
            assert answer.status == 500 and body_of(answer, path)["code"] == "database.unavailable"
            assert str(tmp_path) not in answer.body.decode() and "nobody.sock" not in answer.body.decode()
        ready = worker.call("GET", stack.prefix + "/system/health/ready")
        assert ready.status == 500 and "database" in ready.body.decode().lower()
        assert worker.call("GET", stack.prefix + "/system/health/live").status == 200
        assert worker.call("GET", stack.prefix + "/nowhere").status == 404
        assert worker.process.poll() is None


def test_a_database_that_accepts_and_never_answers_costs_seconds_not_the_worker(stack, keeper, tmp_path):
    path = str(tmp_path / "silent.sock")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(16)
        with system.worker(stack, database_socket=path) as worker:
            started = time.monotonic()
            answer = worker.call("GET", stack.prefix + "/customers/me", token=keeper.token, timeout=40)
            assert answer.status == 500 and body_of(answer, "silent database")["code"] == "database.unavailable"
            assert time.monotonic() - started < 25


def test_a_full_disk_is_storage_full_and_leaves_nothing(stack, stray, small_disk):
    with system.worker(stack, files_directory=str(small_disk), files_delivery="stream") as worker:
        first = files.send_to(worker, stack, stray, files.form(samples.noise(1 << 20), "fits.bin"))
        assert first.status == 200
        kept, listed = blobs(small_disk), len(files.listed(stray, status="all"))
        used = os.statvfs(small_disk).f_bfree
        for size in (5 << 20, 30 << 20):
            started = time.monotonic()
            answer = files.send_to(worker, stack, stray, files.form(samples.noise(size), "too-big.bin"))
            assert answer.status == 500 and body_of(answer, "full disk")["code"] == "storage.full"
            assert time.monotonic() - started < 20
        two = files.form(samples.noise(1 << 20),
                         "one.bin") + [multipart.Part("file", samples.noise(5 << 20), "two.bin")]
        assert body_of(files.send_to(worker, stack, stray, two), "full disk")["code"] == "storage.full"
        assert blobs(small_disk) == kept and len(files.listed(stray, status="all")) == listed
        assert os.statvfs(small_disk).f_bfree == used, "bytes of a refused upload are still held"
        # Reads are still served, and what fits is kept as before.
        record = worker.call("GET", stack.prefix + "/system/files?limit=1", token=stray.token)
        assert record.status == 200
        assert files.send_to(worker, stack, stray, files.form(samples.noise(1 << 19), "fits too.bin")).status == 200


def test_a_refused_upload_holds_no_bytes_once_it_is_answered(stack, stray, small_disk):
    """Although its client does not hang up, so that the worker still waits for that."""
    with system.worker(stack, files_directory=str(small_disk), files_delivery="stream") as worker:
        free = os.statvfs(small_disk).f_bfree
        mark = multipart.boundary()
        body = multipart.encode(files.form(samples.noise(1 << 20), "good.bin", bucket="no-such-bucket"), mark)
        parameters = fastcgi_client.environment("POST", stack.prefix + "/system/files", body=body,
                                                content_type=multipart.content_type(mark),
                                                headers={"Authorization": f"Bearer {stray.token}"})
        with worker.connect() as connection:
            assert connection.request(parameters, body).status == 400
            assert os.statvfs(small_disk).f_bfree == free, "bytes of a refused upload are still held"


def test_a_file_size_limit_of_the_process_is_storage_trouble_not_a_crash(stack, stray, tmp_path):
    (tmp_path / "files").mkdir()
    with system.worker(stack, [(resource.RLIMIT_FSIZE, 1 << 20)],
                       files_directory=str(tmp_path / "files"),
                       files_delivery="stream") as worker:
        answer = files.send_to(worker, stack, stray, files.form(samples.noise(3 << 20), "over.bin"))
        assert answer.status == 500 and body_of(answer, "EFBIG")["code"] in ("storage.full", "storage.unavailable")
        assert blobs(tmp_path / "files") == [] and worker.process.poll() is None
        assert files.send_to(worker, stack, stray, files.form(samples.noise(1000), "under.bin")).status == 200


def test_a_log_over_the_file_size_limit_does_not_end_a_worker_that_starts(stack, tmp_path):
    """Its first lines are written long before it serves: here one on a metrics file that it cannot have."""
    log = tmp_path / "over.log"
    log.write_bytes(b"\n" * (2 << 20))
    with system.worker(stack, [(resource.RLIMIT_FSIZE, 1 << 20)], log_destination="file", log_file=str(log),
                       metrics_file="/dev/null") as worker:
        assert worker.call("GET", "/system/health/live").status == 200
        assert log.stat().st_size == 2 << 20


def test_a_file_over_the_configured_size_is_413_and_named(stack, stray, tmp_path):
    (tmp_path / "files").mkdir()
    with system.worker(stack,
                       files_directory=str(tmp_path / "files"),
                       files_delivery="stream",
                       service_max_file_bytes=100_000) as worker:
        assert files.send_to(worker, stack, stray, files.form(samples.noise(100_000), "just.bin")).status == 200
        kept = blobs(tmp_path / "files")
        form = files.form(samples.noise(10),
                          "small.bin") + [multipart.Part("file", samples.noise(100_001), "big.bin")]
        answer = files.send_to(worker, stack, stray, form)
        body = body_of(answer, "too big")
        assert (answer.status, body["code"]) == (413, "request.tooLarge") and [
            entry["path"] for entry in body["validation"]
        ] == ["file[1]"]
        assert blobs(tmp_path / "files") == kept


def test_a_stack_trace_is_shown_only_where_it_is_switched_on(stack, tmp_path):
    with system.worker(stack, database_socket=str(tmp_path / "nobody.sock"),
                       service_expose_stack="true") as worker:
        answer = worker.call("POST",
                             stack.prefix + "/customers/login",
                             body=b'{"username":"a@example.com","password":"wrong password"}',
                             content_type="application/json")
        assert answer.status == 500
        assert json.loads(answer.body)["stack"] != ""


@pytest.mark.web_server
@pytest.mark.fault
def test_a_killed_database_is_a_clean_500_and_comes_back_without_a_restart_of_the_workers(stack, api, keeper):
    keeper.get("/customers/me", status=200)
    workers = set(stack.workers())
    pids = stack.pids_named("mariadb") or stack.pids_named("database") or stack.pids_named("mysql")
    assert pids, f"quickstart.json records no database process: {stack.pids()}"
    token = keeper.token
    os.kill(pids[0], signal.SIGKILL)
    seen, slowest, deadline = {}, 0.0, time.monotonic() + 60
    while time.monotonic() < deadline:
        started = time.monotonic()
        reply = api.get("/customers/me", token=token, status={200, 500})
        slowest = max(slowest, time.monotonic() - started)
        seen[reply.status_code] = seen.get(reply.status_code, 0) + 1
        if reply.status_code == 500:
            assert reply.json()["code"] == "database.unavailable"
        elif 500 in seen:
            break
        time.sleep(0.01)
    assert seen.get(500), f"the outage was never seen: {seen}"
    assert reply.status_code == 200, f"not back within a minute: {seen}"
    assert slowest < 20
    # Every worker is back, not only the one that answered.
    wait_until(lambda: all(api.get("/customers/me", token=token).status_code == 200 for _ in range(24)), 60,
               "all workers to be back")
    assert set(stack.workers()) == workers, "workers were restarted"
    readiness.ready(api)


@pytest.mark.web_server
@pytest.mark.fault
def test_a_killed_worker_is_replaced_and_nobody_notices_for_long(stack, api, keeper):
    workers = stack.workers()
    assert len(workers) >= 2
    for pid in workers:
        crash.kill(pid)
    wait_until(lambda: api.get("/customers/me", token=keeper.token, edge=True).status_code == 200, 60,
               "the first new worker")
    # mod_fcgid starts workers as requests need them; multiwatch keeps the number.
    wanted = len(workers) if stack.socket else 1
    wait_until(lambda: len(set(stack.workers()) - set(workers)) >= wanted, 60, "as many new workers")
    for _ in range(20):
        keeper.get("/customers/me", status=200)


@pytest.mark.web_server
@pytest.mark.fault
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGQUIT])
def test_a_worker_told_to_end_finishes_what_it_does(stack, keeper, end):
    """To every worker in turn, while uploads run: none of them fails. SIGQUIT is what multiwatch sends."""
    if not stack.socket:
        pytest.skip("mod_fcgid chooses a worker first and does not hear that somebody else has ended it")
    failures, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            try:
                reply = files.send(keeper, files.form(samples.noise(200_000), "drained.bin"))
                if reply.status_code != 200:
                    failures.append(reply.text[:300])
            except AssertionError as fault:
                failures.append(str(fault)[:200])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for pid in stack.workers():
        time.sleep(0.2)
        try:
            os.kill(pid, end)
        except ProcessLookupError:
            pass
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    wait_until(lambda: len(stack.workers()) >= 2, 60, "new workers")
