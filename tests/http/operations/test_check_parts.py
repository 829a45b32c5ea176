# SPDX-License-Identifier: MIT
"""gatehousectl check on a host of its own whose database, clock or store is wrong in one way: the part is named, with
what is wrong and what to do, and after that has been done there is no finding."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

from providers import support_remote as remote
from support.programs.host import Host

STORE = remote.SERVERS.parent / "blob" / "s3" / "s3_server.py"


class Checked:
    """A host that is set up, and what `check` finds on it."""

    def __init__(self, host):
        self.host = host
        self.usual = self.findings()

    def findings(self, **environment):
        """{part: all that is said of it} of what is not in order."""
        done = self.host.run("check", "--json", status=None, environment=environment)
        assert done.returncode in (0, 1), done
        assert all(line.startswith("{") for line in done.stderr.splitlines()), "only the log may be there"
        answer = json.loads(done.stdout)
        assert answer["status"] == ("error" if done.returncode else answer["status"])
        return {one["part"]: (one["state"], " ".join([one["message"], *one["details"], one["advice"] or ""]))
                for one in answer["items"] if one["state"] != "ok"}

    def new(self, **environment):
        """What is found beyond the usual."""
        return {part: told for part, told in self.findings(**environment).items() if part not in self.usual}

    def one(self, part, state, *words, **environment):
        """The only new finding says all that."""
        found = self.new(**environment)
        assert list(found) == [part] and found[part][0] == state, found
        for word in words:
            assert word in found[part][1], found


@pytest.fixture(name="checked", scope="module")
def fixture_checked(stack):
    with Host(stack) as host:
        for path in (host.folder / "secrets").iterdir():
            path.chmod(0o600)
        host.run("migrate")
        yield Checked(host)


@contextlib.contextmanager
def migrated_afterwards(checked):
    """`migrate` puts it in order again."""
    yield
    checked.host.run("migrate")
    assert checked.new() == {}


# ---- the database --------------------------------------------------------------------------------------------


def test_a_migration_that_is_not_applied_is_counted(checked):
    rows = checked.host.rows("SELECT version, name, checksum, statements, done, applied_at FROM schema_migration"
                             " ORDER BY version DESC LIMIT 1")
    checked.host.rows("DELETE FROM schema_migration WHERE version = %s", rows[0][0])
    try:
        checked.one("migrations", "error", "1 migrations are not applied.", "Run gatehousectl migrate.")
    finally:
        checked.host.rows("INSERT INTO schema_migration VALUES (%s, %s, %s, %s, %s, %s)", *rows[0])
    assert checked.new() == {}


def test_stored_rights_that_differ_are_counted_and_repaired(checked):
    email = "rights@example.org"
    (checked.host.folder / "password").write_text("a password of rights 1", encoding="utf-8")
    checked.host.run("create-admin", "--email", email, "--password-file", str(checked.host.folder / "password"))
    checked.host.rows("UPDATE principal SET roles = '' WHERE user_id = (SELECT id FROM user WHERE email = %s)",
                      email)
    with migrated_afterwards(checked):
        checked.one("permissions", "error", "The stored rights of 1 users or roles differ", "Run gatehousectl migrate.")


def test_a_trigger_that_is_gone_is_named(checked):
    checked.host.rows("DROP TRIGGER principal_user_update")
    with migrated_afterwards(checked):
        checked.one("triggers", "error", "The trigger principal_user_update is missing or does not do its work")


def test_rights_that_the_workers_account_does_not_need_are_counted(checked):
    (user, ) = [line.split("=")[1].strip() for line in checked.host.configuration.read_text().splitlines()
                if line.startswith("user = ")][:1]
    checked.host.rows(f"GRANT DELETE, ALTER ON gatehouse.audit TO '{user}'@'localhost'")
    with migrated_afterwards(checked):
        checked.one("accounts", "error", "has 2 rights more than it needs")


def test_an_administrator_who_is_not_let_in_leaves_the_triggers_untried(checked):
    for wrong in ({"GATEHOUSE_DATABASE_ADMIN_USER": "nobody-of-that-name"},
                  {"GATEHOUSE_DATABASE_ADMIN_PASSWORD_FILE": str(checked.host.folder / "missing")}):
        found = checked.new(**wrong)
        assert found.pop("triggers")[0] == "note", found
        assert set(found) <= {"secret files"}, found


def test_a_server_that_is_not_there_ends_the_look_at_the_database_alone(checked):
    found = checked.new(GATEHOUSE_DATABASE_SOCKET=str(checked.host.folder / "run" / "nobody"))
    assert found["database"][0] == "error" and "Check that the server runs" in found["database"][1]
    assert "files" not in found and "mail" not in found, found


def test_jobs_that_nobody_does_are_told_with_their_age(checked):
    checked.host.rows("INSERT INTO outbox (kind, payload, created_at, next_attempt_at) VALUES ('mail', 'x',"
                      " UTC_TIMESTAMP(3) - INTERVAL 3 HOUR, UTC_TIMESTAMP(3) - INTERVAL 2 HOUR)")
    try:
        checked.one("outbox", "error", "E-mails or other jobs have been due for ", "gatehousectl jobs --list")
    finally:
        checked.host.rows("DELETE FROM outbox")


# ---- the clock -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds, state, said", [(-12, "warning", " s behind the database's."),
                                                  (12, "warning", " s ahead of the database's."),
                                                  (-90, "error", " s behind the database's."),
                                                  (90, "error", " s ahead of the database's.")])
def test_a_clock_that_is_apart_from_the_database_s_is_told_with_its_direction(stack, checked, seconds, state, said):
    found = list(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    assert found, "libfaketime is not installed: tests/http/packages.txt names it"
    preload = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), str(found[0]))))
    findings = checked.new(LD_PRELOAD=preload, FAKETIME=f"{seconds:+d}s", FAKETIME_DONT_FAKE_MONOTONIC="1",
                           ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
    assert findings["clock"][0] == state and said in findings["clock"][1], findings
    assert "chrony or ntpd" in findings["clock"][1]


# ---- the S3 store --------------------------------------------------------------------------------------------


class S3:
    """A store that does as the script says, and the settings for it."""

    def __init__(self, folder, spool):
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, "-B", "-s", str(STORE), str(folder)], stdout=subprocess.PIPE,
                                        text=True)
        self.port = int(self.process.stdout.readline())
        (folder / "key").write_text("secret\n", encoding="utf-8")
        (folder / "key").chmod(0o600)
        spool.mkdir()
        self.settings = {
            "GATEHOUSE_FILES_STORE": "s3", "GATEHOUSE_FILES_S3_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "GATEHOUSE_FILES_S3_BUCKET": "bucket", "GATEHOUSE_FILES_S3_ACCESS_KEY": "key",
            "GATEHOUSE_FILES_S3_SECRET_KEY_FILE": str(folder / "key"), "GATEHOUSE_FILES_S3_SPOOL": str(spool),
            "GATEHOUSE_FILES_S3_TIMEOUT_SECONDS": "10",
        }

    @property
    def impatient(self):
        """The settings for a store that never gives a good answer: it is asked again until the time is over."""
        return {**self.settings, "GATEHOUSE_FILES_S3_TIMEOUT_SECONDS": "2"}

    def meets(self, *lines):
        (self.folder / "script").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def objects(self):
        text = (self.folder / "objects").read_text(encoding="utf-8") if (self.folder / "objects").exists() else ""
        return [line for line in text.splitlines() if not line.startswith("upload ")]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(name="s3")
def fixture_s3(checked, tmp_path):
    store = S3(tmp_path, tmp_path / "spool")
    yield store
    store.close()


def test_a_store_in_order_keeps_nothing_of_the_check(checked, s3):
    assert checked.new(**s3.settings) == {}
    assert s3.objects() == []


@pytest.mark.parametrize("line, part, said", [
    ("PUT error 403 AccessDenied", "store", "does not allow to store an object"),
    ("DELETE error 403 AccessDenied", "store", "does not allow"),
    ("GET error 403 AccessDenied", "store", "does not allow"),
    ("GET html 200", "store", ""),
])
def test_what_the_key_may_not_do_is_told_in_the_store_s_words(checked, s3, line, part, said):
    # The first request looks whether the store is there.
    s3.meets("GET ok", *[line] * 8)
    found = checked.new(**(s3.impatient if "html" in line else s3.settings))
    assert found[part][0] == "error" and said in found[part][1], found
    assert "Allow the key to write, read, list and remove objects" in found[part][1]
    assert "our side" not in found[part][1]
    s3.meets()
    assert checked.new(**s3.settings) == {}


def test_a_store_that_is_not_there_is_told_once(checked, s3):
    s3.close()
    found = checked.new(**s3.impatient)
    assert found["files"][0] == "error" and "store" not in found, found
    assert "Check the settings of the store in [files], and its spool." in found["files"][1]


def test_each_address_of_a_store_is_looked_at(checked, s3):
    several = f"{s3.settings['GATEHOUSE_FILES_S3_ENDPOINT']} http://127.0.0.1:9"
    found = checked.new(**{**s3.settings, "GATEHOUSE_FILES_S3_ENDPOINT": several})
    ((part, (state, said)), ) = found.items()
    assert "127.0.0.1:9" in part and state == "warning" and "The other addresses of s3_endpoint serve" in said, found


def test_a_spool_that_is_missing_is_named(checked, s3, tmp_path):
    found = checked.new(**{**s3.settings, "GATEHOUSE_FILES_S3_SPOOL": str(tmp_path / "no spool")})
    assert any(state == "error" and str(tmp_path / "no spool") in said for state, said in found.values()), found
