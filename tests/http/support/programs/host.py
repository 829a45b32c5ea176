# SPDX-License-Identifier: MIT
"""A second, empty host: a MariaDB of its own, empty folders, the stack's configuration made over to them. It stands on
the quick start's own way of making and starting a database (tools/lib/quickstart)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

import pymysql

from support.programs import operator, system
from support.stack import wait_until

QUICKSTART = pathlib.Path(__file__).parents[4] / "tools" / "lib" / "quickstart"


class Host:
    """Used in a `with`; whatever it started ends with that, and its folder goes."""

    def __init__(self, stack, secret=True):
        self.stack = stack
        self.with_secret = secret
        self.server = None

    def __enter__(self):
        # A short path, for the sockets' sake.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gh", dir=os.environ.get("TMPDIR", "/tmp")))
        for name in ("run", "log", "tmp", "tmp/bodies", "data/files", "mail", "secrets", "etc"):
            (self.folder / name).mkdir(parents=True)
        self.socket = self.folder / "run" / "mariadb.sock"
        self.files = self.folder / "data" / "files"
        self.configuration = self.folder / "etc" / "gatehouse.conf"
        self._configure()
        try:
            self._start_database()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.server is not None:
            self.server.terminate()
            try:
                self.server.wait(60)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _configure(self):
        state = self.stack.path.parent
        text = pathlib.Path(self.stack.configuration).read_text(encoding="utf-8")
        assert str(state) in text
        text = text.replace(f"{state}/", f"{self.folder}/")
        self.configuration.write_text(re.sub(r"(?m)^delivery = .*", "delivery = stream", text), encoding="utf-8")
        if self.with_secret:
            shutil.copy(state / "secrets" / "secret", self.folder / "secrets" / "secret")

    def _start_database(self):
        sys.path.insert(0, str(QUICKSTART))
        try:
            import database
        finally:
            sys.path.remove(str(QUICKSTART))
        layout = types.SimpleNamespace(database=self.folder / "data" / "mariadb", log=self.folder / "log",
                                       run=self.folder / "run", temporary=self.folder / "tmp",
                                       database_socket=self.socket)
        database.create(layout, types.SimpleNamespace(run=run_logged))
        service = database.service(types.SimpleNamespace(workers=2, login_workers=1), layout)
        with open(service.log, "wb") as log:
            self.server = subprocess.Popen(service.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, 120, f"the second database; see {service.log}")

    def _answers(self):
        assert self.server.poll() is None, (self.folder / "log" / "mariadb.log").read_text(errors="replace")[-2000:]
        try:
            self.rows("SELECT 1", database=None)
            return True
        except pymysql.err.OperationalError:
            return False

    def rows(self, sql, *values, database="gatehouse"):
        """Runs one statement on the host's database."""
        connection = pymysql.connect(unix_socket=str(self.socket), user=self.stack.database["user"], database=database,
                                     autocommit=True, charset="utf8mb4")
        with connection, connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()

    def forget_failures(self):
        """As if no call had ever failed, and nobody had tried a password."""
        gate = self.folder / "run" / "cache-calls"
        if gate.exists():
            gate.write_bytes(b"")
        for (table, ) in self.rows("SHOW TABLES LIKE %s", "%throttle%"):
            self.rows(f"DELETE FROM `{table}`")

    def run(self, *arguments, **more):
        """gatehousectl on this host."""
        return operator.run(self.stack, *arguments, configuration=self.configuration, **more)

    def worker(self):
        """A worker on this host; used in a `with`."""
        return system.worker(
            types.SimpleNamespace(worker_program=self.stack.worker_program, configuration=str(self.configuration),
                                  base_url=self.stack.base_url, as_workers=list))


def run_logged(command, log):
    """What tools/lib/quickstart runs programs with."""
    with open(log, "ab") as file:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False).returncode
