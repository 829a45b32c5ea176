# SPDX-License-Identifier: MIT
"""tools/quickstart from its start to its stop: what runs, whom it lets in, what its options change."""

import http.client
import json
import os
import stat

import pytest

from conftest import ENVIRONMENT, wait_until

KEYS = {"baseUrl", "webUrl", "admin", "mailDirectory", "configuration", "fastcgiSocket", "database", "blobDirectory",
        "logDirectory", "gatehousectl", "corsOrigins", "webServer", "provider", "emulator", "providerUrl", "pids"}
SERVERS = {"nginx": {"workers", "login", "uploads", "jobs", "mariadb", "nginx", "quickstart"},
           "apache": {"workers", "login", "uploads", "jobs", "mariadb", "apache", "quickstart"},
           "apache-fcgid": {"jobs", "mariadb", "apache", "quickstart"}}


def ask(quickstart, method, path, body=None, token=None):
    """Status and parsed reply; status 0 when there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", quickstart.port, timeout=60)
    try:
        connection.request(method, path, body and json.dumps(body),
                           {**({"Content-Type": "application/json"} if body else {}),
                            **({"Authorization": f"Bearer {token}"} if token else {})})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    except (OSError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()


def signs_in(quickstart):
    """Whether the administrator of quickstart.json gets tokens."""
    return ask(quickstart, "POST", "/customers/login", quickstart.facts()["admin"])[0] == 200


@pytest.mark.parametrize("server", list(SERVERS))
def test_background_returns_when_it_is_ready_and_stop_leaves_nothing(quickstart, server):
    began = quickstart.start("--web-server", server)
    assert ask(quickstart, "GET", "/system/health/ready")[0] == 200
    facts = quickstart.facts()
    assert set(facts) == KEYS and set(facts["pids"]) == SERVERS[server]
    assert facts["baseUrl"] in began.stdout and facts["admin"]["password"] in began.stdout
    assert all(os.path.isdir(f"/proc/{pid}") for pid in facts["pids"].values())
    assert signs_in(quickstart)
    quickstart.stop()
    assert not quickstart.processes()
    assert ask(quickstart, "GET", "/system/health/ready")[0] == 0


@pytest.mark.parametrize("way", ["buffered", "file", "unbuffered"])
def test_uploads_are_handed_on_as_asked_and_have_workers_of_their_own(quickstart, way):
    quickstart.start(*([] if way == "file" else ["--uploads", way]))  # that is the default
    assert signs_in(quickstart)
    assert set(quickstart.facts()["pids"]) == SERVERS["nginx"]
    with open(quickstart.facts()["configuration"], encoding="utf-8") as file:
        assert ("\nbody_directory = " in file.read()) == (way == "file")


def test_it_finds_its_data_again_behind_another_server(quickstart):
    quickstart.start()
    before = quickstart.facts()
    quickstart.stop()
    quickstart.start("--web-server", "apache")
    after = quickstart.facts()
    assert after["admin"] == before["admin"] and after["webServer"] == "apache"
    assert signs_in(quickstart)


def test_nobody_else_may_look_into_it(quickstart):
    quickstart.start()
    assert stat.S_IMODE(quickstart.state.stat().st_mode) == 0o700
    for name in ("quickstart.json", "etc/gatehouse.conf", "secrets/administrator-password",
                 "secrets/database-password"):
        assert stat.S_IMODE((quickstart.state / name).stat().st_mode) == 0o600, name
    for path in (quickstart.state / "secrets").iterdir():
        assert not path.stat().st_mode & stat.S_IRWXO, path


def test_two_run_side_by_side(quickstart, another):
    quickstart.start()
    another.start("--web-server", "apache")
    assert quickstart.facts()["admin"] != another.facts()["admin"]
    assert signs_in(quickstart) and signs_in(another)
    quickstart.stop()
    assert signs_in(another)


def test_the_callers_environment_changes_nothing(quickstart):
    quickstart.builds = True  # make reads MAKEFLAGS
    quickstart.start(environment={**ENVIRONMENT, "GATEHOUSE_FILES_DELIVERY": "bogus", "MAKEFLAGS": "-n",
                                  "GATEHOUSE_SERVICE_BASE_URL": "http://evil.example", "PYTHONHOME": "/nonexistent"})
    status, document = ask(quickstart, "GET", "/system/openapi.json")
    assert status == 200 and "evil" not in json.dumps(document)


def test_the_number_of_workers_can_be_chosen(quickstart):
    quickstart.start("--workers", "7")
    master = quickstart.pid("workers")

    def count():
        with open(f"/proc/{master}/task/{master}/children", encoding="ascii") as children:
            return len(children.read().split())

    wait_until(lambda: count() >= 7, 60, "seven workers")
    assert count() == 7
