# SPDX-License-Identifier: MIT
"""The account flows with a realm of Keycloak, from end to end: a host of its own whose identity provider is a strict realm of
the tests' own (tests/unit/identity/keycloak_server.py). The flows are those of test_cognito.py; what is Keycloak's alone is
looked at in tests/unit/identity/test_keycloak.c."""

import pathlib
import re

import jwt
import pytest

import test_cognito as flows
from support.host import Host
from test_cognito import admin, member, owner  # pylint: disable=unused-import

SERVER = pathlib.Path(__file__).parents[1] / "unit" / "identity" / "keycloak_server.py"
SETTINGS = """
[keycloak]
url = http://127.0.0.1:{port}
realm = gatehouse
client_id = gatehouse
client_secret_file = {folder}/secrets/keycloak-client
admin_client_id = gatehouse-admin
admin_client_secret_file = {folder}/secrets/keycloak-admin
"""


@pytest.fixture(scope="module")
def place(stack, tmp_path_factory):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")
    patch = pytest.MonkeyPatch()
    patch.setattr(flows, "SERVER", SERVER)
    realm = flows.Pool(tmp_path_factory.mktemp("realm"))
    patch.undo()
    try:
        with Host(stack) as host:
            text = host.configuration.read_text(encoding="utf-8")
            text, count = re.subn(r"(?m)^provider = embedded$", "provider = keycloak", text)
            assert count == 1
            text += SETTINGS.format(port=realm.port, folder=host.folder)
            host.configuration.write_text(text, encoding="utf-8")
            (host.folder / "secrets" / "keycloak-client").write_text("login-client-secret\n", encoding="utf-8")
            (host.folder / "secrets" / "keycloak-admin").write_text("admin-client-secret\n", encoding="utf-8")
            for path in (host.folder / "secrets").iterdir():
                path.chmod(0o600)
            host.run("migrate")
            (host.folder / "password").write_text(flows.PASSWORDS["admin"], encoding="utf-8")
            host.run("create-admin", "--email", flows.ADMIN, "--password-file", str(host.folder / "password"))
            with host.worker() as worker:
                yield flows.Place(host, realm, worker, stack.prefix)
    finally:
        realm.process.kill()
        realm.process.wait()


def test_the_flows_lead_to_tokens_of_the_realm(place, owner, member):
    for person in (owner, member):
        claims = jwt.decode(person["accessToken"], options={"verify_signature": False})
        assert claims["azp"] == "gatehouse" and claims["sub"] == place.user(person["email"])[2] != person["id"]
        assert flows.me(place, person["accessToken"])["user"]["id"] == person["id"]


def test_id_tokens_open_nothing(place, owner):
    flows.me(place, owner["idToken"], status=401, code="auth.tokenInvalid")
    flows.me(place, owner["accessToken"][:-4] + "AAAA", status=401, code="auth.tokenInvalid")


def test_refresh_rotates_and_a_copy_ends_the_session(place, member):
    flows.test_refresh_rotates_and_a_copy_ends_the_session(place, member)


def test_logout_holds_at_once_though_the_token_still_verifies(place, member):
    flows.test_logout_holds_at_once_though_the_token_still_verifies(place, member)


def test_a_disabled_user_is_out_at_once_and_back_when_enabled(place, owner, member):
    flows.test_a_disabled_user_is_out_at_once_and_back_when_enabled(place, owner, member)
