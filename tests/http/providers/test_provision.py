# SPDX-License-Identifier: MIT
"""gatehousectl identity setup: what it asks of Cognito and Keycloak, what it leaves, what it says. Against strict
clouds of the tests' own (support_clouds.py); the real servers and emulators are set up with it by the quick start."""

import copy
import json
import re
import stat

import pytest

from providers import support_clouds as clouds
from support.programs import operator

COGNITO = """[service]
base_url = http://127.0.0.1:1
[identity]
provider = cognito
access_token_seconds = 600
[cognito]
region = eu-central-1
endpoint = {url}
access_key_id = AKID
secret_access_key_file = {folder}/access
client_secret_file = {folder}/client-secret
"""
KEYCLOAK = """[service]
base_url = http://127.0.0.1:1
[identity]
provider = keycloak
[keycloak]
url = {url}
client_secret_file = {folder}/client-secret
admin_client_secret_file = {folder}/admin-secret
"""


class Operator:
    def __init__(self, stack, folder, cloud, url, text):
        self.stack, self.folder, self.cloud = stack, folder, cloud
        self.file = folder / "gatehouse.conf"
        self.file.write_text(text.format(url=url, folder=folder), encoding="utf-8")
        (folder / "access").write_text("key\n", encoding="utf-8")
        (folder / "password").write_text("admin's password\n", encoding="utf-8")

    def run(self, *arguments, status=0):
        done = operator.run(self.stack, "identity", "setup", *arguments, status=None, configuration=self.file)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def change(self, old, new):
        text = self.file.read_text(encoding="utf-8")
        assert old in text
        self.file.write_text(text.replace(old, new), encoding="utf-8")


def deeds(text):
    """The first words of the lines."""
    return [line.split()[0] for line in text.splitlines() if re.match(r"(made|changed|left|wrong) ", line)]


@pytest.fixture
def cognito(stack, tmp_path_factory):
    cloud = clouds.Cognito()
    with clouds.serving(cloud) as url:
        yield Operator(stack, tmp_path_factory.mktemp("cognito"), cloud, url, COGNITO)


@pytest.fixture
def keycloak(stack, tmp_path_factory):
    cloud = clouds.Keycloak("admin's password")
    with clouds.serving(cloud) as url:
        yield Operator(stack, tmp_path_factory.mktemp("keycloak"), cloud, url, KEYCLOAK)


ROOT = ("--apply", "--as", "root", "--secret-file")

# ---- Cognito ---------------------------------------------------------------------------------------------------------


def test_a_pool_and_its_client_are_made_once(cognito):
    said = cognito.run("--apply")
    assert deeds(said) == ["made", "made", "made"]
    assert said.endswith("\n[cognito]\nuser_pool_id = eu-central-1_Pool1\nclient_id = client1\n")
    assert "generated secret" not in said
    secret = cognito.folder / "client-secret"
    assert secret.read_text(encoding="utf-8") == "generated secret\n" and stat.S_IMODE(secret.stat().st_mode) == 0o600
    pool, client = cognito.cloud.pools["eu-central-1_Pool1"], cognito.cloud.clients["client1"]
    assert pool["UsernameAttributes"] == ["email"] and "AutoVerifiedAttributes" not in pool
    assert {"custom:permissions", "custom:svc_user_id"} < {one["Name"] for one in pool["SchemaAttributes"]}
    assert pool["Policies"]["PasswordPolicy"]["MinimumLength"] == 12
    assert not any(value is True for value in pool["Policies"]["PasswordPolicy"].values())
    assert client["AccessTokenValidity"] == 10 and client["TokenValidityUnits"]["AccessToken"] == "minutes"
    assert not any(name.startswith("custom:") for name in client["WriteAttributes"])
    state = copy.deepcopy([cognito.cloud.pools, cognito.cloud.clients])
    assert deeds(cognito.run("--apply")) == ["left", "left", "left"]
    said = json.loads(cognito.run("--apply", "--json"))
    assert [one["result"] for one in said["items"]] == ["left", "left", "left"] and said["complete"] is True
    assert all(one["message"] for one in said["items"])
    assert said["settings"] == "[cognito]\nuser_pool_id = eu-central-1_Pool1\nclient_id = client1\n"
    assert state == [cognito.cloud.pools, cognito.cloud.clients]
    assert cognito.cloud.asked.count("CreateUserPool") == 1 and "UpdateUserPool" not in cognito.cloud.asked


