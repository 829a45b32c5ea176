# SPDX-License-Identifier: MIT
"""gatehousectl fsck, purge and organisation on the running service."""

import json
import os
import uuid

import pytest

from support import files, samples
from support.database import key
from support.files import blob, flip
from support.programs import operator


def fsck(stack, *options):
    """What fsck prints, whatever else the store holds; it came to its end."""
    done = operator.run(stack, "fsck", *options, status=None)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stderr == "", "progress without a terminal"
    return done


@pytest.fixture()
def damaged(keeper, stack):
    """A file, one bit of whose bytes is flipped: (record, bytes). It is whole again afterwards."""
    data = samples.noise(5000)
    record = files.upload(keeper, data, "damaged.bin")
    flip(blob(stack, record["id"]), 12345)
    yield record, data
    blob(stack, record["id"]).write_bytes(data)


def test_fsck_names_a_file_with_a_flipped_bit_and_changes_nothing(stack, damaged):
    record, _ = damaged
    for _ in range(2):
        done = fsck(stack, "--min-age", "0")
        (line, ) = operator.lines_about(done.stdout, record["id"])
        assert done.returncode == 1 and line.startswith("hash ")
        assert f"organisation {record['organisationId']}" in line


def test_programs_read_findings_as_json(stack, damaged):
    record, _ = damaged
    said = json.loads(fsck(stack, "--json", "--min-age", "0").stdout)
    (finding, ) = [one for one in said["findings"] if one["fileId"] == record["id"]]
    assert finding == {"kind": "hash", "path": finding["path"], "fileId": record["id"], "movedTo": None,
                       "organisationId": record["organisationId"], "repaired": False}
    assert said["complete"] is True and said["counts"]["hash"] >= 1 and said["unrepaired"] >= 1
    assert said["files"] > 0 and said["bytesRead"] > 0


def test_fsck_leaves_alone_what_is_younger_than_an_hour(stack, damaged):
    record, _ = damaged
    assert not operator.lines_about(fsck(stack).stdout, record["id"])
    assert operator.lines_about(fsck(stack, "--min-age", "0").stdout, record["id"])


@pytest.mark.directory
def test_repair_takes_damaged_bytes_out_of_reach_until_they_are_put_back(stack, keeper, damaged):
    record, data = damaged
    files.download(keeper, record["id"], status=200)
    (line, ) = operator.lines_about(fsck(stack, "--repair", "--min-age", "0").stdout, record["id"])
    moved = stack.blobs / line.rsplit(" ", 1)[1]
    assert len(moved.read_bytes()) == len(data) and not blob(stack, record["id"]).exists()
    files.download(keeper, record["id"], status=500, code="storage.unavailable")
    assert files.info(keeper, record["id"]) == record["info"]
    assert record["id"] in [item["id"] for item in files.listed(keeper)]

    flip(moved, 12345)
    moved.rename(blob(stack, record["id"]))
    assert files.download(keeper, record["id"], status=200).content == data
    assert not operator.lines_about(fsck(stack, "--min-age", "0").stdout, record["id"])


@pytest.mark.inode
def test_bytes_without_a_row_are_moved_aside_only_when_old(stack):
    identity = str(uuid.uuid4())
    path = blob(stack, identity)
    path.parent.mkdir(mode=0o750, exist_ok=True)
    path.write_bytes(b"nobody's")
    assert not operator.lines_about(fsck(stack, "--repair").stdout, identity) and path.exists()
    os.utime(path, (1, 1))
    (line, ) = operator.lines_about(fsck(stack).stdout, identity)
    assert line.startswith("orphan ") and path.exists()
    (line, ) = operator.lines_about(fsck(stack, "--repair").stdout, identity)
    moved = stack.blobs / line.rsplit(" ", 1)[1]
    assert not path.exists() and moved.read_bytes() == b"nobody's"
    assert not operator.lines_about(fsck(stack).stdout, identity)
    moved.unlink()


def test_a_missing_file_and_a_cut_one_are_told_apart(stack, keeper):
    missing = files.upload(keeper, samples.noise(100), "missing.bin")
    cut = files.upload(keeper, samples.noise(100), "cut.bin")
    kept = blob(stack, missing["id"]).read_bytes(), blob(stack, cut["id"]).read_bytes()
    blob(stack, missing["id"]).unlink()
    blob(stack, cut["id"]).write_bytes(kept[1][:99])
    out = fsck(stack, "--quick", "--min-age", "0").stdout
    assert operator.lines_about(out, missing["id"])[0].startswith("missing ")
    assert operator.lines_about(out, cut["id"])[0].startswith("size ")
    for record, data in zip((missing, cut), kept):
        blob(stack, record["id"]).write_bytes(data)
    out = fsck(stack, "--min-age", "0").stdout
    assert not operator.lines_about(out, missing["id"]) + operator.lines_about(out, cut["id"])


