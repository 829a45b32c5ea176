# SPDX-License-Identifier: MIT
"""Keys and passwords are changed while the service is in use, and no request notices."""

import contextlib
import json
import pathlib
import secrets
import threading

import pymysql
import pytest

from support import files, samples
from support.programs import operator, system
from support.stack import wait_until

PATH = "/system/cache"
KEYS = "/.well-known/jwks.json"
READERS = 4


class Load:
    """Requests without a break: reads with an old token and with ever new ones."""

    def __init__(self, account):
        self.account = account
        self.token = account.token
        self.ending = threading.Event()
        self.failures = []
        self.count = 0
        self.threads = [threading.Thread(target=self.read) for _ in range(READERS)]
        self.threads.append(threading.Thread(target=self.sign_in))

    def read(self):
        while not self.ending.is_set():
            self.one(lambda: self.account.api.get("/customers/me", token=self.token, status=200))

    def sign_in(self):
        while not self.ending.is_set():
            self.one(lambda: self.account.api.get("/customers/me", token=self.account.session()["accessToken"],
                                                  status=200))

    def one(self, request):
        try:
            request()
        except Exception as failure:
            self.failures.append(str(failure))
        self.count += 1

    def more(self, count):
        """Waits until so many more requests were answered."""
        wanted = self.count + count
        wait_until(lambda: self.count >= wanted, 60, f"{count} more requests")


@contextlib.contextmanager
def load_of(account):
    load = Load(account)
    for thread in load.threads:
        thread.start()
    try:
        load.more(20)
        yield load
        load.more(40)
    finally:
        load.ending.set()
        for thread in load.threads:
            thread.join()
    assert load.failures == []


def published(api):
    return [key["kid"] for key in api.get(KEYS, status=200).json()["keys"]]


# ---- signing keys ------------------------------------------------------------------------------------------


def test_the_signing_key_is_rotated_under_load_without_a_failed_request(stack, api, customer):
    before = published(api)
    with load_of(customer) as load:
        for _ in range(3):
            assert "a new key signs" in operator.run(stack, "rotate-keys", "--tokens")
            load.more(30)
    after = published(api)
    assert set(before) <= set(after) and len(after) == len(before) + 3
    customer.api.get("/customers/me", token=load.token, status=200)


def test_a_token_of_the_new_key_opens_every_worker_of_another_host_at_once(stack, customer, tmp_path):
    settings = {"cache_file": tmp_path / "cache", "metrics_file": tmp_path / "metrics"}
    with system.worker(stack, **settings) as worker:
        old = customer.session()["accessToken"]
        assert worker.call("GET", "/customers/me", token=old).status == 200
        # A stranger's token must not use up what finds a new key.
        strange = old.split(".")
        strange = ".".join([_other_kid(strange[0]), *strange[1:]])
        for _ in range(3):
            assert worker.call("GET", "/customers/me", token=strange).status == 401
            operator.run(stack, "rotate-keys", "--tokens")
            assert worker.call("GET", "/customers/me", token=customer.session()["accessToken"]).status == 200
            assert worker.call("GET", "/customers/me", token=old).status == 200


def _other_kid(header):
    import base64
    members = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    members["kid"] = "nobody-knows-this-one"
    return base64.urlsafe_b64encode(json.dumps(members, separators=(",", ":")).encode()).rstrip(b"=").decode()


def test_link_keys_are_rotated_apart_and_every_link_ends(stack, api, keeper):
    record = files.upload(keeper, samples.picture(), "picture.png", bucket="images", kind="image")
    url = keeper.post(f"/system/files/{record['id']}/link", status=200).json()["url"]
    path = url[len(stack.base_url):]
    kids = published(api)
    assert api.get(path, status=200).content
    operator.run(stack, "rotate-keys", "--links")
    api.get(path, status=403, code="link.invalid")
    assert published(api) == kids


