# SPDX-License-Identifier: MIT
"""Parse Server: objects whose class only a role may read, upload and download of files, by users of that role.

Its database is a PostgreSQL of its own (MariaDB it does not know), its files lie in a folder. One process a core, by
its own cluster option.
"""

import glob
import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile

from peers.client import ask, need
from stack import Started, Trouble, free_port

USERS, FILES = 16, 200
SERVERS = "/usr/lib/postgresql/*/bin"


class Postgres:
    """A private PostgreSQL on the loopback address. It does not run as root, nor in root's folders."""

    def __init__(self, stack):
        found = sorted(glob.glob(SERVERS), key=lambda path: int(path.split("/")[4]))
        if not found:
            raise Trouble("PostgreSQL, which Parse Server stores its data in, is missing. Install it with apt-get "
                          "install postgresql.")
        self.stack = stack
        self.programs = pathlib.Path(found[-1])
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.address = f"postgres://parse:{self.password}@127.0.0.1:{self.port}/postgres"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ghb-pg."))
        self.prefix = []
        self.children = []

    def start(self):
        """Makes the data folder and starts the server on it."""
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.password, encoding="ascii")
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            for path in (self.folder, secret):
                os.chown(path, account.pw_uid, account.pw_gid)
            self.prefix = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--pdeathsig",
                           "TERM", "--"]
        data = self.folder / "data"
        made = subprocess.run([*self.prefix, self.programs / "initdb", "-D", data, "-U", "parse", "-A", "scram-sha-256",
                               f"--pwfile={secret}", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"], cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode != 0:
            raise Trouble(f"PostgreSQL could not make its data folder: {made.stdout[-500:]}")
        self.children.append(self.stack.run(
            ["env", "-C", "/", *self.prefix, self.programs / "postgres", "-D", data, "-p", str(self.port), "-h",
             "127.0.0.1", "-k", self.folder], "postgres.log"))

    def end(self):
        """Ends it and removes its folder."""
        self.stack.finish(self.children, signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)


class Parse(Started):
    """Everything runs inside and is gone afterwards."""

    name, key, guards = "Parse Server", "parse", False

    def __init__(self, stack, npm):
        self.stack = stack
        self.node = npm.node / "bin" / "node"
        self.program = npm.install("parse") / "node_modules" / "parse-server" / "bin" / "parse-server"
        self.folder = stack.folder / "parse"
        self.files = self.folder / "files"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.password = secrets.token_hex(16)
        self.children = []
        self.database = None

    def start(self):
        self.end()
        self.database = Postgres(self.stack)
        self.database.start()
        self.serve()
        self.set_up()

    def end(self):
        self.stack.finish(self.children)
        if self.database:
            self.database.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def serve(self):
        """The server, once its database answers (it waits for it by itself no longer than a moment)."""
        self.folder.mkdir()
        self.stack.await_port("postgres", self.database.port)
        settings = {
            "appId": "bench", "masterKey": self.password, "masterKeyIps": ["127.0.0.1", "::1"], "host": "127.0.0.1",
            "port": self.port, "mountPath": "/parse", "serverURL": f"{self.address}/parse",
            "publicServerURL": f"{self.address}/parse", "databaseURI": self.database.address,
            "cluster": self.stack.cores(), "allowClientClassCreation": False, "maxUploadSize": "64mb",
            "fileUpload": {"enableForAuthenticatedUser": True, "fileExtensions": ["^bin$"]},
            "filesAdapter": {"module": "@parse/fs-files-adapter", "options": {}},
        }
        path = self.folder / "settings.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(settings), encoding="ascii")
        self.children.append(self.stack.run(
            ["env", "-C", self.folder, "NODE_ENV=production", self.node, self.program, path], "parse.log"))
        self.stack.await_answer("parse", self.port, "/parse/health", 120)

    def set_up(self):
        """Class, role, users and objects."""
        master = {"X-Parse-Application-Id": "bench", "X-Parse-Master-Key": self.password}

        def make(path, body, method="POST"):
            return need(method, f"{self.address}/parse/{path}", body, master).json()

        people = [make("users", {"username": f"person{number}", "password": self.password}) for number in range(USERS)]
        role = make("roles", {"name": "reader", "ACL": {"*": {"read": True}}})["objectId"]
        make(f"roles/{role}", {"users": {"__op": "AddRelation", "objects": [
            {"__type": "Pointer", "className": "_User", "objectId": one["objectId"]} for one in people]}}, "PUT")
        rights = {what: {"role:reader": True} for what in ("get", "find", "create")}
        make("schemas/Document", {"className": "Document", "classLevelPermissions": rights, "fields": {
            "name": {"type": "String"}, "hash": {"type": "String"}, "size": {"type": "Number"},
            "contentType": {"type": "String"}, "tags": {"type": "Array"},
            "owner": {"type": "Pointer", "targetClass": "_User"}}})
        owner = {"__type": "Pointer", "className": "_User", "objectId": people[1]["objectId"]}
        self.ids = [make("classes/Document", {
            "name": f"contract {number}.pdf", "hash": f"{number:064x}", "size": 12345, "tags": ["signed", "2026"],
            "contentType": "application/pdf", "owner": owner})["objectId"] for number in range(FILES)]
        self.people = []
        for number in range(USERS):
            token = need("POST", f"{self.address}/parse/login",
                         {"username": f"person{number}", "password": self.password},
                         {"X-Parse-Application-Id": "bench"}).json()["sessionToken"]
            self.people.append({"X-Parse-Application-Id": "bench", "X-Parse-Session-Token": token})

    # ---- what is measured ------------------------------------------------------------------------------------------

    def reads(self):
        """[(path, headers)]: objects, each by another user."""
        url = f"{self.address}/parse/classes/Document/{self.ids[0]}"
        said = need("GET", url, headers=self.people[0]).json()
        if said["objectId"] != self.ids[0] or said["size"] != 12345:
            raise Trouble(f"Parse Server does not tell of its object: {said}")
        if ask("GET", url, headers={"X-Parse-Application-Id": "bench"}).status < 400:
            raise Trouble("Parse Server tells anyone of its objects.")
        return [(f"/parse/classes/Document/{one}", self.people[number % USERS]) for number, one in enumerate(self.ids)]

    def upload(self):
        """(method, path, headers, text before the bytes, text after them)."""
        return "POST", "/parse/files/bench.bin", {**self.people[0], "Content-Type": "application/octet-stream"}, "", ""

    def uploaded(self, answer):
        """(path, headers) of the bytes that an upload has stored."""
        return answer.json()["url"].removeprefix(self.address), {}

    def stored(self, kept):
        """The files that were uploaded, but for the one behind a path."""
        keep = kept.rpartition("/")[2]
        return [path for path in self.files.rglob("*_bench.bin") if path.name != keep]

    def forget(self, kept):
        """Removes them: it keeps no rows of them."""
        for path in self.stored(kept):
            path.unlink()
