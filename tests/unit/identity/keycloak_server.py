# SPDX-License-Identifier: MIT
"""A realm of Keycloak 26 as the real server (26.0.8) answered when it was asked the same, for the tests: strict, in
memory.

Prints its port, then serves each client in a thread. DIRECTORY/key.json holds the key that signs tokens
(signer.py). Every call is noted in DIRECTORY/log, one line with its name: "grant password", "GET
user"... What it answers instead of what it is asked for is said in files (answers.py). DIRECTORY/expire, when there,
makes every admin token invalid, as a restart does, and goes. DIRECTORY/slow, when there, makes each answer to a read of
a user take a while. DIRECTORY/short, when there, gives admin tokens 20 seconds. DIRECTORY/drops holds the names of
attributes that the realm's profile does not declare. With /norights the service account may not make users, with
/noaccount there is none, with /nogrants nobody signs in by password; /skew holds the seconds that the clock is ahead,
/age those that have passed since the sign-in that tokens tell of."""

import argparse
import http.server
import json
import os
import re
import secrets
import threading
import time
import urllib.parse
import uuid

from answers import Answers, lost
from signer import Signer

REALM = "gatehouse"
CLIENTS = {"gatehouse": "login-client-secret", "gatehouse-admin": "admin-client-secret"}
USERS = f"/admin/realms/{REALM}/users"
SESSIONS = f"/admin/realms/{REALM}/sessions/"
OIDC = f"/realms/{REALM}/protocol/openid-connect/"
LOCK = threading.RLock()
WRONG = (401, {"error": "invalid_grant", "error_description": "Invalid user credentials"})
PENDING = (400, {"error": "invalid_grant", "error_description": "Account is not fully set up"})
ABSENT = (404, {"error": "User not found"})


