# SPDX-License-Identifier: MIT
"""Behind its walls a worker makes no code of a file: what libraries load at their first use is there already."""

import json
import pathlib
import secrets

import pytest

from providers import support_remote as remote
from providers.support_front import Front
from support.programs import system

OPENSSL = """
openssl_conf = all
[all]
providers = providers
[providers]
default = on
legacy = on
[on]
activate = 1
"""


def code_of(worker):
    """What of the worker's memory can be run, by file; None where this user may not look."""
    try:
        lines = pathlib.Path(f"/proc/{worker.process.pid}/maps").read_text(encoding="utf-8").splitlines()
    except PermissionError:
        return None
    return {line.split()[-1] for line in lines if "x" in line.split()[1]}


def states_of(worker, stack):
    answer = worker.call("GET", stack.prefix + "/system/health/ready")
    told = json.loads(answer.body)
    return told if answer.status == 200 else told["body"]


@pytest.fixture()
def provider(tmp_path):
    """A provider behind TLS, which is asked for by its name."""
    with remote.pool(remote.KEYCLOAK, tmp_path) as pool:
        front = Front(tmp_path, pool.port)
        try:
            yield front
        finally:
            front.close()


def test_the_first_name_and_the_first_tls_connection_come_behind_the_walls(stack, tmp_path, provider, monkeypatch):
    """OpenSSL has a module to load as well, where there is one."""
    configuration = tmp_path / "openssl.cnf"
    configuration.write_text(OPENSSL, encoding="ascii")
    monkeypatch.setenv("OPENSSL_CONF", str(configuration))
    secret = tmp_path / "secret"
    secret.write_text("s", encoding="ascii")
    secret.chmod(0o600)
    names = {f"keycloak_{name}": "none" for name in ("realm", "client_id", "admin_client_id")}
    names |= {f"keycloak_{name}_secret_file": secret for name in ("client", "admin_client")}
    address = f"https://localhost:{provider.port}"
    with system.worker(stack, identity_provider="keycloak", keycloak_url=address, keycloak_ca_file=provider.authority,
                       keycloak_jwks_url=f"{address}/realms/gatehouse/protocol/openid-connect/certs",
                       cache_file=tmp_path / "cache", **names) as worker:
        before = code_of(worker)
        assert provider.count("certs") == 0
        assert states_of(worker, stack)["identityProvider"] == "ok"
        assert provider.count("certs") == 1
        assert code_of(worker) == before


@pytest.fixture()
def account(stack, database):
    """An account of the database, as the workers', that signs in by ed25519; (its name, its password)."""
    name, password = f"gatehouse-{secrets.token_hex(4)}", secrets.token_hex(16)
    there = database.run("SELECT 1 FROM information_schema.plugins WHERE plugin_name = 'ed25519'")
    if not there:
        database.run("INSTALL SONAME 'auth_ed25519'")
    database.run(f"CREATE USER `{name}`@localhost IDENTIFIED VIA ed25519 USING PASSWORD('{password}')")
    database.run(f"GRANT ALL ON `{stack.database['name']}`.* TO `{name}`@localhost")
    yield name, password
    database.run(f"DROP USER `{name}`@localhost")
    if not there:
        database.run("UNINSTALL SONAME 'auth_ed25519'")


@pytest.mark.fault
def test_an_account_of_the_database_signs_in_by_a_plugin_behind_the_walls(stack, tmp_path, account):
    secret = tmp_path / "password"
    secret.write_text(account[1], encoding="ascii")
    secret.chmod(0o600)
    with system.worker(stack, database_user=account[0], database_password_file=secret,
                       cache_file=tmp_path / "cache") as worker:
        before = code_of(worker)
        assert states_of(worker, stack)["database"] == "ok"
        assert code_of(worker) == before
        assert before is None or any("client_ed25519" in name for name in before)
