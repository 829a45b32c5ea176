# SPDX-License-Identifier: MIT
"""PocketBase: a record with a file, read, uploaded and downloaded by users whose role allows it.

One process, which uses all cores, with SQLite and the files in a folder of its own. It is built with Go from the
module proxy; go.mod and go.sum pin it and all that it needs by their hashes.
"""

import os
import pathlib
import re
import secrets
import shutil
import sqlite3
import subprocess

from peers.client import ask, multipart, need
from stack import Started, Trouble, free_port

HERE = pathlib.Path(__file__).parent / "pocketbase"
PACKAGE = "github.com/pocketbase/pocketbase/examples/base"
GO = ("/usr/local/go/bin", "/usr/lib/go/bin")
USERS, FILES = 16, 200
MAIL = "admin@example.com"
ALLOWED = '@request.auth.role = "reader"'
FILE_MAX = 64 << 20
HOURS_SECONDS = 7200


def version():
    """The one that go.mod pins."""
    return re.search(r"pocketbase/pocketbase v(\S+)", (HERE / "go.mod").read_text(encoding="ascii"))[1]


def build(folder):
    """The program, built once for a go.sum."""
    target = folder / "pocketbase"
    program, stamp = target / "pocketbase", target / "go.sum"
    wanted = (HERE / "go.sum").read_bytes()
    if program.exists() and stamp.exists() and stamp.read_bytes() == wanted:
        return program
    path = os.pathsep.join((os.environ["PATH"], *GO))
    if shutil.which("go", path=path) is None:
        raise Trouble("PocketBase is built with Go 1.25 or newer, and there is no go.")
    print("Building PocketBase with Go", flush=True)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copy(HERE / "go.mod", target)
    environment = {**os.environ, "PATH": path, "GOFLAGS": "-mod=readonly -modcacherw", "CGO_ENABLED": "0",
                   "GOCACHE": f"{target}/cache", "GOMODCACHE": f"{target}/modules"}
    shutil.copy(HERE / "go.sum", target)
    with open(folder / "pocketbase.log", "ab") as log:
        done = subprocess.run(["go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, PACKAGE], cwd=target,
                              env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                              check=False)
    for name in ("cache", "modules"):
        shutil.rmtree(target / name, ignore_errors=True)
    if done.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        raise Trouble(f"PocketBase could not be built. Is the machine connected? See {folder}/pocketbase.log.")
    return program


class PocketBase(Started):
    """The process runs inside; its folder is gone afterwards."""

    name, key, guards = "PocketBase", "pocketbase", True

    def __init__(self, stack, folder):
        self.stack = stack
        self.program = build(folder)
        self.folder = stack.folder / "pocketbase"
        self.data = self.folder / "data"  # the program makes other folders beside it
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.password = secrets.token_hex(16)
        self.children = []

    def start(self):
        self.end()
        self.folder.mkdir()
        child = self.stack.run([self.program, "superuser", "upsert", MAIL, self.password, f"--dir={self.data}"],
                               "pocketbase.log")
        self.children.append(child)
        status = child.wait()
        self.stack.finish(self.children)
        if status != 0:
            raise Trouble(f"PocketBase could not make its tables; see {self.stack.folder}/pocketbase.log.")
        self.children.append(self.stack.run([self.program, "serve", f"--http=127.0.0.1:{self.port}",
                                             f"--dir={self.data}", "--dev=false"], "pocketbase.log"))
        self.stack.await_answer("pocketbase", self.port, "/api/health", 60)
        self.set_up()

    def end(self):
        self.stack.finish(self.children)
        shutil.rmtree(self.folder, ignore_errors=True)

    def log_in(self, collection, mail):
        """The headers of a user."""
        answer = need("POST", f"{self.address}/api/collections/{collection}/auth-with-password",
                      {"identity": mail, "password": self.password})
        return {"Authorization": answer.json()["token"]}

    def set_up(self):
        """Users with a role, and records with what they are asked for."""
        admin = self.log_in("_superusers", MAIL)
        people = f"{self.address}/api/collections/users"
        fields = need("GET", people, headers=admin).json()["fields"]
        need("PATCH", people, {"fields": [*fields, {"name": "role", "type": "text"}],
                               "authToken": {"duration": HOURS_SECONDS}, "fileToken": {"duration": HOURS_SECONDS}},
             admin)
        need("POST", f"{self.address}/api/collections", {
            "name": "documents", "type": "base", "viewRule": ALLOWED, "createRule": ALLOWED, "fields": [
                {"name": "title", "type": "text"}, {"name": "kind", "type": "text"}, {"name": "size", "type": "number"},
                {"name": "tags", "type": "json"},
                {"name": "file", "type": "file", "maxSelect": 1, "maxSize": FILE_MAX, "protected": True}]}, admin)
        for number in range(USERS):
            need("POST", f"{people}/records", {
                "email": f"person{number}@example.com", "password": self.password, "passwordConfirm": self.password,
                "role": "reader"}, admin)
        self.people = [self.log_in("users", f"person{number}@example.com") for number in range(USERS)]
        self.ids = [need("POST", f"{self.address}/api/collections/documents/records", {
            "title": f"contract {number}.pdf", "kind": "application/pdf", "size": 12345, "tags": ["signed"]},
            self.people[0]).json()["id"] for number in range(FILES)]

    # ---- what is measured ------------------------------------------------------------------------------------------

    def reads(self):
        """[(path, headers)]: a record each, by another user."""
        paths = [f"/api/collections/documents/records/{one}" for one in self.ids]
        said = need("GET", self.address + paths[0], headers=self.people[0]).json()
        if said["id"] != self.ids[0] or said["size"] != 12345:
            raise Trouble(f"PocketBase does not tell of its record: {said}")
        if ask("GET", self.address + paths[0]).status not in (401, 403, 404):
            raise Trouble("PocketBase tells anyone of its records.")
        return [(path, self.people[number % USERS]) for number, path in enumerate(paths)]

    def upload(self):
        """(method, path, headers, text before the bytes, text after them)."""
        kind, before, after = multipart("bench.bin", [("title", "bench")])
        return ("POST", "/api/collections/documents/records", {**self.people[0], "Content-Type": kind}, before, after)

    def uploaded(self, answer):
        """(path, headers) of the bytes that an upload has stored; a token in the path tells who reads them."""
        record = answer.json()
        token = need("POST", f"{self.address}/api/files/token", {}, self.people[0]).json()["token"]
        return f"/api/files/documents/{record['id']}/{record['file']}?token={token}", {}

    def guarded(self, path):
        """Whether the bytes are for those only who may read them."""
        return ask("GET", self.address + path.split("?")[0]).status in (401, 403, 404)

    def stored(self, kept):
        """The files that were uploaded, but for the one behind a path."""
        keep = kept.split("/")[4]
        return [path for path in self.data.glob("storage/*/*/*")
                if path.parent.name != keep and path.suffix != ".attrs"]

    def forget(self, kept):
        """Removes them, rows and bytes."""
        for path in self.stored(kept):
            shutil.rmtree(path.parent)
        with sqlite3.connect(self.data / "data.db", timeout=30) as database:
            database.execute("DELETE FROM documents WHERE title = 'bench' AND id <> ?", (kept.split("/")[4], ))
        database.close()