class Realm:
    """What the realm knows. Answers are a status and a body."""

    def __init__(self, signer, directory):
        self.signer, self.directory, self.issuer = signer, directory, None
        self.users, self.passwords, self.sessions, self.admin_tokens = {}, {}, {}, {}

    def has(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def held(self, name):
        """What DIRECTORY/name holds; nothing where there is no such file."""
        if not self.has(name):
            return ""
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            return file.read()

    # -- tokens

    def client(self, form):
        """Whether the form names a client and its secret."""
        return CLIENTS.get(form.get("client_id")) == form.get("client_secret") and form.get("client_id") is not None

    def grant(self, user, session):
        now = int(time.time())
        entry = self.sessions[session]
        entry["refresh"] = secrets.token_urlsafe(64)
        common = {"iss": self.issuer, "sub": user["id"], "azp": "gatehouse", "sid": session, "iat": now,
                  "exp": now + 900, "auth_time": now - int(self.held("age") or 0)}
        access = {**common, "typ": "Bearer", "aud": "account", "jti": str(uuid.uuid4()),
                  "scope": "openid profile email"}
        identity = {**common, "typ": "ID", "aud": "gatehouse", "jti": str(uuid.uuid4()), "email": user["email"]}
        return 200, {"access_token": self.signer.sign(access), "id_token": self.signer.sign(identity),
                     "expires_in": 900,
                     "refresh_expires_in": 2592000, "refresh_token": entry["refresh"], "token_type": "Bearer",
                     "not-before-policy": 0, "session_state": session, "scope": "openid profile email"}

    def token(self, form):
        if not self.client(form):
            return 401, {"error": "unauthorized_client", "error_description": "Invalid client or Invalid client "
                                                                              "credentials"}
        kind, client = form.get("grant_type"), form["client_id"]
        if kind == "client_credentials" and self.has("noaccount"):
            return 401, {"error": "unauthorized_client",
                         "error_description": "Client not enabled to retrieve service account"}
        if kind == "password" and self.has("nogrants"):
            return 400, {"error": "unauthorized_client", "error_description": "Client not allowed for direct access "
                                                                              "grants"}
        if kind == "client_credentials" and client == "gatehouse-admin":
            seconds = 20 if self.has("short") else 300
            token = secrets.token_urlsafe(32)
            self.admin_tokens[token] = time.monotonic() + seconds
            return 200, {"access_token": token, "expires_in": seconds, "token_type": "Bearer"}
        if client != "gatehouse":
            return 400, {"error": "unauthorized_client", "error_description": "Client not allowed for direct access "
                                                                              "grants"}
        if kind == "refresh_token":
            return self.refresh(form)
        if kind != "password" or "openid" not in form.get("scope", "").split():
            return 400, {"error": "unsupported_grant_type", "error_description": "Unsupported grant_type"}
        return self.password(form)

    def refresh(self, form):
        for session, entry in self.sessions.items():
            if secrets.compare_digest(entry["refresh"], form["refresh_token"]):
                if not entry["user"]["enabled"]:
                    return 400, {"error": "invalid_grant", "error_description": "User disabled"}
                return self.grant(entry["user"], session)
        return 400, {"error": "invalid_grant", "error_description": "Session not active"}

    def password(self, form):
        found = [user for user in self.users.values() if form["username"].lower() in (user["username"], user["email"])]
        if not found:
            return WRONG
        user = found[0]
        if not user["enabled"]:
            return 400, {"error": "invalid_grant", "error_description": "Account disabled"}
        if self.passwords[user["id"]] != form["password"]:
            return WRONG
        if user["requiredActions"]:
            return PENDING
        session = str(uuid.uuid4())
        self.sessions[session] = {"user": user}
        return self.grant(user, session)

    def logout(self, form):
        if not self.client(form):
            return 401, {"error": "unauthorized_client", "error_description": "Invalid client or Invalid client "
                                                                              "credentials"}
        for session, entry in list(self.sessions.items()):
            if entry["refresh"] == form["refresh_token"]:
                del self.sessions[session]
                return 204, None
        return 400, {"error": "invalid_grant", "error_description": "Invalid refresh token"}

    # -- users

    def is_admin(self, header):
        token = header[7:] if header is not None and header.startswith("Bearer ") else ""
        return self.admin_tokens.get(token, 0) > time.monotonic()

    def kept(self, attributes):
        """Attributes that the profile declares; the others go without a word."""
        drops = self.held("drops")
        return {name: values for name, values in attributes.items() if name not in drops.split() and values != [""]}

    @staticmethod
    def refused(password):
        if len(password) >= 12:
            return None
        return 400, {"error": "invalidPasswordMinLengthMessage",
                     "error_description": "Invalid password: minimum length 12."}

    def profile(self):
        """As Keycloak tells it, with what DIRECTORY/drops leaves of our attributes."""
        names = self.kept({name: ["x"] for name in ("permissions", "svcUserId", "phoneNumber", "phoneNumberVerified")})
        ours = [{"name": name, "permissions": {"view": ["admin"], "edit": ["admin"]}} for name in names]
        return 200, {"attributes": [{"name": "username"}, {"name": "email", "required": {"roles": ["user"]}}] + ours}

    def create(self, body):
        if self.has("norights"):
            return 403, {"error": "HTTP 403 Forbidden"}
        if not body.get("username"):
            return 400, {"errorMessage": "User name is missing"}
        for user in self.users.values():
            if body["email"].lower() in (user["username"], user["email"]):
                return 409, {"errorMessage": "User exists with same email"}
        credential = body["credentials"][0]
        refused = self.refused(credential["value"])
        if refused is not None:
            return refused
        user = {"id": str(uuid.uuid4()), "username": body["username"].lower(), "email": body["email"].lower(),
                "emailVerified": body["emailVerified"], "enabled": body["enabled"], "createdTimestamp": 1795307935186,
                "requiredActions": list(body["requiredActions"]), "attributes": self.kept(body["attributes"]),
                "notBefore": 0}
        if credential["temporary"] and "UPDATE_PASSWORD" not in user["requiredActions"]:
            user["requiredActions"].append("UPDATE_PASSWORD")
        self.users[user["id"]] = user
        self.passwords[user["id"]] = credential["value"]
        return 201, user["id"]

    def replace(self, user, body):
        """PUT: attributes are replaced as a whole."""
        for name in ("username", "email", "firstName", "lastName", "emailVerified", "enabled", "requiredActions"):
            if name in body:
                user[name] = body[name]
        user["attributes"] = self.kept(body["attributes"])
        return 204, None

    def reset(self, user, body):
        refused = self.refused(body["value"])
        if refused is not None:
            return refused
        self.passwords[user["id"]] = body["value"]
        actions = [action for action in user["requiredActions"] if action != "UPDATE_PASSWORD"]
        user["requiredActions"] = actions + (["UPDATE_PASSWORD"] if body["temporary"] else [])
        return 204, None

    def sessions_of(self, user):
        return 200, [{"id": name, "username": user["username"], "userId": user["id"], "ipAddress": "127.0.0.1",
                      "rememberMe": False, "clients": {}} for name,
                     entry in self.sessions.items() if entry["user"] is user]

    def end_session(self, name):
        if self.sessions.pop(name, None) is None:
            return 404, {"error": "Sesssion not found"}
        return 204, None

    def end_sessions(self, user):
        self.sessions = {name: entry for name, entry in self.sessions.items() if entry["user"] is not user}
        return 204, None

    def remove(self, user):
        self.end_sessions(user)
        del self.users[user["id"]]
        return 204, None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in two writes would wait for the other end to say that it has the first one
    realm, directory, answers = None, None, None

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + int(self.realm.held("skew") or 0))

    def say(self, status, content, kind="application/json", length=None, location=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(content) if length is None else length))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)

    def expire(self):
        """Admin tokens end before their time, where that was asked for."""
        with LOCK:
            if self.realm.has("expire"):
                os.unlink(os.path.join(self.directory, "expire"))
                self.realm.admin_tokens.clear()

    def user_call(self, match, body):
        """Name of the call and what carries it out."""
        user, rest, realm = self.realm.users.get(match.group(1)), match.group(2), self.realm
        known = {("GET", ""): lambda: (200, user), ("PUT", ""): lambda: realm.replace(user, body),
                 ("DELETE", ""): lambda: realm.remove(user), ("PUT", "/reset-password"): lambda: realm.reset(user,
                                                                                                             body),
                 ("POST", "/logout"): lambda: realm.end_sessions(user),
                 ("GET", "/sessions"): lambda: realm.sessions_of(user)}
        found = known[(self.command, rest)]
        return f"{self.command} user{rest}", (found if user is not None else lambda: ABSENT)

    def find(self, query):
        wanted = urllib.parse.parse_qs(query)
        assert wanted["exact"] == ["true"], query
        return 200, [user for user in self.realm.users.values() if user["email"] == wanted["email"][0]]

    def admin_call(self, path, query, body):
        match = re.fullmatch(USERS + r"/([0-9a-f-]{36})(|/reset-password|/logout|/sessions)", path)
        if match is not None:
            return self.user_call(match, body)
        if path.startswith(SESSIONS) and self.command == "DELETE":
            return "DELETE session", lambda: self.realm.end_session(path[len(SESSIONS):])
        if path == USERS and self.command == "GET":
            return "GET users", lambda: self.find(query)
        if path == USERS + "/profile":
            return "GET profile", self.realm.profile
        if path == USERS and self.command == "POST":
            return "POST users", lambda: self.realm.create(body)
        return "unknown", lambda: (404, {"error": "Realm not found."})

    def form_call(self, path, raw):
        form = dict(urllib.parse.parse_qsl(raw.decode(), strict_parsing=True))
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded", self.headers["Content-Type"]
        if path == OIDC + "token":
            return "grant " + form.get("grant_type", ""), lambda: self.realm.token(form)
        return "logout", lambda: self.realm.logout(form)

    def find_call(self, path, query, raw):
        """What a request is called in the log, and what answers it."""
        if path.startswith("/admin/"):
            return self.admin_call(path, query, json.loads(raw) if raw else None)
        if path == OIDC + "certs":
            return "certs", lambda: (200, self.realm.signer.jwks("for-encryption", "RSA-OAEP", "enc"))
        if path == f"/realms/{REALM}/.well-known/openid-configuration":
            return "configuration", lambda: (200, {"issuer": self.realm.issuer})
        if path in (OIDC + "token", OIDC + "logout"):
            return self.form_call(path, raw)
        return "unknown", lambda: (404, {"error": "Realm not found."})

    def serve(self):
        path, _, query = self.path.partition("?")
        raw = self.rfile.read(int(self.headers["Content-Length"] or 0))
        is_admin_call = path.startswith("/admin/")
        with LOCK:
            name, action = self.find_call(path, query, raw)
            with open(os.path.join(self.directory, "log"), "a", encoding="utf-8") as log:
                log.write(name + "\n")
        self.expire()
        fault = self.answers.meet(self, name)
        if fault is True:
            return
        with LOCK:
            allowed = not is_admin_call or self.realm.is_admin(self.headers["Authorization"])
            status, answer = action() if allowed else (401, {"error": "HTTP 401 Unauthorized"})
            content = b"" if answer is None or status == 201 else json.dumps(answer).encode()
        if fault == "lost":
            lost(self)
            return
        if name == "GET user" and self.realm.has("slow"):
            time.sleep(0.05)
        location = f"http://{self.headers['Host']}{USERS}/{answer}" if status == 201 else None
        self.say(status, content, location=location)

    do_GET = do_POST = do_PUT = do_DELETE = serve


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    options = parser.parse_args()
    Handler.directory = options.directory
    Handler.answers = Answers(options.directory)
    Handler.realm = Realm(Signer(os.path.join(options.directory, "key.json")), options.directory)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Handler.realm.issuer = f"http://127.0.0.1:{server.server_address[1]}/realms/{REALM}"
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
