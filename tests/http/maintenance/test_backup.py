# SPDX-License-Identifier: MIT
"""The drill: a backup of the running service, restored on an empty host, where people sign in and download."""

import contextlib
import hashlib
import json
import os
import pathlib
import pty
import re
import subprocess
import threading
import uuid

import pytest

from support import files, samples
from support.client import strict_json
from support.programs import operator
from support.programs.host import Host

pytestmark = pytest.mark.fault


@pytest.fixture(autouse=True)
def one_web_server(stack):
    """Nothing here goes through the web server twice over: once is enough."""
    if not stack.nginx:
        pytest.skip("the web server has no part in it")


def listed_files(backup):
    """{id: (hash, size)} of a backup's list."""
    found = {}
    for line in (backup / "files.txt").read_text().splitlines():
        name, digest, size = line.split()
        found[str(uuid.UUID(name))] = (digest, int(size))
    return found


def lost_files(text):
    """Ids that `backup` or `restore` could not save."""
    return {line.split()[2].rstrip(":") for line in text.splitlines() if line.startswith("lost ")}


def make_backup(stack, folder, *options):
    """A backup; returns its path and the ids that were lost (other tests may have damaged files on purpose)."""
    done = operator.run(stack, "backup", str(folder), *options, status=None)
    lost = lost_files(done.stdout)
    assert done.returncode == (1 if lost else 0), done.stdout + done.stderr
    (path, ) = [line for line in done.stdout.splitlines() if line.startswith(str(folder))]
    return pathlib.Path(path), lost


class Traffic(threading.Thread):
    """Uploads, archives and restores until stopped."""

    def __init__(self, account):
        super().__init__(daemon=True)
        self.account = account
        self.stopped = threading.Event()
        self.made = 0

    def run(self):
        while not self.stopped.is_set():
            record = files.upload(self.account, samples.noise(2000), f"traffic-{self.made}.bin")
            files.archive(self.account, record["id"], status=200)
            self.made += 1

    def finish(self):
        self.stopped.set()
        self.join(60)
        assert not self.is_alive() and self.made > 0


def call(worker, method, uri, body=None, token=None):
    """A JSON request to a worker of the host; returns status and parsed body."""
    data = b"" if body is None else json.dumps(body).encode()
    answer = worker.call(method, uri, token=token, body=data, content_type="application/json" if data else None)
    return answer.status, strict_json(answer.body, f"{method} {uri}")


def test_a_backup_taken_under_traffic_is_restored_on_an_empty_host(stack, database, accounts, tmp_path):
    account, busy = accounts.customer(), accounts.customer()
    data = {}
    for size in (1, 1000, 70000, 300000):
        blob = samples.noise(size)
        data[files.upload(account, blob, f"{size}.bin", tags=["drill", "Übung"])["id"]] = blob
    picture = samples.picture()
    data[files.upload(account, picture, "Bild 'ä'\\.png", bucket="images", kind="image")["id"]] = picture
    archived = files.upload(account, b"kept although archived\n", "archived.txt")["id"]
    files.archive(account, archived, status=200)
    token = account.token
    link = account.post(f"/system/files/{next(iter(data))}/link", json={"expiresIn": 3600}, status=200).json()["url"]

    traffic = Traffic(busy)
    traffic.start()
    try:
        backup, lost = make_backup(stack, tmp_path / "backups")
    finally:
        traffic.finish()
    assert not lost & ({*data, archived} | {one["id"] for one in files.listed(busy, status="all")})
    later = files.upload(account, b"after the backup\n", "later.txt")["id"]

    with Host(stack) as host:
        done = host.run("restore", str(tmp_path / "backups"), *(["--accept-loss"] if lost else []), status=None)
        assert done.returncode == (1 if lost else 0), done.stdout + done.stderr
        assert lost_files(done.stdout) == lost
        check_bytes(host, backup, lost)
        check_rows(host, database, account, later)
        check_service(host, account, data, archived, later, token)
        check_links(host, account, next(iter(data)), link)
        refused = host.run("restore", str(backup), status=1)
        assert refused == ""


