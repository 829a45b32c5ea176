# SPDX-License-Identifier: MIT
"""Keycloak's own side of a stack that stands on it, as its administrator sees and changes it."""

import configparser
import pathlib
import re

from support import connections, mail
from support.database import key
from support.stack import wait_until

SECONDS = 30


class Realm:
    """The realm, through the administrator whom the quick start made with the server."""

    def __init__(self, stack, database):
        self.stack = stack
        self.database = database
        configuration = configparser.ConfigParser(interpolation=None, comment_prefixes="#")
        configuration.read(stack.configuration)
        self.section = configuration["keycloak"]
        self.url, self.name = self.section["url"], self.section["realm"]
        self.secrets = pathlib.Path(self.section["client_secret_file"]).parent

    def secret(self, name):
        """The text of a file in the folder of secrets."""
        return (self.secrets / name).read_text(encoding="ascii").strip()

    def ask(self, method, path, status, body=None):
        """A call of the Admin REST interface, below the realm."""
        grant = {"grant_type": "password", "client_id": "admin-cli", "username": "admin",
                 "password": self.secret("keycloak-administrator")}
        token = connections.ask("POST", f"{self.url}/realms/master/protocol/openid-connect/token", data=grant,
                                timeout=SECONDS).json()["access_token"]
        reply = connections.ask(method, f"{self.url}/admin/realms/{self.name}{path}", json=body, timeout=SECONDS,
                                headers={"Authorization": f"Bearer {token}"})
        assert reply.status_code == status, f"{method} {path}: {reply.status_code} {reply.text[:300]}"
        return reply

    def subject(self, account):
        """Keycloak's id of a user of ours."""
        return self.database.run("SELECT provider_subject FROM `user` WHERE id = %s", key(account.id))[0][0]

    def account(self, account):
        """Its representation."""
        return self.ask("GET", f"/users/{self.subject(account)}", 200).json()

    def change(self, account, **members):
        """Changes members of the representation, as the console does: all of it is written. So does the service, and
        who writes between the other's reading and writing is undone; its jobs for the account are waited for."""
        wait_until(
            lambda: not self.database.run("SELECT 1 FROM outbox WHERE user_id = %s AND status = 'waiting'",
                                          key(account.id)),
            mail.PATIENCE_SECONDS, "the jobs for the account to be done", 0.02)
        self.ask("PUT", f"/users/{self.subject(account)}", 204, {**self.account(account), **members})

    def sessions(self, account):
        """How many sessions the account has there."""
        return len(self.ask("GET", f"/users/{self.subject(account)}/sessions", 200).json())

    def client(self, name):
        """The representation of a client."""
        return self.ask("GET", f"/clients?clientId={name}", 200).json()[0]

    def grant(self, username, password):
        """The token end point's answer to a direct sign-in, past the service."""
        form = {"grant_type": "password", "scope": "openid", "client_id": self.section["client_id"],
                "client_secret": self.secret("keycloak-client-secret"), "username": username, "password": password}
        return connections.ask("POST", f"{self.url}/realms/{self.name}/protocol/openid-connect/token", data=form,
                               timeout=SECONDS)

    def calls(self, path):
        """How many calls of a path, below the realm's public address, its access log holds."""
        log = (self.stack.logs / "provider.log").read_text(encoding="utf-8", errors="replace")
        return len(re.findall(rf'"[A-Z]+ /realms/{re.escape(self.name)}{re.escape(path)} HTTP', log))
