# SPDX-License-Identifier: MIT
"""The scrub: a file whose bytes have rotted is found, is never sent in any way, and is sent again when they are
right."""

import json

import pytest

from support import files, metrics, readiness, samples
from support.client import check_error
from support.database import key
from support.files import blob, flip
from support.programs import operator, system
from support.stack import wait_until

DELIVERIES = ("accel", "sendfile", "stream")


def scrub(stack, *options):
    done = operator.run(stack, "scrub", *options, "--rate", "0", status=None)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done


def test_a_scrub_that_cannot_be_is_not_taken_for_damage(stack, tmp_path):
    environment = {"GATEHOUSE_DATABASE_SOCKET": str(tmp_path / "nobody")}
    done = operator.run(stack, "scrub", environment=environment, status=None)
    assert done.returncode == 2 and "gatehousectl: " in done.stderr, done.stdout + done.stderr


@pytest.fixture()
def rotten(stack, keeper):
    """A file with a flipped bit: (record, bytes). It is whole again afterwards."""
    data = samples.noise(70000)
    record = files.upload(keeper, data, "rotten.bin")
    flip(blob(stack, record["id"]))
    yield record, data
    blob(stack, record["id"]).write_bytes(data)
    scrub(stack, "--damaged")


def test_a_pass_finds_it_and_it_is_sent_again_when_the_bytes_are_back(stack, keeper, rotten):
    record, data = rotten
    done = scrub(stack, "--now")
    (line, ) = operator.lines_about(done.stdout, record["id"])
    assert done.returncode == 1 and line.startswith("damaged ") and record["organisationId"] in line
    files.download(keeper, record["id"], status=500, code="storage.unavailable")
    keeper.get(f"/system/files/{record['id']}", headers={"Range": "bytes=0-9"}, status=500, code="storage.unavailable")
    assert files.info(keeper, record["id"]) == record["info"]
    # It is told of once, and the mark stays as long as the bytes are wrong.
    assert not operator.lines_about(scrub(stack, "--damaged").stdout, record["id"])
    files.download(keeper, record["id"], status=500, code="storage.unavailable")
    flip(blob(stack, record["id"]))
    (line, ) = operator.lines_about(scrub(stack, "--damaged").stdout, record["id"])
    assert line.startswith("repaired ")
    assert files.download(keeper, record["id"], status=200).content == data


def test_programs_read_of_a_scrub_as_json(stack, rotten):
    record, _ = rotten
    done = scrub(stack, "--now", "--json")
    said = json.loads(done.stdout)
    (found, ) = [one for one in said["findings"] if one["fileId"] == record["id"]]
    assert found == {"kind": "damaged", "fileId": record["id"], "organisationId": record["organisationId"]}
    assert done.returncode == 1 and said["complete"] is True
    assert said["faults"] == len([one for one in said["findings"] if one["kind"] != "repaired"])
    flip(blob(stack, record["id"]))
    again = json.loads(scrub(stack, "--damaged", "--json").stdout)
    assert {"kind": "repaired", "fileId": record["id"], "organisationId": record["organisationId"]} in again["findings"]
    assert again["repaired"] >= 1


def test_a_link_does_not_send_it_either(stack, api, keeper, rotten):
    record, _ = rotten
    link = keeper.post(f"/system/files/{record['id']}/link", status=200).json()["url"][len(stack.base_url):]
    scrub(stack, "--now")
    api.get(link, status=500, code="storage.unavailable")


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_delivery_hands_it_over(stack, keeper, rotten, delivery, method):
    record, _ = rotten
    path = f"{stack.prefix}/system/files/{record['id']}"
    with system.worker(stack, files_delivery=delivery) as worker:
        assert worker.call(method, path, token=keeper.token).status == 200
        scrub(stack, "--now")
        answer = worker.call(method, path, token=keeper.token)
        assert answer.status == 500
        names = {name.lower() for name in dict(answer.headers)}
        assert not names & {"x-accel-redirect", "x-sendfile"}
        if method == "GET":
            check_error(answer.status, answer.headers, answer.body, delivery)
            assert json.loads(answer.body)["code"] == "storage.unavailable"


def test_every_file_that_shares_the_bytes_is_marked(stack, keeper, rotten):
    _, data = rotten
    whole = samples.noise(5000)
    twins = [files.upload(keeper, whole, name) for name in ("one.bin", "two.bin", "three.bin")]
    assert blob(stack, twins[0]["id"]).stat().st_nlink == 3
    flip(blob(stack, twins[1]["id"]))
    scrub(stack, "--now")
    for twin in twins:
        files.download(keeper, twin["id"], status=500, code="storage.unavailable")
    # The same bytes again are stored anew, not joined to the damaged ones.
    again = files.upload(keeper, whole, "four.bin")
    assert blob(stack, again["id"]).stat().st_nlink == 1
    assert files.download(keeper, again["id"], status=200).content == whole
    flip(blob(stack, twins[0]["id"]))
    scrub(stack, "--damaged")
    for twin in twins:
        assert files.download(keeper, twin["id"], status=200).content == whole
    assert data


