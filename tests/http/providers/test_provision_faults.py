# SPDX-License-Identifier: MIT
"""gatehousectl identity setup when Cognito or Keycloak fails half-way, answers oddly, or is set up oddly already:
nothing is made twice, a second run goes on from there, and the operator is told in a sentence what is wrong."""

import copy
import json
import random

import pytest

from providers import support_clouds as clouds
from providers.test_provision import COGNITO, KEYCLOAK, ROOT, Operator, deeds
from support.runs.effort import FULL

# What must not be told to whoever runs it.
SECRETS = ("generated secret", "admin's password", "secret of gatehouse")
NOT_CARRIED_OUT = "did not carry out"


class Site:
    """An operator of a cloud that may meet a fault."""

    def __init__(self, stack, folder, kind):
        self.faulty = clouds.Faulty(clouds.Cognito() if kind == "cognito" else clouds.Keycloak("admin's password"))
        self.cloud, self.kind = self.faulty.cloud, kind
        self.serving = clouds.serving(self.faulty)
        folder.mkdir()
        self.folder = folder
        self.operator = Operator(stack, folder, self.cloud, self.serving.__enter__(),
                                 COGNITO if kind == "cognito" else KEYCLOAK)

    def apply(self, *more, status=0):
        root = (*ROOT, str(self.folder / "password")) if self.kind == "keycloak" else ("--apply", )
        return self.operator.run(*root, *more, status=status)

    def state(self):
        """All that there is, and the files of secrets."""
        there = [self.cloud.pools, self.cloud.clients] if self.kind == "cognito" else [
            self.cloud.realm, self.cloud.clients, self.cloud.roles, self.cloud.profile, self.cloud.actions]
        files = {path.name: path.read_text(encoding="utf-8") for path in self.folder.glob("*-secret*")}
        return copy.deepcopy([there, files])


@pytest.fixture
def sites(stack, tmp_path):
    made = []

    def make(kind):
        made.append(Site(stack, tmp_path / f"site{len(made)}", kind))
        return made[-1]

    yield make
    for one in made:
        one.serving.__exit__(None, None, None)


@pytest.mark.parametrize("kind", ["cognito", "keycloak"])
def test_each_call_fails_once(sites, kind):
    """Not carried out, or carried out without an answer."""
    right = sites(kind)
    right.apply()
    calls = len(right.cloud.asked)
    wanted = right.state()
    assert calls >= 4
    for nth in range(1, calls + 1):
        for fault in ("failed", "lost") if FULL else (random.choice(("failed", "lost")), ):
            site = sites(kind)
            site.faulty.arm(nth, fault)
            said = site.apply(status=1)
            assert any(one in said for one in (NOT_CARRIED_OUT, "does not answer", "does not let")), (nth, fault, said)
            said += site.apply()
            assert site.state() == wanted, (nth, fault, said)
            assert not any(secret in said.replace("with the secret of", "") for secret in SECRETS), said


# ---- Cognito ---------------------------------------------------------------------------------------------------------


def refusal(name, message=""):
    return 400, {"__type": name, "message": message}


@pytest.mark.parametrize("call, answer, sentence", [
    ("ListUserPools", refusal("AccessDeniedException"), "Cognito did not carry out ListUserPools."),
    ("ListUserPools", (200, []), "Cognito did not carry out ListUserPools."),
    ("ListUserPools", (403, b"<html>no</html>"), "Cognito did not carry out ListUserPools."),
    ("CreateUserPool", refusal("LimitExceededException"), "Cognito did not carry out CreateUserPool."),
    ("CreateUserPool", (200, {}), ""),
    ("CreateUserPool", (200, {"UserPool": {"Id": 7}}), ""),
    ("ListUserPoolClients", refusal("ResourceNotFoundException"), "Cognito did not carry out ListUserPoolClients."),
    ("CreateUserPoolClient", refusal("InvalidParameterException"), "Cognito did not carry out CreateUserPoolClient."),
    ("CreateUserPoolClient", (200, {"UserPoolClient": []}), ""),
])
def test_a_pool_that_is_not_made_is_said_to_be_so(sites, call, answer, sentence):
    site = sites("cognito")
    site.faulty.answers[call] = answer
    said = site.apply(status=1)
    assert sentence in said and not (site.folder / "client-secret").exists(), said
    del site.faulty.answers[call]
    site.apply()
    assert len(site.cloud.pools) == 1 and len(site.cloud.clients) == 1


@pytest.mark.parametrize("call, answer, sentence", [
    ("DescribeUserPool", refusal("NotAuthorizedException"), "Cognito did not carry out DescribeUserPool."),
    ("DescribeUserPoolClient", refusal("NotAuthorizedException"), "Cognito did not carry out DescribeUserPoolClient."),
    ("DescribeUserPoolClient", refusal("ResourceNotFoundException"), "The user pool has no app client client1."),
])
def test_what_cannot_be_looked_at_is_not_changed(sites, call, answer, sentence):
    site = sites("cognito")
    site.apply()
    before = site.state()
    site.faulty.answers[call] = answer
    assert sentence in site.apply(status=1) and site.state() == before


