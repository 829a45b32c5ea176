# SPDX-License-Identifier: MIT
"""GET /system/metrics: well-formed, summed over the processes, true to what was done, surviving the death of workers,
and there for configured addresses only."""

import os
import signal
import subprocess
import time
import uuid

import pytest

from operations.support_outbox import held_job
from support import files, samples
from support.client import check_error
from support.metrics import Scrape, scrape
from support.programs import crash, operator, system
from support.stack import wait_until
from support.wire import fastcgi_client


def test_promtool_has_nothing_to_say(api, promtool):
    reply = api.get("/system/metrics", status=200)
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert reply.headers["Cache-Control"] == "no-store"
    run = subprocess.run([promtool, "check", "metrics"], input=reply.content, capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_what_jobs_once_does_is_counted_with_the_host_s(stack, api, members, owner):
    """An installation may have no job runner but a timer that starts this."""
    members.await_jobs()
    with crash.paused_jobs(stack):
        before = scrape(api)
        api.post("/customers/forgotten-password", json={"username": owner.email}, status=200)
        assert operator.run(stack, "jobs", "--once", status=0) is not None
        after = scrape(api)
    for name, labels in (("gatehouse_outbox_jobs_total", {"outcome": "done"}),
                         ("gatehouse_outbox_seen_timestamp_seconds", {})):
        assert after.value(name, **labels) > before.value(name, **labels), name


def check_histogram(seen, name, family):
    """The buckets of each series rise, and the last one holds all that were counted."""
    for labels in {frozenset(s.labels.items()) for s in family.samples if s.name == name + "_count"}:
        buckets = sorted((float(dict(have)["le"]), value) for (found, have), value in seen.samples.items()
                         if found == name + "_bucket" and labels <= have)
        counts = [value for _, value in buckets]
        assert counts == sorted(counts) and buckets[-1][0] == float("inf")
        assert counts[-1] == seen.samples[(name + "_count", labels)]
        assert (name + "_sum", labels) in seen.samples


def test_every_family_has_help_and_type_once_and_histograms_add_up(api):
    seen = scrape(api)
    for word in ("HELP", "TYPE"):
        named = [line.split()[2] for line in seen.text.splitlines() if line.startswith(f"# {word} ")]
        assert len(named) == len(set(named)) and len(named) >= 30
        assert all(name.startswith("gatehouse_") for name in named)
    assert seen.text.endswith("\n")
    for name, family in seen.families.items():
        assert family.documentation, name
        if family.type == "histogram":
            check_histogram(seen, name, family)


def test_head_answers_without_a_body(api):
    reply = api.head("/system/metrics", status=200)
    assert reply.content == b"" and reply.headers["Content-Type"].startswith("text/plain")


def test_requests_are_summed_over_the_workers_by_operation_and_status(api):
    before = scrape(api)
    for _ in range(40):
        api.get("/system/version", status=200)
    for _ in range(7):
        api.get("/customers/me", status=401)
    for _ in range(5):
        api.get("/nowhere/" + uuid.uuid4().hex, status=404)
    after = scrape(api)

    def grown(**labels):
        return after.value("gatehouse_requests_total", **labels) - before.value("gatehouse_requests_total", **labels)

    assert grown(operation="getVersion", status="200") == 40
    assert grown(operation="getOwnUser", status="401") == 7
    assert grown(operation="other", status="404") == 5
    assert grown(operation="getMetrics", status="200") == 1
    name = "gatehouse_request_duration_seconds"
    counted = [seen.value(name + "_count", operation="getVersion") for seen in (before, after)]
    assert counted[1] - counted[0] == 40
    assert after.value(name + "_sum", operation="getVersion") >= before.value(name + "_sum", operation="getVersion")


def test_an_authorised_read_counts_its_round_trip_and_its_token(api, owner):
    owner.get("/customers/me", status=200)
    before = scrape(api)
    for _ in range(10):
        owner.get("/customers/me", status=200)
    api.get("/customers/me", token="a.b.c", status=401)
    after = scrape(api)
    trips, checks = "gatehouse_database_round_trip_duration_seconds", "gatehouse_token_checks_total"
    assert after.value(trips + "_count") - before.value(trips + "_count") >= 10
    assert after.value(trips + "_sum") > before.value(trips + "_sum")
    good = sum(after.value(checks, result=kind) - before.value(checks, result=kind) for kind in ("memo", "verified"))
    assert good >= 10
    assert after.value(checks, result="refused") > before.value(checks, result="refused")


def test_bytes_of_files_are_counted_as_they_were_sent(api, keeper):
    before, data = scrape(api), samples.noise(54_321)
    record = files.upload(keeper, data, f"counted-{uuid.uuid4().hex}.bin")
    path = f"/system/files/{record['id']}"
    keeper.get(path, status=200)
    keeper.get(path, headers={"Range": "bytes=0-99"}, status=206)
    keeper.api.head(path, token=keeper.token, status=200)
    after = scrape(api)
    assert after.value("gatehouse_upload_files_total") - before.value("gatehouse_upload_files_total") == 1
    assert after.value("gatehouse_upload_bytes_total") - before.value("gatehouse_upload_bytes_total") == len(data)
    assert (after.value("gatehouse_download_bytes_total") - before.value("gatehouse_download_bytes_total")
            == len(data) + 100)
    assert 0 < after.value("gatehouse_blob_free_bytes") <= after.value("gatehouse_blob_size_bytes")


def test_provider_calls_and_throttle_refusals_are_counted(api, accounts, members):
    account, before = accounts.customer(), scrape(api)
    body = {"username": account.email, "password": "not the password at all"}
    statuses = [api.post("/customers/login", json=body, status={401, 429}).status_code for _ in range(7)]
    # The job runner calls the provider, too: a call that ended while the numbers are read would be in one of them only.
    members.await_jobs()
    after = scrape(api)
    calls, refusals = "gatehouse_provider_calls_total", "gatehouse_throttle_refusals_total"
    assert (after.value(calls, outcome="refused") - before.value(calls, outcome="refused")) >= statuses.count(401)
    assert statuses.count(429) >= 1
    assert (after.value(refusals, kind="account") - before.value(refusals, kind="account")) >= statuses.count(429)
    assert after.value("gatehouse_provider_call_duration_seconds_count") == after.value(calls)


def test_the_outbox_shows_what_waits_and_since_when(stack, api, database):
    seen = scrape(api)
    assert seen.value("gatehouse_job_runners") >= 1
    assert abs(time.time() - seen.value("gatehouse_outbox_seen_timestamp_seconds")) < 120
    with held_job(stack, database):
        wait_until(lambda: scrape(api).has("gatehouse_outbox_oldest_timestamp_seconds"), 60, "the job to be due")
        wait_until(lambda: scrape(api).value("gatehouse_outbox_pending") >= 1, 60, "the job to be counted")
        since = scrape(api).value("gatehouse_outbox_oldest_timestamp_seconds")
        assert abs(time.time() - since) < 120


def test_dead_letters_are_counted(api, database):
    kind, before = "test-" + uuid.uuid4().hex[:8], scrape(api)

    def counted():
        """All that are dead: the runner counts them now and then, and others may have come and gone."""
        (dead, ), = database.run("SELECT COUNT(*) FROM outbox WHERE status = 'dead'")
        return dead > 0 and scrape(api).value("gatehouse_outbox_dead") == dead

    database.run("INSERT INTO outbox (kind, payload) VALUES (%s, '')", kind)
    try:
        wait_until(lambda: database.run("SELECT 1 FROM outbox WHERE kind = %s AND status = 'dead'", kind), 60,
                   "the job that nobody knows to be given up")
        wait_until(counted, 60, "the dead jobs to be counted")
        buried = "gatehouse_outbox_jobs_total"
        assert scrape(api).value(buried, outcome="buried") > before.value(buried, outcome="buried")
    finally:
        database.run("DELETE FROM outbox WHERE kind = %s", kind)


def test_the_occupancy_is_that_of_the_pools(stack, api):
    seen = scrape(api)
    assert seen.value("gatehouse_metrics_shared") == 1
    assert seen.value("gatehouse_workers", state="busy") >= 1
    if stack.socket:
        wait_until(lambda: scrape(api).value("gatehouse_workers") == len(stack.workers()), 60,
                   "as many workers in the metrics as there are processes")
        assert seen.value("gatehouse_workers", pool="login") >= 1 and seen.value("gatehouse_workers",
                                                                                 pool="worker") >= 1
    assert seen.value("gatehouse_build_info", version="1.0.0") == 1


# Who may look.


def look(worker, stack, address, method="GET", headers=None):
    """A look at the metrics from an address that the web server gives."""
    values = fastcgi_client.environment(method, stack.prefix + "/system/metrics", headers=headers)
    values["REMOTE_ADDR"] = address
    with worker.connect() as connection:
        return connection.request(values)


def test_other_addresses_find_nothing_there(stack):
    with system.worker(stack) as worker:
        for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
            assert look(worker, stack, address).status == 200, address
        for address in ("10.0.0.1", "192.0.2.1", "::2", "2001:db8::1", "::ffff:10.0.0.1", "", "unix:", "localhost",
                        "127.0.0.1, 10.0.0.1", "0"):
            for method in ("GET", "HEAD"):
                answer = look(worker, stack, address, method)
                assert answer.status == 404, address
            answer = look(worker, stack, address)
            body = check_error(answer.status, answer.headers, answer.body, "metrics")
            assert body["code"] == "route.unknown" and b"gatehouse_" not in answer.body


def test_the_addresses_are_those_configured(stack):
    with system.worker(stack, metrics_allow="192.0.2.0/24 2001:db8::/32") as worker:
        for address in ("192.0.2.255", "2001:db8:ffff::1"):
            assert look(worker, stack, address).status == 200, address
        for address in ("127.0.0.1", "192.0.3.0", "2001:db9::1"):
            assert look(worker, stack, address).status == 404, address
    with system.worker(stack, metrics_allow="none") as worker:
        assert look(worker, stack, "127.0.0.1").status == 404


def test_a_header_of_the_client_is_not_believed(stack, api):
    spoofed = {name: "127.0.0.1" for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Client-IP", "Remote-Addr",
                                              "X-Client-IP", "True-Client-IP")}
    with system.worker(stack, metrics_allow="192.0.2.1") as worker:
        assert look(worker, stack, "127.0.0.1", headers=dict.fromkeys(spoofed, "192.0.2.1")).status == 404
    # Nor does the web server hand one on as the address.
    api.get("/system/metrics", headers=dict.fromkeys(spoofed, "203.0.113.9"), status=200)


