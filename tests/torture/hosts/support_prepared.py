# SPDX-License-Identifier: MIT
"""What a command of the operator is given and finds, and what a good run has made of it."""

import hashlib
import json
import os
import pathlib
import secrets
import shutil
import uuid

from support import samples
from support.accounts import fresh_email

# ---- files ------------------------------------------------------------------------------------------------


def archived_files(site, *options):
    """Files that are to be purged, two of them in one inode."""
    data = samples.noise(3000)
    site.doomed = [site.upload(data), site.upload(data), site.upload(samples.noise(10))]
    for identity in site.doomed:
        site.ask("DELETE", f"/system/files/{identity}", token=site.token)
    site.host.rows("UPDATE file SET archived_at = UTC_TIMESTAMP(3) - INTERVAL 9 DAY WHERE status = 'archived'")
    return "--older-than", "1", *options


def all_purged(site, _words):
    for identity in site.doomed:
        assert not site.blob(identity).exists(), f"{identity} was purged, and its bytes are there"
    assert not site.host.rows("SELECT 1 FROM file WHERE status = 'archived'")
    assert not site.host.rows("SELECT 1 FROM file_removal"), "bytes are still to be removed"


def all_there(site, _words):
    assert all(site.blob(identity).exists() for identity in site.doomed), "bytes are gone that were only to be counted"


def damage(site):
    """The bytes of the first kept file are wrong, those of the last are gone; beside them stray bytes."""
    first, second, last = site.kept
    site.damaged = {first, second, last}
    shutil.rmtree(site.host.files / "quarantine", ignore_errors=True)
    with open(site.blob(first), "r+b") as file:
        file.write(b"wrong")
    site.blob(last).unlink(missing_ok=True)
    name = uuid.uuid4().hex
    (site.host.files / name[-2:]).mkdir(exist_ok=True)
    site.strays = [site.host.files / name[-2:] / name, site.host.files / name[-2:] / f"stray-{name}"]
    for path in site.strays:
        path.write_bytes(b"without a row")


def damaged(*options):
    def prepare(site):
        damage(site)
        return tuple(option.format(backup=site.backup) for option in options)
    return prepare


def known_faults(site):
    """A scrub has found them, and they are there still."""
    damage(site)
    site.call_command("scrub", "--now")
    return ("--json", )


def damage_that_is_known(site):
    """A scrub has found it, and the right bytes are there again."""
    damage(site)
    site.call_command("scrub", "--now")
    put_back(site)
    return ("--damaged", )


def put_back(site, _words=None):
    """The right bytes, by hand; both names of an inode get them. What is without a row goes."""
    for path in site.strays:
        path.unlink(missing_ok=True)
    first, second, last = site.kept
    for identity in (first, second, last):
        site.blob(identity).unlink(missing_ok=True)
    site.blob(first).write_bytes(site.kept[first])
    os.link(site.blob(first), site.blob(second))
    site.blob(last).write_bytes(site.kept[last])
    site.damaged = set()


def repaired(site, _words):
    for identity, data in site.kept.items():
        assert site.blob(identity).read_bytes() == data, f"{identity} was not repaired"
    site.damaged = set()
    assert not site.host.rows("SELECT file_id FROM file_lost UNION SELECT id FROM file WHERE damaged_at IS NOT NULL")


def complete_backup(site, words):
    """The newest one in the folder has every byte that the host has. An earlier one could not be told of, or lacks what
    it says."""
    found = sorted(pathlib.Path(words[-1]).glob("*/manifest.json"))
    assert found and not any(path.parent.name.endswith(".partial") for path in found), found
    for path in found[:-1]:
        check_backup(site, path)
    assert check_backup(site, found[-1]) == 0
    shutil.rmtree(words[-1])


def check_backup(site, manifest):
    """How many files a complete backup lacks, which it says; what it has is right."""
    told = json.loads(manifest.read_text(encoding="utf-8"))
    for name, member in (("rows.sql", "rowsHash"), ("files.txt", "filesHash")):
        assert hashlib.sha256((manifest.parent / name).read_bytes()).hexdigest() == told[member]
    listed = {}
    for line in (manifest.parent / "files.txt").read_text(encoding="ascii").splitlines():
        name, digest, size = line.split()
        listed[str(uuid.UUID(name))] = digest, int(size)
    assert set(site.kept) <= set(listed) and told["files"] == len(listed)
    lost = 0
    for identity, (digest, size) in listed.items():
        name = uuid.UUID(identity).hex
        path = manifest.parent / "files" / name[-2:] / name
        data = path.read_bytes() if path.exists() else None
        lost += data is None
        assert data is None or (hashlib.sha256(data).hexdigest(), len(data)) == (digest, size), \
            f"{identity} is not what was uploaded"
    assert told["lost"] == lost
    return lost