def test_updates_that_are_refused_are_told(sites):
    site = sites("cognito")
    site.apply()
    pool, client = site.cloud.pools["eu-central-1_Pool1"], site.cloud.clients["client1"]
    pool.update(MfaConfiguration="OPTIONAL", AdminCreateUserConfig={})
    pool["Policies"]["PasswordPolicy"].update(MinimumLength=6, TemporaryPasswordValidityDays=1)
    pool["SchemaAttributes"] = [one for one in pool["SchemaAttributes"] if one["Name"] != "custom:svc_user_id"]
    client["AccessTokenValidity"] = 1
    for call in ("UpdateUserPool", "AddCustomAttributes", "UpdateUserPoolClient"):
        site.faulty.answers[call] = refusal("InvalidParameterException", "no")
        assert f"Cognito did not carry out {call}." in site.apply(status=1)
        del site.faulty.answers[call]
    assert deeds(site.apply()) == ["left", "changed", "left"]
    # A shorter length than ours is the operator's choice.
    assert pool["Policies"]["PasswordPolicy"]["MinimumLength"] == 6
    assert pool["Policies"]["PasswordPolicy"]["TemporaryPasswordValidityDays"] == 7


def test_a_pool_that_is_to_mail_codes(sites):
    site = sites("cognito")
    site.operator.change("provider = cognito", "provider = cognito\ncodes = provider")
    site.apply()
    pool = site.cloud.pools["eu-central-1_Pool1"]
    assert pool["AutoVerifiedAttributes"] == ["email"]
    assert [one["Name"] for one in pool["AccountRecoverySetting"]["RecoveryMechanisms"]] == ["verified_email"]
    # Another application's telephone numbers stay verified.
    pool["AutoVerifiedAttributes"] = ["phone_number"]
    pool["AccountRecoverySetting"] = {"RecoveryMechanisms": [{"Name": "admin_only", "Priority": 1}]}
    assert deeds(site.apply()) == ["changed", "left", "left"]
    assert pool["AutoVerifiedAttributes"] == ["email", "phone_number"]
    assert [one["Name"] for one in pool["AccountRecoverySetting"]["RecoveryMechanisms"]] == ["verified_email"]
    site.operator.change("codes = provider", "codes = service")
    assert deeds(site.apply()) == ["changed", "left", "left"]
    assert pool["AutoVerifiedAttributes"] == ["phone_number"]
    pool["AutoVerifiedAttributes"] = []
    site.operator.change("codes = service", "codes = provider")
    assert deeds(site.apply()) == ["changed", "left", "left"]
    assert pool["AutoVerifiedAttributes"] == ["email"]


@pytest.mark.parametrize("odd, fixed", [
    ({"AccessTokenValidity": 0}, {"AccessTokenValidity": 10}),
    ({"AccessTokenValidity": None, "TokenValidityUnits": None}, {"AccessTokenValidity": 10}),
    ({"TokenValidityUnits": {"AccessToken": "weeks"}}, {"AccessTokenValidity": 10}),
    ({"TokenValidityUnits": {}}, {"AccessTokenValidity": 10}),
    ({"IdTokenValidity": 11}, {"IdTokenValidity": 10}),
    ({"RefreshTokenValidity": 1}, {"RefreshTokenValidity": 30}),
    ({"ExplicitAuthFlows": ["USER_PASSWORD_AUTH", 7, "ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_CUSTOM_AUTH"]},
     {"ExplicitAuthFlows": ["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_CUSTOM_AUTH"]}),
    ({"ExplicitAuthFlows": ["ALLOW_USER_PASSWORD_AUTH"]},
     {"ExplicitAuthFlows": ["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"]}),
    ({"WriteAttributes": ["custom:permissions", 7, "custom:svc_user_id"]}, {"WriteAttributes": ["email"]}),
    ({"WriteAttributes": ["name", "custom:svc_user_id", "email"]}, {"WriteAttributes": ["name", "email"]}),
    ({"PreventUserExistenceErrors": "LEGACY"}, {"PreventUserExistenceErrors": "ENABLED"}),
    ({"PreventUserExistenceErrors": None}, {"PreventUserExistenceErrors": "ENABLED"}),
    ({"EnableTokenRevocation": False}, {"EnableTokenRevocation": True}),
])
def test_an_app_client_is_mended(sites, odd, fixed):
    site = sites("cognito")
    site.apply()
    client = site.cloud.clients["client1"]
    client.update(odd)
    for name in [name for name, value in odd.items() if value is None]:
        del client[name]
    assert deeds(site.apply()) == ["left", "changed", "left"]
    assert {name: client[name] for name in fixed} == fixed
    assert deeds(site.apply()) == ["left", "left", "left"]