def test_a_pool_is_mended_and_keeps_the_rest(cognito):
    cognito.run("--apply")
    pool, client = cognito.cloud.pools["eu-central-1_Pool1"], cognito.cloud.clients["client1"]
    pool.update(EmailConfiguration={"From": "x@example.org"}, UserPoolTags={"kept": "yes"},
                AutoVerifiedAttributes=["email"])
    pool["Policies"]["PasswordPolicy"].update(MinimumLength=20, RequireNumbers=True)
    pool["Policies"]["SignInPolicy"] = {"AllowedFirstAuthFactors": ["PASSWORD"]}
    pool["AdminCreateUserConfig"] = {"AllowAdminCreateUserOnly": True}
    pool["SchemaAttributes"] = [one for one in pool["SchemaAttributes"] if one["Name"] != "custom:permissions"]
    client.update(ExplicitAuthFlows=["ALLOW_USER_SRP_AUTH"], CallbackURLs=["https://kept.example"],
                  AccessTokenValidity=1,
                  WriteAttributes=["email", "custom:permissions"], RefreshTokenRotation={"Feature": "ENABLED"})
    cognito.change("client_secret_file", "user_pool_id = eu-central-1_Pool1\nclient_id = client1\nclient_secret_file")
    said = cognito.run("--apply")
    assert deeds(said) == ["changed", "made", "changed", "left"], said
    assert pool["EmailConfiguration"] == {"From": "x@example.org"} and pool["UserPoolTags"] == {"kept": "yes"}
    assert pool["AutoVerifiedAttributes"] == [] and pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": False}
    assert pool["Policies"]["PasswordPolicy"]["MinimumLength"] == 12
    assert pool["Policies"]["SignInPolicy"] == {"AllowedFirstAuthFactors": ["PASSWORD"]}
    assert set(client["ExplicitAuthFlows"]) == {"ALLOW_USER_SRP_AUTH", "ALLOW_USER_PASSWORD_AUTH",
                                                "ALLOW_REFRESH_TOKEN_AUTH"}
    assert client["CallbackURLs"] == ["https://kept.example"] and client["WriteAttributes"] == ["email"]
    assert client["RefreshTokenRotation"] == {"Feature": "DISABLED"} and client["AccessTokenValidity"] == 10
    assert deeds(cognito.run("--apply")) == ["left", "left", "left"]


def test_what_cannot_be_mended_is_said(cognito):
    cognito.run("--apply")
    cognito.cloud.pools["eu-central-1_Pool1"].update(UsernameAttributes=[], MfaConfiguration="ON")
    del cognito.cloud.clients["client1"]["ClientSecret"]
    said = cognito.run("--apply", status=1)
    assert deeds(said).count("wrong") == 3 and "make another pool" in said and "second factor" in said, said
    cognito.change("client_secret_file", "user_pool_id = eu-central-1_Absent\nclient_secret_file")
    assert "There is no user pool eu-central-1_Absent." in cognito.run("--apply", status=1)


def test_a_client_without_a_secret_is_made_when_no_file_is_named(cognito):
    cognito.change(f"client_secret_file = {cognito.folder}/client-secret", "")
    said = cognito.run("--apply")
    assert "ClientSecret" not in cognito.cloud.clients["client1"] and "anybody can sign up" in said


def test_somebody_elses_keys_may_set_up(cognito):
    (cognito.folder / "other").write_text("other key\n", encoding="utf-8")
    (cognito.folder / "token").write_text("session token\n", encoding="utf-8")
    cognito.run("--apply", "--as", "ASIA", "--secret-file", str(cognito.folder / "other"), "--session-token-file",
                str(cognito.folder / "token"), "--name", "mine")
    assert (cognito.cloud.key, cognito.cloud.session) == ("ASIA", "session token")
    assert cognito.cloud.pools["eu-central-1_Pool1"]["Name"] == "mine"


def test_of_two_pools_of_a_name_none_is_taken(cognito):
    cognito.run("--apply")
    cognito.cloud.pools["eu-central-1_Pool2"] = {**cognito.cloud.pools["eu-central-1_Pool1"],
                                                 "Id": "eu-central-1_Pool2"}
    assert "several of the name gatehouse" in cognito.run("--apply", status=1)


def test_without_apply_nobody_is_asked(cognito, keycloak):
    wanted = json.loads(cognito.run())
    assert wanted["CreateUserPool"]["PoolName"] == "gatehouse"
    assert wanted["CreateUserPoolClient"]["GenerateSecret"] is True
    assert wanted["policy"]["Statement"][0]["Resource"].startswith("arn:aws:cognito-idp:eu-central-1:")
    assert "aws cognito-idp create-user-pool-client" in cognito.run("--shell")
    (keycloak.folder / "client-secret").write_text("its secret\n", encoding="utf-8")
    assert "its secret" not in keycloak.run() + keycloak.run("--shell")
    realm = json.loads(keycloak.run("--show-secrets"))
    assert [one.get("secret") for one in realm["clients"]] == ["its secret", None]
    assert realm["users"][0]["clientRoles"] == {"realm-management": ["manage-users"]}
    assert not cognito.cloud.asked and not keycloak.cloud.asked


