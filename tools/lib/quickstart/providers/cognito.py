# SPDX-License-Identifier: MIT
"""A user pool of Amazon Cognito, by cognito-local: a folder of files, no check of signatures. For trying and for tests."""

import http.client
import json
import signal

from layout import write
from problem import Problem
from providers.base import HOST, Provider
from supervisor import Service

REGION = "eu-central-1"
TARGET = "AWSCognitoIdentityProviderService."
# The pool and the app client as docs/identity-providers.md has them.
POOL = {
    "PoolName": "gatehouse",
    "UsernameAttributes": ["email"],
    "UsernameConfiguration": {"CaseSensitive": False},
    "Schema": [
        {"Name": "email", "AttributeDataType": "String", "Required": True, "Mutable": True},
        {"Name": "permissions", "AttributeDataType": "String", "Mutable": True,
         "StringAttributeConstraints": {"MinLength": "0", "MaxLength": "2048"}},
        {"Name": "svc_user_id", "AttributeDataType": "String", "Mutable": True},
    ],
    "Policies": {"PasswordPolicy": {
        "MinimumLength": 8, "RequireUppercase": False, "RequireLowercase": False, "RequireNumbers": False,
        "RequireSymbols": False, "TemporaryPasswordValidityDays": 7}},
    "AdminCreateUserConfig": {"AllowAdminCreateUserOnly": False},
}
CLIENT = {
    "ClientName": "gatehouse",
    "GenerateSecret": True,
    "ExplicitAuthFlows": ["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"],
    "PreventUserExistenceErrors": "ENABLED",
    "EnableTokenRevocation": True,
    "AccessTokenValidity": 15,
    "IdTokenValidity": 15,
    "RefreshTokenValidity": 30,
    "TokenValidityUnits": {"AccessToken": "minutes", "IdToken": "minutes", "RefreshToken": "days"},
}


class Pool(Provider):
    """What emulators of Cognito share: the operations that make a pool, and the section [cognito]."""

    has_client_secret = True

    def __init__(self, chosen, layout, processes):
        super().__init__(chosen, layout, processes)
        self.pool = {"id": "pool", "client": "client"}

    def issuer(self):
        """The `iss` of its tokens."""
        return f"{self.url}/{self.pool['id']}"

    def keys_url(self):
        """Where its keys are read."""
        return f"{self.url}/{self.pool['id']}/.well-known/jwks.json"

    def values(self):
        """The section [cognito]."""
        layout = self.layout
        layout.secret("cognito-access-key")
        values = {
            "region": REGION, "endpoint": self.url, "issuer": self.issuer(), "jwks_url": self.keys_url(),
            "user_pool_id": self.pool["id"], "client_id": self.pool["client"], "access_key_id": "AKIDEMULATED",
            "secret_access_key_file": layout.secrets / "cognito-access-key",
        }
        if self.has_client_secret:
            layout.secret("cognito-client-secret")
            values["client_secret_file"] = layout.secrets / "cognito-client-secret"
        return {("cognito", name): value for name, value in values.items()}

    def ask(self, operation, body):
        """One operation of the pool's own interface; a Problem when it is refused."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        # The emulators read the service's name from the signature, which they do not check.
        signature = f"AWS4-HMAC-SHA256 Credential=AKIDEMULATED/20260101/{REGION}/cognito-idp/aws4_request"
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": TARGET + operation,
                   "Authorization": signature + ", SignedHeaders=host, Signature=0"}
        try:
            connection.request("POST", "/", json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise Problem(f"{self.emulator} did not answer {operation}: {error}") from None
        finally:
            connection.close()
        if answer.status != 200:
            raise Problem(f"{self.emulator} refused {operation}: {answer.status} {text[:300]}")
        return json.loads(text)

    def set_up(self):
        """The pool and its client, unless the pool lists them."""
        pools = self.ask("ListUserPools", {"MaxResults": 60})["UserPools"]
        found = [pool["Id"] for pool in pools if pool["Name"] == POOL["PoolName"]]
        identity = found[0] if found else self.ask("CreateUserPool", POOL)["UserPool"]["Id"]
        clients = self.ask("ListUserPoolClients", {"UserPoolId": identity, "MaxResults": 60})["UserPoolClients"]
        named = [one["ClientId"] for one in clients if one["ClientName"] == CLIENT["ClientName"]]
        wanted = CLIENT | {"UserPoolId": identity, "GenerateSecret": self.has_client_secret}
        if named:
            client = self.ask("DescribeUserPoolClient", {"UserPoolId": identity, "ClientId": named[0]})["UserPoolClient"]
        else:
            client = self.ask("CreateUserPoolClient", wanted)["UserPoolClient"]
        self.pool = {"id": identity, "client": client["ClientId"]}
        if self.has_client_secret:
            write(self.layout.secrets / "cognito-client-secret", client["ClientSecret"] + "\n")


class CognitoLocal(Pool):
    """cognito-local: its data are files below its working folder, .cognito."""

    emulator = "cognito-local"
    packages = ("cognito-local",)

    def service(self):
        program = self.home / "node_modules" / "cognito-local" / "lib" / "bin" / "start.js"
        return Service("provider", self.layout.log / "provider.log", ["node", program], folder=self.data,
                       environment=self.processes.environment | {"HOST": HOST, "PORT": str(self.port)},
                       ending=((signal.SIGTERM, 10),))

    def answers(self):
        return self.get("/health") == 200