def test_a_range_that_is_none_is_refused_at_the_start(stack):
    with pytest.raises(AssertionError, match="metrics.allow"), system.worker(stack, metrics_allow="10.0.0.0/33"):
        pass


def test_a_worker_without_the_file_serves_and_counts_for_itself(stack, tmp_path):
    with system.worker(stack, metrics_file=tmp_path / "missing" / "metrics") as worker:
        assert worker.call("GET", stack.prefix + "/system/version").status == 200
        seen = Scrape(look(worker, stack, "127.0.0.1").body.decode())
        assert seen.value("gatehouse_metrics_shared") == 0
        assert seen.value("gatehouse_requests_total", operation="getVersion", status="200") == 1
        assert seen.value("gatehouse_workers") == 1


# Death.


@pytest.mark.fault
def test_counters_never_go_down_when_workers_are_killed(stack, api, keeper):
    if stack.socket:
        wait_until(lambda: scrape(api).value("gatehouse_workers") == len(stack.workers()), 60,
                   "all workers to be counted")
    last = scrape(api)
    deaths, living = last.value("gatehouse_process_deaths_total"), last.value("gatehouse_workers")
    for _ in range(4):
        for pid in stack.workers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(lambda: api.get("/customers/me", token=keeper.token, edge=True).status_code == 200, 60,
                   "a new worker")
        wait_until(lambda: api.get("/system/metrics", edge=True).status_code == 200, 60, "the metrics")
        seen = scrape(api)
        shrunk = {key: (value, seen.samples.get(key)) for key, value in last.counters().items()
                  if seen.samples.get(key, -1) < value}
        assert not shrunk
        last = seen
    if stack.socket:
        # Those of the first round at least; who dies while it starts has not been counted as living either.
        wait_until(lambda: scrape(api).value("gatehouse_process_deaths_total") - deaths >= living, 60,
                   f"{living} deaths to be counted")
        wait_until(lambda: scrape(api).value("gatehouse_workers") == len(stack.workers()), 60,
                   "the dead to be gone from the pools")
    assert last.value("gatehouse_metrics_shared") == 1
