# SPDX-License-Identifier: MIT
"""Glewlwyd, the single-sign-on server of Debian: access tokens of its OpenID Connect plugin, introspected (RFC 7662).

It runs with the configuration of its package but for addresses, files and the database, which is an own one on the same
MariaDB server. One process of it has one connection to the database, so there are as many processes as the service has
workers, behind the same nginx.
"""

import base64
import json
import pathlib
import re
import secrets
import subprocess
import urllib.parse

from peers.client import ask, need
from stack import Started, Trouble, free_port

PROGRAM = pathlib.Path("/usr/bin/glewlwyd")
CONFIGURATION = pathlib.Path("/etc/glewlwyd/glewlwyd.conf")
TABLES = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/mysql")
USERS = 16
ADMINISTRATOR = {"username": "admin", "password": "password"}  # as the package's tables have it
PLUGIN = "bench"
ANY = "/config/"  # what every process answers to anyone
SCOPE, OFFICER = "bench", "introspect"


class Glewlwyd(Started):
    """The processes run inside; database and account are gone afterwards."""

    def __init__(self, stack):
        if not (PROGRAM.exists() and CONFIGURATION.exists() and TABLES.exists()):
            raise Trouble("Glewlwyd is not installed. Install it with apt-get install glewlwyd.")
        self.stack = stack
        self.folder = stack.folder / "glewlwyd"
        self.password = secrets.token_hex(16)
        self.ports = [free_port() for _ in range(stack.workers)]
        self.address = None
        self.session = {}
        self.children = []
        self.forms = []

    def start(self):
        self.folder.mkdir(exist_ok=True)
        self.fill_database()
        self.serve(self.ports[:1])
        self.sign_in()
        self.set_up()
        self.serve(self.ports[1:])
        self.address = self.stack.proxy("glewlwyd", self.ports, ANY)

    def end(self):
        self.stack.finish(self.children)
        self.stack.sql("DROP DATABASE IF EXISTS glewlwyd; DROP USER IF EXISTS 'glewlwyd'@'localhost';")

    def fill_database(self):
        """The package's tables, in a database of their own."""
        self.end()
        self.stack.sql("CREATE DATABASE glewlwyd CHARACTER SET utf8mb4; "
                       f"CREATE USER 'glewlwyd'@'localhost' IDENTIFIED BY '{self.password}'; "
                       "GRANT ALL ON glewlwyd.* TO 'glewlwyd'@'localhost'; USE glewlwyd;\n"
                       + TABLES.read_text(encoding="utf-8"))

    def serve(self, ports):
        """A process for each port."""
        packaged = CONFIGURATION.read_text(encoding="utf-8")
        for port in ports:
            text = packaged
            for key, value in (("port", port), ("external_url", f'"http://127.0.0.1:{port}/"'),
                               ("log_file", f'"{self.folder}/{port}.log"')):
                text = re.sub(rf"(?m)^\s*{key}\s*=.*$", f"{key}={value}", text)
            text = re.sub(r"(?m)^\s*@include .*$", "", text)
            text += (f'\nbind_address="127.0.0.1"\ndatabase = '
                     f'{{ type = "mariadb"; host = "localhost"; user = "glewlwyd"; password = '
                     f'"{self.password}"; dbname = "glewlwyd"; port = 0; }};\n')
            path = self.folder / f"{port}.conf"
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            self.children.append(self.stack.run(
                ["env", f"MYSQL_UNIX_PORT={self.stack.facts['database']['socket']}", PROGRAM, f"--config-file={path}"],
                f"glewlwyd/{port}.out"))
            self.stack.await_answer(f"glewlwyd/{port}", port, ANY)

    def api(self, method, path, body=None):
        """A request of the administrator to the first process."""
        return need(method, f"http://127.0.0.1:{self.ports[0]}/api/{path}", body, self.session)

    def sign_in(self):
        """The session of the administrator."""
        answer = self.api("POST", "auth/", ADMINISTRATOR)
        self.session = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}

    def set_up(self):
        """Scopes, users, a client and the plugin, through the interface."""
        for scope in (SCOPE, OFFICER):
            self.api("POST", "scope/", {"name": scope, "display_name": scope, "description": scope,
                                        "password_required": True, "password_max_age": 0})
        for number in range(USERS):
            self.api("POST", "user/", {"username": f"person{number}", "name": f"Person {number}",
                                       "password": self.password,
                                       "email": f"person{number}@example.com", "enabled": True, "scope": [SCOPE]})
        self.api("POST", "user/", {"username": "officer", "name": "Officer", "password": self.password,
                                   "email": "officer@example.com", "enabled": True, "scope": [OFFICER]})
        self.api("POST", "client/", {"client_id": "bench", "name": "bench", "confidential": True, "enabled": True,
                                     "password": self.password, "scope": [], "redirect_uri": ["http://127.0.0.1/"],
                                     "token_endpoint_auth_method": ["client_secret_basic"],
                                     "authorization_type": ["password", "client_credentials"]})
        key = subprocess.run(["openssl", "genrsa", "2048"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, check=True).stdout
        public = subprocess.run(["openssl", "rsa", "-pubout"], input=key, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=True).stdout
        self.api("POST", "mod/plugin/", {
            "module": "oidc", "name": PLUGIN, "display_name": PLUGIN, "enabled": True, "parameters": {
                "iss": "http://127.0.0.1", "jwt-type": "rsa", "jwt-key-size": "256", "key": key, "cert": public,
                "access-token-duration": 7200, "refresh-token-duration": 1209600, "code-duration": 600,
                "allow-non-oidc": True, "auth-type-password-enabled": True, "auth-type-client-enabled": True,
                "auth-type-code-enabled": False, "auth-type-implicit-enabled": False, "auth-type-refresh-enabled": True,
                "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
                "introspection-revocation-auth-scope": [OFFICER]}})

    def basic(self):
        """The client's own authorisation."""
        return "Basic " + base64.b64encode(f"bench:{self.password}".encode("ascii")).decode("ascii")

    def token(self, user, scope):
        """An access token of a user."""
        form = urllib.parse.urlencode({"grant_type": "password", "scope": scope, "username": user,
                                       "password": self.password}).encode("ascii")
        return need("POST", f"http://127.0.0.1:{self.ports[0]}/api/{PLUGIN}/token", form,
                    {"Content-Type": "application/x-www-form-urlencoded", "Authorization": self.basic()}
                    ).json()["access_token"]

    def requests(self, how):
        """A file of introspections for requests.lua, allowed by the client's password or by the bearer's token."""
        authorisation = self.basic() if how == "client" else "Bearer " + self.token("officer", OFFICER)
        if not self.forms:
            tokens = [self.token(f"person{number}", SCOPE) for number in range(USERS)]
            self.forms = [urllib.parse.urlencode({"token": token}) for token in tokens]
        self.look(authorisation, self.forms)
        lines = [rf"POST /api/{PLUGIN}/introspect HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {authorisation}\r\n"
                 r"Content-Type: application/x-www-form-urlencoded\r\n"
                 rf"Content-Length: {len(form)}\r\n\r\n{form}" for form in self.forms]
        return self.stack.note(f"introspect-{how}.txt", lines)

    def look(self, authorisation, forms):
        """Every token of ours is active, everything else is not."""
        url = f"{self.address}/api/{PLUGIN}/introspect"
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": authorisation}
        for number, form in enumerate(forms):
            said = need("POST", url, form.encode("ascii"), headers).json()
            if said.get("active") is not True or said.get("username") != f"person{number}":
                raise Trouble(f"Glewlwyd does not know its own token: {json.dumps(said)[:300]}")
        said = need("POST", url, b"token=nobody", headers).json()
        refused = ask("POST", url, forms[0].encode("ascii"), {**headers, "Authorization": "Bearer nobody"}).status
        if said.get("active") is not False or refused != 401:
            raise Trouble("Glewlwyd takes what it should refuse.")