def test_rotations_are_audited(stack, administrator):
    operator.run(stack, "rotate-keys")
    rows = administrator.get("/system/audit", params={"action": "secrets.rotate", "limit": 2},
                             status=200).json()["items"]
    assert {row["targetId"] for row in rows} == {"tokens", "links"} and all(row["userId"] is None for row in rows)


@pytest.mark.parametrize("words", [("now",), ("--all",), ("--tokens", "--links"), ("--tokens", "x")])
def test_a_command_that_is_not_one_is_refused(stack, words):
    assert operator.run(stack, "rotate-keys", *words, status=None).returncode == 2


# ---- the database password ---------------------------------------------------------------------------------


def configured(stack, wanted):
    """(section, name)'s value in the configuration."""
    section = None
    for line in pathlib.Path(stack.configuration).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif (section, line.split(" = ")[0]) == wanted:
            return line.split(" = ", 1)[1]
    return None


class Password:
    """The workers' password, changed as an operator would: in the database, then in the file."""

    def __init__(self, stack, database):
        self.database = database
        self.file = pathlib.Path(configured(stack, ("database", "password_file")))
        self.user = configured(stack, ("database", "user"))
        self.hosts = [row[0] for row in database.run("SELECT host FROM mysql.user WHERE user = %s", self.user)]
        self.first = self.file.read_text().strip()

    def set_in_database(self, text):
        for host in self.hosts:
            self.database.run("ALTER USER %s@%s IDENTIFIED BY %s", self.user, host, text)

    def set_in_file(self, text):
        self.file_with(text).rename(self.file)

    def file_with(self, text):
        """A new file, to be put in the place of the one that holds."""
        new = self.file.with_name("database-password.new")
        new.touch(mode=0o600)
        new.write_text(text + "\n")
        return new

    def set(self, text):
        """Both, one right after the other: whoever comes in between has no password that opens."""
        new = self.file_with(text)
        self.set_in_database(text)
        new.rename(self.file)

    def end_connections(self):
        """Ends every connection there is; one that has gone by itself meanwhile is no fault."""
        for number in self.connections():
            with contextlib.suppress(pymysql.err.MySQLError):
                self.database.run("KILL %s", number)

    def connections(self):
        return {row[0] for row in self.database.run(
            "SELECT id FROM information_schema.processlist WHERE user = %s", self.user)}


@pytest.fixture()
def password(stack, database, administrator):
    made = Password(stack, database)
    yield made
    made.set(made.first)
    administrator.post(PATH, json={"secrets": True}, status=200)


@pytest.mark.fault
def test_the_database_password_is_changed_under_load_without_a_failed_request(administrator, customer, password):
    with load_of(customer) as load:
        for _ in range(3):
            before = password.connections()
            password.set(secrets.token_urlsafe(24))
            administrator.post(PATH, json={"secrets": True}, status=200)
            load.more(60)
            # Whoever served a request since then speaks with the new password.
            assert password.connections() - before


@pytest.mark.fault
def test_a_connection_that_is_refused_reads_the_password_again(stack, api, customer, password, tmp_path):
    settings = {"cache_file": tmp_path / "cache", "metrics_file": tmp_path / "metrics"}
    with system.worker(stack, **settings) as worker:
        token = customer.token
        assert worker.call("GET", "/customers/me", token=token).status == 200
        password.set(secrets.token_urlsafe(24))
        # Nobody tells the workers; their connections end.
        password.end_connections()
        assert worker.call("GET", "/customers/me", token=token).status == 200
        for _ in range(20):
            api.get("/customers/me", token=token, status=200)


@pytest.mark.fault
def test_a_password_that_opens_nothing_is_not_taken(administrator, customer, password):
    before = password.connections()
    password.set_in_file("this-is-not-the-password")
    administrator.post(PATH, json={"secrets": True}, status=200)
    for _ in range(20):
        customer.get("/customers/me", status=200)
    assert before & password.connections()