# ---- Keycloak --------------------------------------------------------------------------------------------------------


def test_a_realm_is_made_once(keycloak):
    password = str(keycloak.folder / "password")
    (keycloak.folder / "client-secret").write_text("chosen secret\n", encoding="utf-8")
    said = keycloak.run(*ROOT, password)
    assert deeds(said) == ["made", "changed", "made", "left", "made", "made", "changed"], said
    assert said.endswith("\n[keycloak]\nrealm = gatehouse\nclient_id = gatehouse\nadmin_client_id = gatehouse-admin\n")
    assert "chosen secret" not in said and "secret of gatehouse-admin" not in said.replace("with the secret of", "")
    cloud = keycloak.cloud
    assert cloud.clients["id-gatehouse"]["secret"] == "chosen secret"
    assert (keycloak.folder / "admin-secret").read_text(encoding="utf-8") == "secret of gatehouse-admin\n"
    assert stat.S_IMODE((keycloak.folder / "admin-secret").stat().st_mode) == 0o600
    assert cloud.realm["passwordPolicy"] == "length(12)" and cloud.realm["quickLoginCheckMilliSeconds"] == 0
    assert cloud.realm["bruteForceProtected"] is False
    names = {one["name"]: one for one in cloud.profile["attributes"]}
    assert {"permissions", "svcUserId", "phoneNumber", "phoneNumberVerified"} < set(names)
    assert all(names[name]["permissions"]["edit"] == ["admin"] for name in ("permissions", "svcUserId"))
    assert "required" not in names["firstName"] and "required" in names["email"]
    assert [one["name"] for one in cloud.roles["id-gatehouse-admin"]] == ["manage-users"]
    assert set(deeds(keycloak.run(*ROOT, password))) == {"left"}
    assert sum(one.startswith(("POST /admin", "PUT")) for one in cloud.asked) == 5, cloud.asked
    # Others may need it in a realm of theirs.
    cloud.realm["bruteForceProtected"] = True
    said = keycloak.run(*ROOT, password)
    assert set(deeds(said)) == {"left"} and "brute-force detection" in said and cloud.realm["bruteForceProtected"]


def test_a_realm_is_mended_and_keeps_the_rest(keycloak):
    password = str(keycloak.folder / "password")
    keycloak.run(*ROOT, password)
    cloud = keycloak.cloud
    cloud.realm.update(passwordPolicy="length(20) and hashIterations(7) and digits(1)", verifyEmail=True,
                       displayName="Kept")
    cloud.actions["CONFIGURE_TOTP"]["defaultAction"] = True
    cloud.clients["id-gatehouse"].update(directAccessGrantsEnabled=False, description="kept")
    cloud.profile["attributes"] = [one for one in cloud.profile["attributes"] if one["name"] != "phoneNumber"]
    cloud.profile["attributes"].append({"name": "shoeSize", "required": {"roles": ["user"]}})
    cloud.roles["id-gatehouse-admin"].append({"id": "x", "name": "realm-admin"})
    said = keycloak.run(*ROOT, password, status=1)
    assert deeds(said) == ["changed", "changed", "changed", "changed", "left", "left", "left", "wrong", "left"], said
    assert "has the role realm-admin, which Gatehouse does not need" in said
    assert cloud.realm["passwordPolicy"] == "length(12) and hashIterations(7)" and cloud.realm["displayName"] == "Kept"
    assert cloud.actions["CONFIGURE_TOTP"]["defaultAction"] is False
    assert cloud.clients["id-gatehouse"]["description"] == "kept"
    names = {one["name"]: one for one in cloud.profile["attributes"]}
    assert "phoneNumber" in names and "required" not in names["shoeSize"]
    assert cloud.profile["groups"] == [{"name": "user-metadata"}]


def test_a_wrong_administrator_is_said(keycloak):
    (keycloak.folder / "password").write_text("not it\n", encoding="utf-8")
    said = keycloak.run(*ROOT, str(keycloak.folder / "password"), status=1)
    assert "Keycloak does not let root in." in said and "not it" not in said
    assert "--as (an administrator of the realm master) is not set" in keycloak.run("--apply", status=1)


def test_the_embedded_provider_needs_nothing(stack):
    said = operator.run(stack, "identity", "setup", "--apply", configuration=stack.configuration, environment={
        "GATEHOUSE_IDENTITY_PROVIDER": "embedded"})
    assert deeds(said) == ["left"] and "needs no set-up" in said