def interrupted_backup(site):
    """A folder in which a backup was cut off: some bytes are right, some are not, one file belongs to no row."""
    folder = pathlib.Path(site.fresh("backup"))
    (whole, ) = site.backup.glob("2*")
    partial = folder / f"{whole.name}.partial"
    shutil.copytree(whole, partial)
    (partial / "manifest.json").unlink()
    bytes_of = sorted(path for path in (partial / "files").glob("*/*") if path.is_file())
    bytes_of[0].write_bytes(b"cut")
    stray = partial / "files" / "00" / ("f" * 30 + "00")
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"purged since")
    (stray.parent / "note").write_bytes(b"no id")
    return (str(folder), )


def beside(site):
    """Where a restore goes: another database and another folder."""
    target = site.host.folder / "restored"
    return {"GATEHOUSE_DATABASE_NAME": "restored", "GATEHOUSE_FILES_DIRECTORY": str(target / "files"),
            "GATEHOUSE_SERVICE_SECRET_FILE": str(target / "secret")}


def empty_host(site):
    """Neither rows nor bytes, and no secret."""
    site.host.rows("DROP DATABASE IF EXISTS restored")
    target = site.host.folder / "restored"
    shutil.rmtree(target, ignore_errors=True)
    (target / "files").mkdir(parents=True)
    return "--sql", str(site.host.folder / "sql"), str(site.backup)


def half_restored(site):
    """A restore that was interrupted: one file is right, one is not, the others are missing."""
    words = empty_host(site)
    done = site.call_command("restore", *words, environment=beside(site))
    assert done.returncode == 0, done
    (whole, ) = site.backup.glob("2*")
    mark = json.loads((whole / "manifest.json").read_text(encoding="utf-8"))["id"]
    site.host.rows(f"CREATE TABLE gatehouse_restore (unfinished INT) COMMENT = '{mark}'", database="restored")
    there = sorted((site.host.folder / "restored" / "files").glob("??/*"))
    there[0].unlink()
    there[-1].write_bytes(b"wrong")
    return words


