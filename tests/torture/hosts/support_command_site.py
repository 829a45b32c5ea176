# SPDX-License-Identifier: MIT
"""The host on which the operator's commands run: what it has, and what must hold whatever fails."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

from providers import support_remote as remote
from support import files, multipart, samples
from support.accounts import fresh_email
from support.programs import operator
from support.programs.host import Host
from support_proxy import CONNECT_SECONDS, StatementProxy
from support_site import Site, worker_of

PASSWORD = "administrator password 1"
STORE = remote.SERVERS.parent / "blob" / "s3" / "s3_server.py"
SQL = pathlib.Path(__file__).parents[3] / "sql"
SETTINGS = """[files]
s3_endpoint = http://127.0.0.1:{port}
s3_bucket = bucket
s3_access_key = key
s3_secret_key_file = {folder}/secrets/s3
s3_spool = {folder}/data/spool
s3_timeout_seconds = 5
"""


class CommandSite(Site):
    """With an administrator, a colleague of hers and files; the way of the commands to the database is the proxy's."""

    def begin(self):
        """Everything that the commands find."""
        folder = self.host.folder
        self.password, self.store = str(folder / "password"), folder / "store"
        self.cognito = folder / "etc" / "cognito.conf"
        self.token = self.tokens(remote.ADMIN, PASSWORD)["accessToken"]
        self.colleague = fresh_email("colleague")
        self.call_command("create-admin", "--email", self.colleague, "--password-file", self.password)
        self.organisation = self.ask("GET", "/customers/organisation", token=self.token)["organisation"]["id"]
        data = samples.noise(5000)
        self.kept = {self.upload(data): data}
        # The same bytes again: two names of one file.
        self.kept[self.upload(data)] = data
        self.kept[self.upload(samples.noise(300_000))] = None
        self.kept = {identity: self.blob(identity).read_bytes() for identity in self.kept}
        self.key = (folder / "secrets" / "secret").read_text(encoding="ascii").split()[0]
        self.count, self.damaged, self.strays, self.ended = 0, set(), [], False
        shutil.copytree(SQL, folder / "sql")
        self.backup = folder / "backup"
        assert self.call_command("backup", "--include-secret", str(self.backup)).returncode == 0

    @property
    def secret(self):
        return self.host.folder / "secrets" / "secret"

    def call_command(self, *words, command=None, environment=None):
        """A command; how it ended."""
        place = {"GATEHOUSE_DATABASE_SOCKET": self.proxy.path, **(environment or {})}
        if command is not None:
            place.update(command.environment(self))
        pool = command is not None and command.configuration == "cognito"
        configuration = self.cognito if pool else self.host.configuration
        return operator.run(self.host.stack, *words, configuration=configuration, status=None, environment=place)

    def upload(self, data):
        mark = multipart.boundary()
        answer = self.ask("POST", "/system/files", multipart.encode(files.form(data, f"{samples.word()}.bin"), mark),
                          token=self.token, content_type=multipart.content_type(mark))
        return answer["id"]

    def blob(self, identity):
        name = uuid.UUID(identity).hex
        return self.host.files / name[-2:] / name

    def fresh(self, what):
        self.count += 1
        return str(self.host.folder / f"{what}-{self.count}")

    def user(self, email, column):
        return self.host.rows(f"SELECT {column} FROM user WHERE email = %s", email)[0][0]

    def keep(self, ended=False):
        """What holds whatever has failed: no bytes are lost, the keys are whole, the rows of files are there. A signal
        that has `ended` the command may leave a copy of a file beside it. Leases are over, as they are later by
        themselves."""
        self.ended = ended
        self.host.rows("UPDATE maintenance SET holder = NULL, held_until = NULL")
        rows = {str(uuid.UUID(bytes=bytes(one))) for one, in self.host.rows("SELECT id FROM file")}
        assert set(self.kept) <= rows, "rows of files are lost"
        for identity, data in self.kept.items():
            assert identity in self.damaged or self.blob(identity).read_bytes() == data, f"{identity} is lost"
        keys = self.secret.read_text(encoding="ascii").split()
        assert keys and all(re.fullmatch("[0-9a-f]{64}", key) for key in keys), f"{len(keys)} keys, not all whole"
        left = [*self.secret.parent.glob("secret.*"), *(self.host.folder / "mail").glob(".*")]
        assert ended or not left, f"half of what was to be written is left: {left}"
        for path in left:
            path.unlink()


@contextlib.contextmanager
def command_site(stack, tmp_path_factory):
    """A CommandSite with a store that speaks S3 and a pool of people beside it."""
    with contextlib.ExitStack() as started:
        host = started.enter_context(Host(stack))
        folder = host.folder
        (folder / "store").mkdir()
        (folder / "data" / "spool").mkdir()
        store = subprocess.Popen([sys.executable, "-B", "-s", str(STORE), str(folder / "store")],
                                 stdout=subprocess.PIPE, text=True)
        started.callback(store.wait)
        started.callback(store.kill)
        pool = started.enter_context(remote.pool(remote.COGNITO, tmp_path_factory.mktemp("pool")))
        for name, secret in {**pool.kind.secrets, "s3": "secret\n"}.items():
            (folder / "secrets" / name).write_text(secret, encoding="utf-8")
        for path in (folder / "secrets").iterdir():
            path.chmod(0o600)
        text = host.configuration.read_text(encoding="utf-8")
        settings = SETTINGS.format(port=int(store.stdout.readline()), folder=folder)
        text = re.sub(r"(?m)^\[files\]\n", lambda _: settings, text)
        text, count = re.subn(r"(?m)^\[database\]\n", rf"\g<0>connect_timeout_seconds = {CONNECT_SECONDS}\n", text)
        assert count == 1
        host.configuration.write_text(text, encoding="utf-8")
        text, count = re.subn(r"(?m)^provider = embedded$", "provider = cognito", text)
        assert count == 1
        text += pool.kind.settings.format(url=pool.url, port=pool.port, folder=folder)
        (folder / "etc" / "cognito.conf").write_text(text, encoding="utf-8")
        host.run("migrate")
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        host.run("create-admin", "--email", remote.ADMIN, "--password-file", str(folder / "password"))
        proxy = StatementProxy(tmp_path_factory.mktemp("proxy"), str(host.socket))
        started.callback(proxy.close)
        found = CommandSite(stack, host, proxy, started.enter_context(worker_of(stack, host)))
        found.begin()
        yield found
