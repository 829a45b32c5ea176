# SPDX-License-Identifier: MIT
"""What `gatehousectl identity setup` speaks to, strict and in memory: the part of Cognito that makes pools and app
clients, the part of Keycloak that makes realms. What an update leaves out goes back to its default with the one and
stays with the other, as they document it."""

import contextlib
import http.server
import json
import re
import threading
import urllib.parse


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(status)
        self.status, self.body = status, body


class Faulty:
    """A cloud of which one call meets a fault: it is not carried out, or it is and its answer is lost. `answers` holds
    what single calls are answered with instead: an operation of Cognito, or a method and a path of Keycloak."""

    def __init__(self, cloud):
        self.cloud, self.answers, self.left, self.fault = cloud, {}, 0, None

    def arm(self, nth, fault):
        self.left, self.fault = nth, fault

    def answer(self, method, path, headers, body):
        name = (headers["X-Amz-Target"] or "").rpartition(".")[2] or f"{method} {path.partition('?')[0]}"
        self.left -= 1
        if self.left == 0 and self.fault == "failed":
            self.cloud.asked.append(name)
            return 500, {"__type": "InternalErrorException", "error": "unknown_error"}
        if name in self.answers:
            return self.answers[name]
        answer = self.cloud.answer(method, path, headers, body)
        return (504, b"<html>Gateway Time-out</html>") if self.left == 0 else answer