def restored(site, _words):
    sql = "SELECT id, hash FROM file"
    (whole, ) = site.backup.glob("2*")
    listed = {line.split()[0]: line.split()[1] for line in (whole / "files.txt").read_text().splitlines()}
    rows = {bytes(one).hex(): bytes(digest).hex() for one, digest in site.host.rows(sql, database="restored")}
    assert rows == listed
    for name, digest in listed.items():
        data = (site.host.folder / "restored" / "files" / name[-2:] / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest, f"{name} was restored wrong"
    assert not site.host.rows("SHOW TABLES LIKE 'gatehouse_restore'", database="restored")
    assert (site.host.folder / "restored" / "secret").read_text() == (whole / "secret").read_text()


def moved(site, _words):
    """Every kept file is in both stores."""
    objects = (site.store / "objects").read_text(encoding="utf-8")
    for identity, data in site.kept.items():
        assert uuid.UUID(identity).hex in objects, f"{identity} is not in the store"
        assert site.blob(identity).read_bytes() == data
    site.damaged = set()


def to_directory(site):
    """The store has everything; in the directory a file is missing, and one is another."""
    assert site.call_command("blobs", "move", "--to", "s3").returncode == 0
    first, second, last = site.kept
    site.damaged = {first, second, last}
    shutil.rmtree(site.host.files / "quarantine", ignore_errors=True)
    site.blob(last).unlink(missing_ok=True)
    with open(site.blob(first), "r+b") as file:
        file.write(b"wrong")
    return "--to", "directory"


# ---- people, secrets, the rest ------------------------------------------------------------------------------


def own_secret(site):
    """A secret file of the migration's own."""
    return {"GATEHOUSE_SERVICE_SECRET_FILE": str(site.host.folder / "made" / "secret")}


def no_secret(site):
    """The file is missing."""
    folder = site.host.folder / "made"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return "--sql", str(site.host.folder / "sql")


def secret_made(site, _words):
    """It is whole, for the workers alone, and no other file lies beside it."""
    folder = site.host.folder / "made"
    assert len(bytes.fromhex((folder / "secret").read_text(encoding="ascii"))) == 32
    assert (folder / "secret").stat().st_mode & 0o777 in (0o600, 0o640)
    # A name that could not be removed is one of the same file.
    assert site.ended or all(path.samefile(folder / "secret") for path in folder.iterdir()), list(folder.iterdir())


def new_admin(site):
    return "--email", fresh_email("staff"), "--password-file", site.password


def two_keys(site):
    """A key that has sealed nothing stands behind the other one."""
    site.secret.write_text(f"{site.key}\n{secrets.token_hex(32)}\n", encoding="ascii")
    return ("--use", )


def few_keys(site):
    """A set has room for sixteen, and keys that were replaced stay as long as their tokens."""
    site.host.rows("DELETE FROM identity_signing_key WHERE retired_at IS NOT NULL")
    return ()


def key_in_use(site):
    """A new key stands before the old one, under which everything is sealed."""
    site.secret.write_text(f"{secrets.token_hex(32)}\n{site.key}\n", encoding="ascii")
    site.keys = site.secret.read_text(encoding="ascii").split()
    return ()


def key_out_of_use(site):
    """Everything is sealed under the new key already."""
    key_in_use(site)
    assert site.call_command("rotate-secret").returncode == 0
    return ("--remove", )


def back_to_the_old_key(site, words):
    """Everything can be opened by the first key alone, so it is sealed under the old one again without a rest."""
    new = site.secret.read_text(encoding="ascii").split()
    assert new == site.keys if "--remove" not in words else new == site.keys[:1]
    site.secret.write_text(f"{site.key}\n{new[0]}\n", encoding="ascii")
    done = site.call_command("rotate-secret")
    assert done.returncode == 0 and "no key" not in done.stderr, done
    site.secret.write_text(f"{site.key}\n", encoding="ascii")


def has_keys(wanted, counts=(2, )):
    """`counts`: how many; one more where a run was killed after it had added one, and the next one added another."""

    def done(site, _words):
        keys = site.secret.read_text(encoding="ascii").split()
        assert len(keys) in counts and keys.index(site.key) == wanted, f"the old key is no. {wanted} of {len(keys)}"
        assert site.secret.stat().st_mode & 0o777 == 0o600
        site.secret.write_text(f"{site.key}\n", encoding="ascii")
    return done


def forgotten_password(site):
    """An e-mail waits for the job runner."""
    site.host.forget_failures()
    site.reader = fresh_email("reader")
    assert site.call_command("create-admin", "--email", site.reader, "--password-file", site.password).returncode == 0
    site.ask("POST", "/customers/forgotten-password", {"username": site.reader})
    return ("--once", )


def mail_is_sent(site, _words):
    site.finish_jobs()
    sent = len(site.mailbox.messages(site.reader))
    # A runner that was killed may not have told that it had sent it.
    assert sent == 1 or (sent == 2 and site.ended), f"the e-mail was sent {sent} times"


def export_of_one(site):
    """A person of the embedded provider, who is to be moved to the pool."""
    site.mover = fresh_email("mover")
    assert site.call_command("create-admin", "--email", site.mover, "--password-file", site.password).returncode == 0
    site.subject = site.user(site.mover, "provider_subject")
    whole, chosen = site.fresh("people"), site.fresh("one")
    assert site.call_command("identity", "export", whole).returncode == 0
    head, *lines = pathlib.Path(whole).read_text(encoding="utf-8").splitlines(keepends=True)
    pathlib.Path(chosen).write_text(head + next(one for one in lines if site.mover in one), encoding="utf-8")
    return (chosen, )


def person_moved(site, _words):
    assert site.user(site.mover, "provider_subject") != site.subject
    assert site.user(site.mover, "status") == "awaiting-first-login"
    site.host.rows("DELETE FROM outbox WHERE status = 'waiting'")


def exported(site, words):
    lines = pathlib.Path(words[-1]).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + site.host.rows("SELECT COUNT(*) FROM user WHERE status <> 'provisioning'")[0][0]
    assert all(json.loads(line) for line in lines)


def status_is(wanted):
    def done(site, _words):
        assert site.user(site.colleague, "status") == wanted
    return done


def last_version(site):
    newest = json.loads(site.call_command("settings", "history", "--json").stdout)["items"][0]["version"]
    return (str(newest), )
