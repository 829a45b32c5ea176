# SPDX-License-Identifier: MIT
"""Directus: file information, upload and download by users whose role may read and create files.

Its own database on the same MariaDB server, its own local storage, one process a core. Rules are for whole collections:
finer ones need a licence key.
"""

import secrets
import shutil

from peers.client import ask, multipart, need
from stack import Started, Trouble, free_port

USERS, FILES = 16, 200
MAIL = "admin@example.com"
RULES = (("directus_files", "read"), ("directus_files", "create"), ("directus_users", "read"))


class Directus(Started):
    """The processes run inside; database, account and files are gone afterwards."""

    name, key, guards = "Directus", "directus", True

    def __init__(self, stack, npm):
        self.stack = stack
        self.node = npm.node / "bin" / "node"
        self.program = npm.install("directus", build="isolated-vm") / "cluster.mjs"
        self.folder = stack.folder / "directus"
        self.files = self.folder / "uploads"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.password = secrets.token_hex(16)
        self.children = []

    def start(self):
        self.prepare()
        self.children.append(self.stack.run(self.command("start"), "directus.log"))
        self.stack.await_answer("directus", self.port, "/server/ping", 180)
        self.set_up()

    def end(self):
        self.stack.finish(self.children)
        self.stack.sql("DROP DATABASE IF EXISTS directus; DROP USER IF EXISTS 'directus'@'localhost';")
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, word):
        """Its command-line program, run in its folder, where the settings lie."""
        return ["env", "-C", self.folder, f"BENCH_PROCESSES={self.stack.cores()}", self.node, self.program, word]

    def prepare(self):
        """Settings, and the database with its tables."""
        self.end()
        self.files.mkdir(parents=True)
        (self.folder / "extensions").mkdir()
        (self.folder / "package.json").write_text("{}\n", encoding="ascii")
        self.stack.sql("CREATE DATABASE directus CHARACTER SET utf8mb4; "
                       f"CREATE USER 'directus'@'localhost' IDENTIFIED BY '{self.password}'; "
                       "GRANT ALL ON directus.* TO 'directus'@'localhost';")
        settings = {
            "HOST": "127.0.0.1", "PORT": self.port, "PUBLIC_URL": self.address, "NODE_ENV": "production",
            "DB_CLIENT": "mysql", "DB_SOCKET_PATH": self.stack.facts["database"]["socket"], "DB_DATABASE": "directus",
            "DB_USER": "directus", "DB_PASSWORD": self.password, "SECRET": secrets.token_hex(32), "ADMIN_EMAIL": MAIL,
            "ADMIN_PASSWORD": self.password, "STORAGE_LOCATIONS": "local", "STORAGE_LOCAL_ROOT": self.files,
            "ACCESS_TOKEN_TTL": "2h", "TELEMETRY": "false", "LOG_LEVEL": "warn",
        }
        path = self.folder / ".env"
        path.touch(mode=0o600)
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="ascii")
        child = self.stack.run(self.command("bootstrap"), "directus.log")
        self.children.append(child)
        status = child.wait()
        self.stack.finish(self.children)
        if status != 0:
            raise Trouble(f"Directus could not make its tables; see {self.stack.folder}/directus.log.")

    def log_in(self, mail):
        """The headers of a user."""
        answer = need("POST", f"{self.address}/auth/login", {"email": mail, "password": self.password})
        return {"Authorization": f"Bearer {answer.json()['data']['access_token']}"}

    def set_up(self):
        """Role, users and files; what is asked for later is tried once."""
        admin = self.log_in(MAIL)

        def make(path, body):
            return need("POST", f"{self.address}/{path}", body, admin).json()["data"]

        role = make("roles", {"name": "reader"})["id"]
        policy = make("policies", {"name": "reader", "app_access": False, "admin_access": False})["id"]
        make("permissions", [{"policy": policy, "collection": collection, "action": action, "fields": ["*"],
                              "permissions": None} for collection, action in RULES])
        make("access", {"role": role, "policy": policy})
        make("users", [{"email": f"person{number}@example.com", "password": self.password, "role": role,
                        "status": "active", "first_name": "Ada"} for number in range(USERS)])
        self.stack.sql("INSERT INTO directus.directus_files (id, storage, filename_disk, filename_download, title, "
                       "type, uploaded_by, uploaded_on, filesize, tags) SELECT UUID(), 'local', CONCAT(seq, '.pdf'),"
                       " CONCAT('contract ', seq, '.pdf'), CONCAT('Contract ', seq), 'application/pdf', (SELECT id FROM"
                       f" directus.directus_users WHERE email = 'person1@example.com'), NOW(), 12345, '[\"signed\"]'"
                       f" FROM seq_1_to_{FILES};")
        self.ids = self.stack.sql("SELECT id FROM directus.directus_files ORDER BY id;").split()
        self.people = [self.log_in(f"person{number}@example.com") for number in range(USERS)]

    # ---- what is measured ------------------------------------------------------------------------------------------

    def reads(self):
        """[(path, headers)]: file information, each by another user."""
        said = need("GET", f"{self.address}/files/{self.ids[0]}", headers=self.people[0]).json()["data"]
        if said["id"] != self.ids[0] or said["filesize"] not in (12345, "12345"):
            raise Trouble(f"Directus does not tell of its file: {said}")
        if ask("GET", f"{self.address}/files/{self.ids[0]}").status not in (401, 403):
            raise Trouble("Directus tells anyone of its files.")
        return [(f"/files/{one}", self.people[number % USERS]) for number, one in enumerate(self.ids)]

    def upload(self):
        """(method, path, headers, text before the bytes, text after them)."""
        kind, before, after = multipart("bench.bin", [("title", "bench")])
        return "POST", "/files", {**self.people[0], "Content-Type": kind}, before, after

    def uploaded(self, answer):
        """(path, headers) of the bytes that an upload has stored."""
        return f"/assets/{answer.json()['data']['id']}?download", self.people[0]

    def guarded(self, path):
        """Whether the bytes are for those only who may read them."""
        return ask("GET", self.address + path).status in (401, 403)

    def stored(self, kept):
        """The files that were uploaded, but for the one behind a path."""
        keep = kept.split("/")[2].split("?")[0]
        return [path for path in self.files.iterdir() if not path.name.startswith(keep)]

    def forget(self, kept):
        """Removes them, rows and bytes."""
        keep = kept.split("/")[2].split("?")[0]
        self.stack.sql(f"DELETE FROM directus.directus_files WHERE filename_download = 'bench.bin' AND id <> '{keep}';")
        for path in self.stored(kept):
            path.unlink()