def check_bytes(host, backup, lost):
    """Every file of the list is there with its hash and nothing else is; fsck on the new host says so, too."""
    expected = listed_files(backup)
    rows = {str(uuid.UUID(bytes=one[0])): (one[1].hex(), one[2])
            for one in host.rows("SELECT id, hash, size FROM file")}
    assert rows == expected
    there = {path.name: path for folder in host.files.iterdir() for path in folder.iterdir()}
    assert {str(uuid.UUID(name)) for name in there} == set(expected) - lost
    for name, path in there.items():
        digest, size = expected[str(uuid.UUID(name))]
        content = path.read_bytes()
        assert len(content) == size and hashlib.sha256(content).hexdigest() == digest
    done = host.run("fsck", "--min-age", "0", status=None)
    found = [line for line in done.stdout.splitlines() if " file " in line or line.startswith("usage")]
    assert len(found) == len(lost) and all(line.startswith("missing ") for line in found), done.stdout + done.stderr
    assert done.returncode == (1 if lost else 0)


def check_rows(host, database, account, later):
    """The account's rows are those of the first host."""
    sql = ("SELECT id, organisation_id, user_id, bucket, type, name, hash, size, content_type, status, created_at,"
           " updated_at, archived_at, tags, active_key FROM file WHERE user_id = %s AND id <> %s ORDER BY id")
    values = uuid.UUID(account.id).bytes, uuid.UUID(later).bytes
    assert host.rows(sql, *values) == database.run(sql, *values)
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'gatehouse' ORDER BY table_name"
    assert host.rows(tables) == database.run(tables)
    for table in ("role", "role_permission", "identity_signing_key", "schema_migration"):
        sql = f"SELECT * FROM {table} ORDER BY 1, 2"
        assert host.rows(sql) == database.run(sql), table


def check_service(host, account, data, archived, later, token):
    """Sign-in, download, archive and list on the new host's workers."""
    with host.worker() as worker:
        assert call(worker, "GET", "/customers/me", token=token)[1]["code"] == "auth.tokenRevoked"
        status, body = call(worker, "POST", "/customers/login",
                            {"username": account.email, "password": account.password})
        assert status == 200, body
        fresh = body["tokens"]["accessToken"]
        for identity, content in data.items():
            answer = worker.call("GET", f"/system/files/{identity}", token=fresh)
            assert answer.status == 200 and answer.body == content
        assert call(worker, "GET", f"/system/files/{archived}", token=fresh)[1]["code"] == "file.archived"
        assert call(worker, "GET", f"/system/files/{later}", token=fresh)[1]["code"] == "file.unknown"
        status, page = call(worker, "GET", "/system/files?status=all&limit=100", token=fresh)
        assert status == 200 and {one["id"] for one in page["items"]} == {*data, archived}
        status, ready = call(worker, "GET", "/system/health/ready")
        assert status == 200, ready
    assert host.run("check", status=None).returncode == 0


def check_links(host, account, identity, link):
    """A link from before is over, whether it was revoked since or not, and new ones can be made."""
    assert host.rows("SELECT 1 FROM file_link UNION ALL SELECT 1 FROM link_key") == ()
    with host.worker() as worker:
        assert call(worker, "GET", "/system" + link.rpartition("/system")[2])[1]["code"] == "link.invalid"
        fresh = call(worker, "POST", "/customers/login",
                     {"username": account.email, "password": account.password})[1]["tokens"]["accessToken"]
        status, made = call(worker, "POST", f"/system/files/{identity}/link", {"expiresIn": 3600}, token=fresh)
        assert status == 200, made
        assert worker.call("GET", "/system" + made["url"].rpartition("/system")[2]).status == 200


def test_restore_needs_the_secret_that_the_backup_was_made_with(stack, owner, tmp_path):
    files.upload(owner, samples.noise(100), "any.bin")
    without, lost = make_backup(stack, tmp_path / "a")
    included, _ = make_backup(stack, tmp_path / "b", "--include-secret")
    assert not (without / "secret").exists() and (included / "secret").stat().st_mode & 0o777 == 0o600
    loss = ["--accept-loss"] if lost else []
    with Host(stack, secret=False) as host:
        secret = host.folder / "secrets" / "secret"
        refused = host.run("restore", str(without), *loss, status=None)
        assert refused.returncode == 1 and str(secret) in refused.stderr and not secret.exists()
        secret.write_text("00" * 32 + "\n")
        refused = host.run("restore", str(included), *loss, status=None)
        assert refused.returncode == 1 and str(secret) in refused.stderr
        secret.unlink()
        done = host.run("restore", str(included), *loss, status=None)
        assert done.returncode == (1 if lost else 0), done.stdout + done.stderr
        assert secret.read_text() == (included / "secret").read_text()