@contextlib.contextmanager
def serving(cloud):
    """Serves the cloud on a port of its own; gives its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16

        def log_message(self, *_):
            pass

        def serve(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            try:
                status, answer = cloud.answer(self.command, self.path, self.headers, body)
            except Refused as refused:
                status, answer = refused.status, refused.body
            content = answer if isinstance(answer, bytes) else b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = serve

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ---- Cognito
# -----------------------------------------------------------------------------------------------------------

POOL_UPDATE = {"Policies", "DeletionProtection", "LambdaConfig", "AutoVerifiedAttributes", "MfaConfiguration",
               "EmailConfiguration", "UserPoolTags", "AdminCreateUserConfig", "AccountRecoverySetting", "UserPoolTier"}
POOL_FIXED = {"UsernameAttributes", "UsernameConfiguration"}
CLIENT_UPDATE = {"ClientName", "RefreshTokenValidity", "AccessTokenValidity", "IdTokenValidity", "TokenValidityUnits",
                 "ReadAttributes", "WriteAttributes", "ExplicitAuthFlows", "CallbackURLs", "PreventUserExistenceErrors",
                 "EnableTokenRevocation", "RefreshTokenRotation", "AuthSessionValidity"}


def defaults():
    policy = {"MinimumLength": 8, "RequireUppercase": True, "RequireLowercase": True, "RequireNumbers": True,
              "RequireSymbols": True, "TemporaryPasswordValidityDays": 7}
    return {"Policies": {"PasswordPolicy": policy, "SignInPolicy": {"AllowedFirstAuthFactors": ["PASSWORD"]}},
            "DeletionProtection": "INACTIVE", "MfaConfiguration": "OFF", "UserPoolTier": "ESSENTIALS",
            "AdminCreateUserConfig": {"AllowAdminCreateUserOnly": False}}


class Cognito:
    def __init__(self):
        self.pools, self.clients, self.asked = {}, {}, []

    def answer(self, method, path, headers, body):
        assert (method, path) == ("POST", "/")
        operation = headers["X-Amz-Target"].removeprefix("AWSCognitoIdentityProviderService.")
        self.asked.append(operation)
        signed = re.search(r"SignedHeaders=([^,]*)", headers["Authorization"]).group(1).split(";")
        self.key = re.search(r"Credential=([^/]*)/", headers["Authorization"]).group(1)
        self.session = headers["X-Amz-Security-Token"]
        assert self.session is None or "x-amz-security-token" in signed
        return 200, getattr(self, operation)(json.loads(body))

    @staticmethod
    def refuse(name, message=""):
        raise Refused(400, {"__type": name, "message": message})

    def check(self, given, allowed):
        extra = set(given) - allowed
        if extra:
            self.refuse("InvalidParameterException", f"Unknown parameters: {sorted(extra)}")

    def pool(self, body):
        if body["UserPoolId"] not in self.pools:
            self.refuse("ResourceNotFoundException", "User pool does not exist.")
        return self.pools[body["UserPoolId"]]

    def page(self, items, body, most):
        """One at a time, to have pages."""
        assert 1 <= body["MaxResults"] <= most
        at = int(body.get("NextToken", 0))
        more = {"NextToken": str(at + 1)} if at + 1 < len(items) else {}
        return items[at:at + 1], more

    def CreateUserPool(self, body):
        self.check(body, POOL_UPDATE | POOL_FIXED | {"PoolName", "Schema"})
        pool = {**defaults(), **{k: v for k, v in body.items() if k not in ("PoolName", "Schema")}}
        pool.update(Id=f"eu-central-1_Pool{len(self.pools) + 1}", Name=body["PoolName"])
        pool["SchemaAttributes"] = [{"Name": "sub"}] + [
            {**one, "Name": one["Name"] if one["Name"] == "email" else "custom:" + one["Name"]}
            for one in body["Schema"]]
        self.pools[pool["Id"]] = pool
        return {"UserPool": pool}

    def ListUserPools(self, body):
        items, more = self.page([{"Id": one["Id"], "Name": one["Name"]} for one in self.pools.values()], body, 60)
        return {"UserPools": items, **more}

    def DescribeUserPool(self, body):
        pool = dict(self.pool(body))
        # As Amazon tells it, and takes it no more.
        pool["AdminCreateUserConfig"] = {**pool["AdminCreateUserConfig"], "UnusedAccountValidityDays": 7}
        return {"UserPool": {**pool, "EstimatedNumberOfUsers": 0, "CreationDate": 1.5}}

    def UpdateUserPool(self, body):
        pool = self.pool(body)
        self.check(body, POOL_UPDATE | {"UserPoolId"})
        if "UnusedAccountValidityDays" in body.get("AdminCreateUserConfig", {}):
            self.refuse("InvalidParameterException", "Please use TemporaryPasswordValidityDays")
        for name in POOL_UPDATE:
            pool.pop(name, None)
        pool.update({**defaults(), **{k: v for k, v in body.items() if k != "UserPoolId"}})
        return {}

    def AddCustomAttributes(self, body):
        pool = self.pool(body)
        for one in body["CustomAttributes"]:
            name = "custom:" + one["Name"]
            if name in [known["Name"] for known in pool["SchemaAttributes"]]:
                self.refuse("InvalidParameterException", "exists")
            pool["SchemaAttributes"].append({**one, "Name": name})
        return {}

    def CreateUserPoolClient(self, body):
        self.pool(body)
        self.check(body, CLIENT_UPDATE | {"UserPoolId", "GenerateSecret"})
        client = {k: v for k, v in body.items() if k != "GenerateSecret"}
        client["ClientId"] = f"client{len(self.clients) + 1}"
        if body["GenerateSecret"]:
            client["ClientSecret"] = "generated secret"
        self.clients[client["ClientId"]] = client
        return {"UserPoolClient": client}

    def ListUserPoolClients(self, body):
        self.pool(body)
        items, more = self.page([{"ClientId": one["ClientId"], "ClientName": one["ClientName"]}
                                 for one in self.clients.values()], body, 60)
        return {"UserPoolClients": items, **more}

    def client(self, body):
        self.pool(body)
        if body["ClientId"] not in self.clients:
            self.refuse("ResourceNotFoundException", "User pool client does not exist.")
        return self.clients[body["ClientId"]]

    def DescribeUserPoolClient(self, body):
        return {"UserPoolClient": {**self.client(body), "LastModifiedDate": 1.5}}

    def UpdateUserPoolClient(self, body):
        client = self.client(body)
        self.check(body, CLIENT_UPDATE | {"UserPoolId", "ClientId"})
        for name in CLIENT_UPDATE - {"ClientName"}:
            client.pop(name, None)
        client.update(body)
        return {"UserPoolClient": client}


# ---- Keycloak
# ----------------------------------------------------------------------------------------------------------


def profile():
    everybody = {"view": ["admin", "user"], "edit": ["admin", "user"]}
    required = {"required": {"roles": ["user"]}}
    return {"attributes": [{"name": "username", "permissions": everybody},
                           {"name": "email", "permissions": everybody, **required},
                           {"name": "firstName", "permissions": everybody, **required},
                           {"name": "lastName", "permissions": everybody, **required}],
            "groups": [{"name": "user-metadata"}]}


class Keycloak:
    """One realm at most besides master."""

    def __init__(self, password):
        self.password, self.realm, self.tokens, self.asked = password, None, set(), []
        self.profile, self.clients, self.roles, self.actions = profile(), {}, {}, {}

    def answer(self, method, path, headers, body):
        path, _, query = path.partition("?")
        self.asked.append(f"{method} {path}")
        if path == "/realms/master/protocol/openid-connect/token":
            return self.sign_in(dict(urllib.parse.parse_qsl(body.decode())))
        if (headers["Authorization"] or "").removeprefix("Bearer ") not in self.tokens:
            return 401, {"error": "HTTP 401 Unauthorized"}
        body = json.loads(body) if body else None
        if (method, path) == ("POST", "/admin/realms"):
            return self.make(body)
        if self.realm is None or not path.startswith("/admin/realms/" + self.realm["realm"]):
            return 404, {"error": "Realm not found."}
        if path.rpartition("/")[2] == self.realm["realm"]:
            return self.of_realm(method, body)
        return self.below(method, path.removeprefix("/admin/realms/" + self.realm["realm"]), query, body)

    def sign_in(self, form):
        if (form["client_id"], form["username"], form["password"]) != ("admin-cli", "root", self.password):
            return 401, {"error": "invalid_grant", "error_description": "Invalid user credentials"}
        self.tokens.add(f"token{len(self.tokens)}")
        return 200, {"access_token": f"token{len(self.tokens) - 1}", "expires_in": 60}

    def make(self, body):
        assert self.realm is None
        base = {"enabled": False, "verifyEmail": False, "loginWithEmailAllowed": True, "duplicateEmailsAllowed": False,
                "bruteForceProtected": True, "quickLoginCheckMilliSeconds": 1000, "accessTokenLifespan": 300,
                "ssoSessionIdleTimeout": 1800, "ssoSessionMaxLifespan": 36000, "defaultSignatureAlgorithm": "RS256"}
        self.realm = {**base, **body}
        # Rights in the realm come with the next token.
        self.tokens.clear()
        self.clients["id-realm-management"] = {"id": "id-realm-management", "clientId": "realm-management"}
        self.actions = {"UPDATE_PASSWORD": {"alias": "UPDATE_PASSWORD", "enabled": True, "defaultAction": False},
                        "CONFIGURE_TOTP": {"alias": "CONFIGURE_TOTP", "enabled": True, "defaultAction": False}}
        return 201, None

    def of_realm(self, method, body):
        if method == "GET":
            return 200, self.realm
        self.realm.update(body)
        return 204, None

    def below(self, method, path, query, body):
        if path == "/users/profile":
            if method == "PUT":
                self.profile = body
            return 200, self.profile
        if path == "/authentication/required-actions":
            return 200, list(self.actions.values())
        if path.startswith("/authentication/required-actions/"):
            self.actions[path.rpartition("/")[2]] = body
            return 204, None
        if path == "/clients" and method == "GET":
            wanted = urllib.parse.parse_qs(query)["clientId"][0]
            return 200, [one for one in self.clients.values() if one["clientId"] == wanted]
        if path == "/clients":
            made = {**body, "id": "id-" + body["clientId"], "secret": body.get("secret",
                                                                               "secret of " + body["clientId"])}
            self.clients[made["id"]] = made
            return 201, None
        if path.startswith("/clients/"):
            return self.of_client(method, path, body)
        match = re.fullmatch(r"/users/account-of-(.*)/role-mappings/clients/id-realm-management", path)
        if match is None:
            return 404, {"error": "unknown"}
        held = self.roles.setdefault(match.group(1), [])
        if method == "POST":
            held.extend(body)
            return 204, None
        return 200, held

    def of_client(self, method, path, body):
        client, _, rest = path.removeprefix("/clients/").partition("/")
        if rest == "" and method == "PUT":
            assert body["id"] == client and "description" not in self.clients[client] or "description" in body
            self.clients[client] = body
            return 204, None
        if rest == "client-secret":
            return 200, {"type": "secret", "value": self.clients[client]["secret"]}
        if rest == "service-account-user":
            return 200, {"id": "account-of-" + client}
        if rest == "roles":
            return 200, [{"id": name, "name": name} for name in ("manage-users", "view-users", "realm-admin")]
        return 404, {"error": "unknown"}
