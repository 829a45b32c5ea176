# SPDX-License-Identifier: MIT
"""Sessions of a remote identity provider on three hosts: a realm of the tests' own (tests/unit/identity), which
rotates its refresh tokens and ends a session whose token comes twice."""

import concurrent.futures
import contextlib
import uuid

import pytest
from providers import support_remote as remote
from support.programs import operator
from support_workers import workers

PASSWORD = "administrator password 1"


@pytest.fixture(scope="module")
def remote_hosts(cluster, tmp_path_factory):
    """A database of its own in the cluster, and a worker on each host that uses the realm."""
    folder, name = tmp_path_factory.mktemp("realm"), f"remote_{uuid.uuid4().hex}"
    with contextlib.ExitStack() as started:
        realm = started.enter_context(remote.pool(remote.KEYCLOAK, folder))
        settings = {"database_name": name, "identity_provider": "keycloak", **identity_settings(realm, folder)}
        environment = {f"GATEHOUSE_{key.upper()}": value for key, value in settings.items()}
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        run = {"configuration": cluster.hosts[0].configuration, "environment": environment}
        operator.run(cluster.stack, "migrate", **run)
        operator.run(cluster.stack, "create-admin", "--email", remote.ADMIN, "--password-file",
                     str(folder / "password"), **run)
        yield started.enter_context(workers(cluster, **settings)), name, realm


def identity_settings(realm, folder):
    """The lines of the realm's section, and its secrets, as settings of a worker."""
    (folder / "secrets").mkdir()
    for name, secret in realm.kind.secrets.items():
        path = folder / "secrets" / name
        path.write_text(secret, encoding="utf-8")
        path.chmod(0o600)
    text = realm.kind.settings.format(url=realm.url, port=realm.port, folder=folder)
    lines = [line.partition(" = ") for line in text.splitlines() if " = " in line]
    return {f"{realm.kind.name}_{name}": value for name, _, value in lines}


def test_a_refresh_token_that_is_spent_on_three_hosts_at_once_leaves_one_session(remote_hosts, cluster, full, figures):
    hosts, name, realm = remote_hosts
    rounds, bad = 200 if full else 10, []

    def counted(sql):
        database = cluster.databases[0]
        database.run("SET SESSION wsrep_sync_wait = 7")
        return database.run(sql)[0][0]

    sessions = f"SELECT COUNT(*) FROM `{name}`.session WHERE ended_at IS NULL"
    unspent = f"SELECT COUNT(*) FROM `{name}`.identity_refresh WHERE spent_at IS NULL"
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for number in range(rounds):
            before = counted(sessions), counted(unspent)
            login = hosts[number % 3].good("POST", "/customers/login",
                                           {"username": remote.ADMIN, "password": PASSWORD})["tokens"]
            body = {"refreshToken": login["refreshToken"]}
            replies = list(pool.map(lambda host, sent=body: host.ask("POST", "/customers/refresh", sent), hosts))
            given = {reply["tokens"]["refreshToken"] for status, reply, _ in replies if status == 200}
            left = counted(sessions) - before[0], counted(unspent) - before[1]
            status = [one[0] for one in replies]
            if (status, len(given), left) != ([200] * 3, 1, (1, 1)):
                bad.append((number, status, len(given), left))
                continue
            # It goes on, here and at the provider, with the one token that all three were given.
            tokens = hosts[(number + 1) % 3].good("POST", "/customers/refresh", {"refreshToken": given.pop()})["tokens"]
            hosts[(number + 2) % 3].good("GET", "/customers/me", token=tokens["accessToken"])
            hosts[number % 3].good("POST", "/customers/logout", {}, token=tokens["accessToken"])
    figures.note("a remote provider's refresh token spent at once on three hosts",
                 f"{len(bad)} of {rounds} rounds without exactly one session")
    assert not bad, bad[:5]
    assert "grant refresh_token" in (realm.folder / "log").read_text(encoding="utf-8")