def test_a_second_backup_reads_only_what_is_new(stack, owner, tmp_path):
    old = files.upload(owner, samples.noise(5000), "old.bin")["id"]
    first, _ = make_backup(stack, tmp_path / "backups")
    new = files.upload(owner, samples.noise(6000), "new.bin")["id"]
    second, _ = make_backup(stack, tmp_path / "backups")

    def saved(backup, identity):
        name = uuid.UUID(identity).hex
        return backup / "files" / name[-2:] / name

    assert saved(first, old).stat().st_ino == saved(second, old).stat().st_ino
    assert not saved(first, new).exists() and saved(second, new).stat().st_size == 6000
    assert first.name < second.name and json.loads((second / "manifest.json").read_text())["format"] == 1


def test_programs_read_of_a_backup_as_json(stack, owner, tmp_path):
    identity = files.upload(owner, samples.noise(5000), "told.bin")["id"]
    done = operator.run(stack, "backup", str(tmp_path), "--json", status=None)
    said = json.loads(done.stdout)
    assert done.returncode == (1 if said["lost"] else 0) and done.stderr == ""
    assert said["complete"] is True and said["files"] > 0 and said["rows"] > 0 and said["bytesRead"] >= 5000
    assert uuid.UUID(identity).hex in (pathlib.Path(said["path"]) / "files.txt").read_text()


def test_programs_read_of_a_restore_and_of_migrations_as_json(stack, owner, tmp_path):
    whole = files.upload(owner, samples.noise(5000), "restored.bin")["id"]
    gone = files.upload(owner, samples.noise(5001), "gone.bin")["id"]
    backup, lost = make_backup(stack, tmp_path)
    name = uuid.UUID(gone).hex
    (backup / "files" / name[-2:] / name).unlink()
    with Host(stack) as host:
        refused = host.run("restore", str(tmp_path), "--json", status=None)
        said = json.loads(refused.stdout)
        assert refused.returncode == 1 and said["complete"] is False and "--accept-loss" in refused.stderr
        done = host.run("restore", str(tmp_path), "--accept-loss", "--json", status=None)
        said = json.loads(done.stdout)
        assert done.returncode == 1 and said["complete"] is True
        assert {one["fileId"] for one in said["lost"]} == {gone, *lost} and all(one["reason"] for one in said["lost"])
        assert said["path"] == str(backup) and said["createdAt"].endswith("Z")
        assert host.rows("SELECT COUNT(*) FROM file WHERE id = %s", uuid.UUID(whole).bytes) == ((1, ), )
        assert said["files"] == len(listed_files(backup)) and said["rows"] > 0
        assert (said["rightsRepaired"], said["addressKeys"]) == (0, 0)
        assert json.loads(host.run("migrate", "--json")) == {
            "applied": [], "addressKeys": 0, "rightsRepaired": 0, "complete": True}


def test_programs_read_which_migrations_were_applied(stack):
    with Host(stack) as host:
        said = json.loads(host.run("migrate", "--json"))
        assert said["complete"] is True
        assert [(name, ) for name in said["applied"]] == list(host.rows("SELECT name FROM schema_migration ORDER BY 1"))
        wrong = host.run("migrate", "--sql", str(host.folder), "--json", status=None)
        assert wrong.returncode == 1 and json.loads(wrong.stdout)["complete"] is False and wrong.stderr


def test_backup_says_what_it_needs(stack, tmp_path):
    for wrong in (["backup"], ["backup", "a", "b"], ["backup", "--rate", "fast", "a"], ["restore"],
                  ["restore", "a", "b"]):
        assert operator.run(stack, *wrong, status=None).returncode == 2, wrong
    empty = tmp_path / "empty"
    empty.mkdir()
    operator.run(stack, "restore", str(empty), status=1)
    operator.run(stack, "backup", str(tmp_path / "no" / "such" / "folder"), status=1)


@pytest.mark.parametrize("words, said", [(("backup", ), " files, "), (("fsck", "--min-age", "0"), " files, "),
                                         (("mirror", ), " users")])
def test_on_a_terminal_a_long_command_says_how_far_it_is(stack, owner, tmp_path, words, said):
    files.upload(owner, samples.noise(100), "any.bin")
    words = (*words, str(tmp_path)) if words == ("backup", ) else words
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(stack.ctl), "--config", str(stack.configuration), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=theirs) as command:
        os.close(theirs)
        told = b""
        with contextlib.suppress(OSError):  # Linux says so when nobody has the other end any more
            while piece := os.read(ours, 65536):
                told += piece
        os.close(ours)
        output = command.stdout.read().decode()
    # Other tests may have damaged files on purpose.
    assert command.returncode in (0, 1), told
    assert re.search(rf"\r.*[0-9]+.*{said}", told.decode()), told
    assert "\r" not in output, "progress is not for programs"