def test_the_backup_repairs_it(stack, keeper, tmp_path):
    data = samples.noise(5000)
    record = files.upload(keeper, data, "saved.bin")
    assert operator.run(stack, "backup", str(tmp_path / "backup"), status=None).returncode in (0, 1)
    flip(blob(stack, record["id"]))
    scrub(stack, "--now")
    files.download(keeper, record["id"], status=500, code="storage.unavailable")
    operator.run(stack, "fsck", "--repair", "--from", str(tmp_path / "backup"), "--min-age", "0", status=None)
    assert files.download(keeper, record["id"], status=200).content == data


@pytest.fixture()
def scrub_part(stack):
    """What readiness says of the scrub: a worker of the test's own has time to look, also on a busy machine."""

    def look(worker):
        answer, body = readiness.ask(worker, stack)
        assert answer.status == 200, body
        return body["scrub"]

    with readiness.worker(stack) as worker:
        yield lambda: look(worker)


def test_what_is_found_is_told_of(stack, api, scrub_part, keeper, administrator, database, rotten):
    record, _ = rotten
    scrub(stack, "--now")
    status = json.loads(operator.run(stack, "scrub", "status", "--json"))
    assert status["damagedFiles"] >= 1 and status["passBegan"] is None and status["lastPassBegan"] is not None
    assert f"damaged files       {status['damagedFiles']}\n" in operator.run(stack, "scrub", "status")
    assert scrub_part() == "warning"
    rows = administrator.get("/system/audit", params={"action": "file.damaged"}, status=200).json()["items"]
    assert record["id"] in [row["target"]["id"] if isinstance(row.get("target"), dict) else row["targetId"]
                            for row in rows]
    wait_until(lambda: metrics.scrape(api).value("gatehouse_damaged_files") >= 1, 20, "the metric")
    assert metrics.scrape(api).has("gatehouse_scrub_finished_timestamp_seconds")
    assert database.run("SELECT damaged_at IS NOT NULL FROM file WHERE id = %s", key(record["id"])) == ((1, ), )


def lost_files(stack):
    return {one["id"] for one in json.loads(operator.run(stack, "scrub", "status", "--json"))["items"]
            if one["state"] == "lost"}


def test_a_lost_file_is_named_with_the_way_out_and_forgotten_when_it_is_back(stack, scrub_part, keeper, tmp_path):
    """Put back by hand, from a backup, or given up: each ends the warning, without a pass over all files."""
    backup = tmp_path / "backup"
    # Other tests may have lost files of their own; those that are archived would go with the purge below.
    operator.run(stack, "purge", "--older-than", "0")
    scrub(stack, "--now")
    others = lost_files(stack)
    calm = scrub_part()
    records = [files.upload(keeper, samples.noise(2000), f"lost-{number}.bin") for number in range(3)]
    operator.run(stack, "backup", str(backup), status=None)
    paths = [blob(stack, record["id"]) for record in records]
    paths[0].rename(tmp_path / "aside")
    for path in paths[1:]:
        path.unlink()
    scrub(stack, "--now")
    said = operator.run(stack, "scrub", "status")
    for record in records:
        (line, ) = operator.lines_about(said, record["id"])
        assert line.startswith("lost ") and record["organisationId"] in line
    assert "gatehousectl fsck --repair --from FOLDER" in said and "gatehousectl scrub --damaged" in said
    assert lost_files(stack) == others | {record["id"] for record in records} and scrub_part() == "warning"
    listed = json.loads(operator.run(stack, "scrub", "status", "--json"))
    assert listed["lostFiles"] == len(others) + 3

    (tmp_path / "aside").rename(paths[0])
    (line, ) = operator.lines_about(scrub(stack, "--damaged").stdout, records[0]["id"])
    assert line.startswith("repaired ")
    paths[1].write_bytes(b"")
    operator.run(stack, "fsck", "--repair", "--from", str(backup), "--min-age", "0", status=None)
    assert lost_files(stack) == others and scrub_part() == calm

    paths[2].unlink()
    operator.run(stack, "fsck", "--quick", "--min-age", "0", status=None)
    assert scrub_part() == "warning"
    keeper.delete(f"/system/files/{records[2]['id']}", status=200)
    operator.run(stack, "purge", "--older-than", "0")
    assert lost_files(stack) == others and scrub_part() == calm


def test_the_job_runner_scrubs_by_itself(stack, keeper, database, rotten):
    record, _ = rotten
    database.run("UPDATE maintenance SET position = '' WHERE name = 'scrub'")
    wait_until(lambda: database.run("SELECT damaged_at IS NOT NULL FROM file WHERE id = %s",
                                    key(record["id"])) == ((1, ), ),
               300, "the job runner to find the file")
    files.download(keeper, record["id"], status=500, code="storage.unavailable")


def test_an_operator_gets_the_scrub_from_the_job_runner(stack, database, keeper):
    """The job runner, given a day's work, gives way within seconds."""
    files.upload(keeper, samples.noise(1000), "any.bin")
    database.run("UPDATE maintenance SET position = '' WHERE name = 'scrub'")
    scrub(stack, "--now")
    assert json.loads(operator.run(stack, "scrub", "status", "--json"))["passBegan"] is None