def test_what_is_told_of_secrets(sites):
    site = sites("cognito")
    assert "the secret of the app client is generated secret" in site.apply("--show-secrets")
    path = site.folder / "client-secret"
    path.write_text("another\n", encoding="utf-8")
    assert deeds(site.apply()) == ["left", "left", "changed"] and path.read_text(encoding="utf-8") == (
        "generated secret\n")
    # Its place cannot be read, or not be written.
    path.unlink()
    path.mkdir()
    assert f"The secret file {path} cannot be read." in site.apply(status=1)
    site.operator.change(str(path), str(site.folder / "absent" / "client-secret"))
    assert "absent/client-secret cannot be written." in site.apply(status=1)
    site.operator.change("client_secret_file", "# client_secret_file")
    assert "has a secret: set client_secret_file" in site.apply(status=1)
    token = site.folder / "no-token"
    assert "no-token" in site.apply("--session-token-file", str(token), status=1)


@pytest.mark.parametrize("kind, line, sentence", [
    ("cognito", "region = eu-central-1", "region in [cognito]"),
    ("cognito", "access_key_id = AKID", "access_key_id in [cognito] (or --as)"),
    ("cognito", "secret_access_key_file", "secret_access_key_file in [cognito] (or --secret-file)"),
    ("keycloak", "\nurl = http", "url in [keycloak]"),
    ("keycloak", "\nclient_secret_file", "client_secret_file in [keycloak]"),
    ("keycloak", "admin_client_secret_file", "admin_client_secret_file in [keycloak]"),
])
def test_a_setting_that_is_needed_is_named(sites, kind, line, sentence):
    site = sites(kind)
    site.operator.change(line, line.replace(line.strip(), "# " + line.strip()))
    assert f"{sentence} is not set, and the set-up needs it." in site.apply(status=1)
    assert not site.cloud.asked


# ---- Keycloak --------------------------------------------------------------------------------------------------------

REALM = "/admin/realms/gatehouse"