def test_fsck_that_cannot_run_exits_2(stack, tmp_path):
    nowhere = {"GATEHOUSE_DATABASE_SOCKET": str(tmp_path / "none.sock")}
    assert operator.run(stack, "fsck", environment=nowhere, status=None).returncode == 2
    for wrong in (["--min-age", "-1"], ["--min-age", "soon"], ["--sideways"], ["everything"]):
        assert operator.run(stack, "fsck", *wrong, status=None).returncode == 2


# ---- purge -------------------------------------------------------------------------------------------


def age(database, identity, days):
    """Puts back the time of archiving."""
    database.run("UPDATE file SET archived_at = archived_at - INTERVAL %s DAY WHERE id = %s", days, key(identity))


def test_a_purged_file_is_gone_for_everyone(stack, database, keeper, administrator):
    data = samples.picture()
    record = files.upload(keeper, data, "old.png", bucket="images", kind="image", tags=["red"])
    recent = files.upload(keeper, samples.picture(), "recent.png", bucket="images", kind="image")
    for one in (record, recent):
        files.archive(keeper, one["id"], status=200)
    age(database, record["id"], 20001)
    foreseen = operator.run(stack, "purge", "--older-than", "20000", "--dry-run")
    assert " files would be purged" in foreseen and not foreseen.startswith("0 ")
    told = json.loads(operator.run(stack, "purge", "--older-than", "20000", "--dry-run", "--json"))
    assert told == {"files": int(foreseen.split()[0]), "bytes": told["bytes"], "missing": 0, "dryRun": True,
                    "interrupted": False}
    assert told["bytes"] >= len(data)
    assert blob(stack, record["id"]).exists()
    assert operator.run(stack, "purge", "--older-than", "20000") == foreseen.replace("would be purged", "purged")
    assert not blob(stack, record["id"]).exists() and blob(stack, recent["id"]).exists()
    files.download(keeper, record["id"], status=400, code="file.unknown")
    keeper.get(f"/system/files/{record['id']}/info", status=400, code="file.unknown")
    archived = [item["id"] for item in files.listed(keeper, status="archived")]
    assert record["id"] not in archived and recent["id"] in archived
    (entry, ) = administrator.get("/system/audit",
                                  params={"action": "file.purge", "organisationId": record["organisationId"]},
                                  status=200).json()["items"]
    assert entry["targetId"] == record["id"]
    details = entry["details"] if isinstance(entry["details"], dict) else json.loads(entry["details"])
    assert details["hash"] == record["info"]["hash"] and details["size"] == len(data)
    out = fsck(stack, "--min-age", "0").stdout
    assert not operator.lines_about(out, record["id"])


@pytest.mark.directory
def test_a_purge_that_looks_into_the_wrong_folder_removes_nothing_and_says_so(stack, database, keeper, tmp_path):
    record = files.upload(keeper, samples.noise(2000), "elsewhere.bin")
    files.archive(keeper, record["id"], status=200)
    age(database, record["id"], 20002)
    wrong = {"GATEHOUSE_FILES_DIRECTORY": str(tmp_path)}
    for words in ((), ("--dry-run", )):
        done = operator.run(stack, "purge", "--older-than", "20002", "--json", *words, status=None, environment=wrong)
        said = json.loads(done.stdout)
        assert done.returncode == 1 and (said["files"], said["bytes"], said["missing"]) == (0, 0, 1), done.stderr
        assert f"their bytes are missing in {tmp_path}" in done.stderr and "gatehousectl scrub --now" in done.stderr
    assert database.run("SELECT 1 FROM file WHERE id = %s", key(record["id"]))
    assert blob(stack, record["id"]).exists()
    assert operator.run(stack, "purge", "--older-than", "20002").startswith("1 files purged, ")
    assert not blob(stack, record["id"]).exists()


def test_an_active_file_is_never_purged(stack, database, keeper, stored):
    record, data = stored
    database.run("UPDATE file SET created_at = '1999-01-01', updated_at = '1999-01-01' WHERE id = %s",
                 key(record["id"]))
    operator.run(stack, "purge", "--older-than", "8000")
    assert files.download(keeper, record["id"], status=200).content == data


