# SPDX-License-Identifier: MIT
"""--cluster: what it starts, what it restarts and what can be kept dead, and what a later start finds.
tools/test cluster runs these."""

import http.client
import os
import signal
import time

from conftest import wait_until
from test_demo import has_the_example
from test_life import ask, signs_in

PARTS = {"quickstart", "haproxy", "db1", "db2", "db3", "store1", "store2", "store3",
         *(f"h{at}-{part}" for at in (1, 2, 3) for part in ("workers", "login", "uploads", "jobs", "nginx"))}


def start(quickstart):
    """Starts it, tells how long that took, and returns what quickstart.json says."""
    began = time.monotonic()
    quickstart.start("--cluster")
    print(f"\nup in {time.monotonic() - began:.1f} s")
    return quickstart.facts()


def ask_host(host, path, headers=None):
    """Status, headers and body of a GET at one host."""
    connection = http.client.HTTPConnection(host["baseUrl"].split("//")[1], timeout=60)
    try:
        connection.request("GET", path, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()
    finally:
        connection.close()


def kill_all(quickstart):
    """SIGKILL to everything, the supervisor first, so that nothing ends in order."""
    quickstart.kill_supervisor()
    for pid in quickstart.processes():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until(lambda: not quickstart.processes(), 60, "the end of all processes")


def test_all_parts_run_and_what_is_kept_dead_stays_dead_and_later_starts_find_the_data(quickstart):
    facts = start(quickstart)
    cluster = facts["cluster"]
    assert set(facts["pids"]) == PARTS
    assert cluster["front"] == facts["baseUrl"] and len(cluster["hosts"]) == len(cluster["databases"]) == 3
    assert all(os.path.isdir(f"/proc/{pid}") for pid in facts["pids"].values())
    assert signs_in(quickstart)
    for host in cluster["hosts"]:
        assert ask_host(host, "/system/health/ready")[0] == 200, host

    # What dies is restarted, unless a file in the folder `hold` has its name.
    held = os.path.join(cluster["hold"], "store1")
    with open(held, "w", encoding="ascii"):
        os.kill(facts["pids"]["store1"], signal.SIGKILL)
    quickstart.kill("store2")
    assert "store1" not in quickstart.facts()["pids"] and quickstart.facts()["cluster"]["store"]["pids"]["1"] is None
    assert signs_in(quickstart)
    os.unlink(held)
    wait_until(lambda: "store1" in quickstart.facts()["pids"], 60, "the store that was kept dead")

    quickstart.stop()
    assert not quickstart.processes()
    assert ask(quickstart, "GET", "/system/health/ready")[0] == 0
    again = start(quickstart)
    assert again["admin"] == facts["admin"] and signs_in(quickstart)
    kill_all(quickstart)
    start(quickstart)
    assert signs_in(quickstart)
    quickstart.stop()
    assert not quickstart.processes()


def test_the_example_of_demo_is_on_every_host(quickstart):
    quickstart.start("--cluster", "--demo")
    for host in quickstart.facts()["cluster"]["hosts"]:
        assert ask_host(host, "/system/health/ready")[0] == 200, host
    files = has_the_example(quickstart)
    status, reply = ask(quickstart, "POST", "/customers/login", quickstart.facts()["demo"])
    assert status == 200, reply
    bearer = {"Authorization": f"Bearer {reply['tokens']['accessToken']}"}
    for host, file in zip(quickstart.facts()["cluster"]["hosts"], files):
        status, _, data = ask_host(host, f"/system/files/{file['id']}", bearer)
        assert status == 200 and len(data) == file["info"]["size"]
    quickstart.stop()
    quickstart.start("--cluster", "--demo")
    has_the_example(quickstart)