@pytest.mark.parametrize("call, answer, sentence", [
    ("POST /realms/master/protocol/openid-connect/token", (200, {}), "Keycloak does not let root in."),
    ("POST /realms/master/protocol/openid-connect/token", (404, b"<html>no</html>"), "Keycloak does not answer at"),
    ("POST /admin/realms", (409, {"errorMessage": "Realm exists"}), NOT_CARRIED_OUT),
    ("POST /admin/realms", (404, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/users/profile", (404, {"error": "unknown"}), "Keycloak knows no user profile; is it older than 24?"),
    (f"PUT {REALM}/users/profile", (400, {"errorMessage": "no"}), NOT_CARRIED_OUT),
    (f"GET {REALM}/authentication/required-actions", (403, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/clients", (403, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/clients", (200, []), "Keycloak does not give the client gatehouse."),
    (f"GET {REALM}/clients", (200, [{"clientId": "gatehouse"}]), "Keycloak does not give the client gatehouse."),
    (f"POST {REALM}/clients", (403, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/clients/id-gatehouse/client-secret", (403, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/clients/id-gatehouse-admin/service-account-user", (404, {}),
     "Keycloak does not give the service account of the client gatehouse-admin."),
    (f"GET {REALM}/clients/id-realm-management/roles", (403, {}), NOT_CARRIED_OUT),
    (f"GET {REALM}/clients/id-realm-management/roles", (200, [{"name": "view-users"}]),
     "Keycloak does not give the role manage-users of realm-management."),
    (f"POST {REALM}/users/account-of-id-gatehouse-admin/role-mappings/clients/id-realm-management", (403, {}),
     NOT_CARRIED_OUT),
])
def test_a_realm_that_is_not_made_is_said_to_be_so(sites, call, answer, sentence):
    site = sites("keycloak")
    site.faulty.answers[call] = answer
    assert sentence in site.apply(status=1)
    del site.faulty.answers[call]
    site.apply()
    assert set(deeds(site.apply())) == {"left"}


def test_a_client_without_a_secret_is_given_one(sites):
    site = sites("keycloak")
    call = f"{REALM}/clients/id-gatehouse/client-secret"
    site.faulty.answers["GET " + call] = (200, {"type": "secret"})
    site.faulty.answers["POST " + call] = (200, {"value": 7})
    assert "Keycloak does not give the secret of the client gatehouse." in site.apply(status=1)
    site.faulty.answers["POST " + call] = (200, {"type": "secret", "value": "a new secret"})
    assert "a new secret" not in site.apply()
    assert (site.folder / "client-secret").read_text(encoding="utf-8") == "a new secret\n"
    assert "the secret of the client gatehouse is a new secret" in site.apply("--show-secrets")


def test_required_actions_that_keep_people_out_are_mended(sites):
    site = sites("keycloak")
    site.apply()
    actions = site.cloud.actions
    actions["UPDATE_PASSWORD"]["enabled"] = False
    actions["VERIFY_EMAIL"] = {"alias": "VERIFY_EMAIL", "enabled": False, "defaultAction": True}
    actions["CONFIGURE_TOTP"]["enabled"] = False
    actions["odd"] = {"name": "without an alias", "defaultAction": True}
    assert deeds(site.apply()).count("changed") == 2
    assert actions["UPDATE_PASSWORD"]["enabled"] and actions["VERIFY_EMAIL"] == {
        "alias": "VERIFY_EMAIL", "enabled": True, "defaultAction": False}
    assert not actions["CONFIGURE_TOTP"]["enabled"] and actions["odd"]["defaultAction"]


def test_an_attribute_that_people_may_write_is_mended(sites):
    """Whoever could write it would give permissions to themselves."""
    site = sites("keycloak")
    site.apply()
    attributes = {one["name"]: one for one in site.cloud.profile["attributes"]}
    attributes["permissions"]["permissions"]["edit"] = ["admin", "user"]
    attributes["svcUserId"]["permissions"] = {}
    attributes["phoneNumber"]["required"] = {"roles": ["user"]}
    site.cloud.profile["attributes"].append({"displayName": "without a name"})
    assert deeds(site.apply()).count("changed") == 1
    names = {one["name"]: one for one in site.cloud.profile["attributes"]}
    assert all(names[name]["permissions"]["edit"] == ["admin"] for name in ("permissions", "svcUserId"))
    assert "required" not in names["phoneNumber"] and "required" in names["email"]
    site.cloud.profile = {}
    site.apply()
    assert {"username", "email", "permissions"} <= {one["name"] for one in site.cloud.profile["attributes"]}


def test_a_realm_with_numbers_of_its_own_is_mended(sites):
    site = sites("keycloak")
    site.apply()
    wanted = copy.deepcopy(site.cloud.realm)
    site.cloud.realm.update(accessTokenLifespan="soon", defaultSignatureAlgorithm="ES256", editUsernameAllowed=False)
    del site.cloud.realm["ssoSessionMaxLifespan"], site.cloud.realm["passwordPolicy"]
    site.faulty.answers[f"PUT {REALM}"] = (404, {})
    assert NOT_CARRIED_OUT in site.apply(status=1)
    del site.faulty.answers[f"PUT {REALM}"]
    assert deeds(site.apply()).count("changed") == 1 and site.cloud.realm == wanted
    del site.cloud.realm["defaultSignatureAlgorithm"]
    site.apply()
    assert site.cloud.realm == wanted


def test_names_of_ones_own_are_kept(sites):
    site = sites("keycloak")
    site.operator.change("[keycloak]", "[keycloak]\nrealm = people\nclient_id = web\nadmin_client_id = staff")
    said = site.apply()
    assert said.endswith("\n[keycloak]\nrealm = people\nclient_id = web\nadmin_client_id = staff\n")
    assert site.cloud.realm["realm"] == "people" and {"id-web", "id-staff"} < set(site.cloud.clients)
    described = json.loads(site.operator.run())
    assert described["realm"] == "people" and [one["clientId"] for one in described["clients"]] == ["web", "staff"]
    (site.folder / "client-secret").unlink()
    (site.folder / "client-secret").mkdir()
    assert "client-secret cannot be read." in site.operator.run("--show-secrets", status=1)
    assert "--user 'root'" in site.operator.run("--shell", *ROOT[1:], str(site.folder / "password"))


@pytest.mark.parametrize("seconds, number, unit", [(61, 5, "minutes"), (301, 301, "seconds"), (360, 6, "minutes"),
                                                   (86400, 1, "days")])
def test_a_duration_is_told_as_cognito_takes_it(sites, seconds, number, unit):
    site = sites("cognito")
    site.operator.change("access_token_seconds = 600", f"access_token_seconds = {seconds}")
    site.operator.change("[cognito]", "[cognito]\nuser_pool_id = eu-central-1_Mine")
    wanted = json.loads(site.operator.run())
    client = wanted["CreateUserPoolClient"]
    assert (client["AccessTokenValidity"], client["TokenValidityUnits"]["AccessToken"]) == (number, unit)
    assert wanted["policy"]["Statement"][0]["Resource"].endswith(":userpool/eu-central-1_Mine")


def test_names_with_quotes_are_safe_in_a_shell(sites):
    site = sites("cognito")
    said = site.operator.run("--shell", "--name", "the owner's pool")
    assert "the owner'\\''s pool" in said
    site.operator.change("endpoint = ", "# endpoint = ")
    assert "--endpoint-url" not in site.operator.run("--shell")