def test_purge_says_what_it_needs(stack):
    for wrong in ([], ["--older-than", "-1"], ["--older-than", "soon"], ["--audit"], ["--older-than", "1", "more"]):
        done = operator.run(stack, "purge", *wrong, status=None)
        assert done.returncode == 2 and "usage:" in done.stderr


def test_old_audit_rows_are_purged_and_the_trail_says_so(stack, database, administrator):
    old = uuid.UUID(int=(1000 << 80) | (7 << 76) | (2 << 62) | uuid.uuid4().int % (1 << 62))
    database.run("INSERT INTO audit (id, at, action, outcome) VALUES (%s, '1970-01-01 00:00:01', 'user.login', "
                 "'success')",
                 old.bytes)
    before = administrator.get("/system/audit", params={"limit": 5}, status=200).json()["items"]
    foreseen = operator.run(stack, "purge", "--audit", "--older-than", "20000", "--dry-run")
    assert operator.run(stack, "purge", "--audit", "--older-than", "20000") == foreseen.replace("would be purged",
                                                                                                "purged")
    assert not database.run("SELECT 1 FROM audit WHERE id = %s", old.bytes)
    after = administrator.get("/system/audit", params={"limit": 100}, status=200).json()["items"]
    assert {one["id"] for one in before} <= {one["id"] for one in after}
    assert "audit.purge" in [one["action"] for one in after]


# ---- organisation ------------------------------------------------------------------------------------


def shown(text):
    """The lines of `organisation show` as a table."""
    return {line[:16].strip(): line[16:] for line in text.splitlines()}


def test_organisations_are_listed_and_shown(stack, keeper, stored):
    assert stored
    organisation = keeper.organisation
    (line, ) = operator.lines_about(operator.run(stack, "organisation", "list"), organisation["id"])
    assert organisation["name"] in line
    facts = shown(operator.run(stack, "organisation", "show", organisation["id"]))
    assert facts["name"] == organisation["name"] and facts["quota bytes"] == "none"
    assert facts["status"] == "active" and not facts["active"].startswith("0 files")


def test_quotas_are_set_taken_away_and_told_of(stack, database, customer, administrator):
    identity = customer.organisation["id"]

    def quotas():
        return database.run("SELECT quota_bytes, quota_files FROM organisation WHERE id = %s", key(identity))[0]

    facts = shown(operator.run(stack, "organisation", "set", identity, "--quota-bytes", "5000000", "--quota-files",
                               "3"))
    assert facts["quota bytes"] == "5000000" and facts["quota files"] == "3" and quotas() == (5000000, 3)
    operator.run(stack, "organisation", "set", identity, "--quota-bytes", "none")
    assert quotas() == (None, 3)
    operator.run(stack, "organisation", "set", "--quota-files", "0", identity)
    assert quotas() == (None, 0)
    entries = administrator.get("/system/audit",
                                params={"action": "organisation.update", "organisationId": identity},
                                status=200).json()["items"]
    assert len(entries) == 3


def test_a_disabled_organisation_is_shut_out_with_the_next_request(stack, customer):
    identity = customer.organisation["id"]
    token = customer.token
    operator.run(stack, "organisation", "set", identity, "--status", "disabled")
    customer.api.get("/customers/me", token=token, status=401, code="auth.tokenRevoked")
    operator.run(stack, "organisation", "set", identity, "--status", "active")
    # Its sessions have ended; its people sign in again.
    customer.api.get("/customers/me", token=token, status=401, code="auth.tokenRevoked")
    customer.tokens = None
    customer.sign_in()
    customer.get("/customers/me", status=200)


def test_organisation_refuses_what_makes_no_sense(stack, customer, administrator):
    identity = customer.organisation["id"]
    for wrong in ([], ["set", identity], ["set", identity, "--quota-bytes", "-1"],
                  ["set", identity, "--quota-files", "1.5"],
                  ["set", identity, "--quota-bytes", "9223372036854775808"],
                  ["set", identity, "--status", "provisioning"],
                  ["show"], ["show", "x"], ["list", "all"], ["set", "--quota-files", "1"]):
        assert operator.run(stack, "organisation", *wrong, status=None).returncode == 2, wrong
    unknown = str(uuid.uuid4())
    operator.run(stack, "organisation", "show", unknown, status=1)
    operator.run(stack, "organisation", "set", unknown, "--quota-files", "1", status=1)
    internal = administrator.organisation["id"]
    operator.run(stack, "organisation", "set", internal, "--status", "disabled", status=1)
