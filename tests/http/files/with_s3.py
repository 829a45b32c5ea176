# SPDX-License-Identifier: MIT
"""What is an S3 store's alone. tools/test store names this file, with versitygw, and tools/test ceph; no other run
collects it."""

import json
import os
import signal
import time

import pytest

from support import files, samples
from support.files import blob, flip
from support.programs import crash, operator, system
from support.stack import wait_until

LARGE = 70 * 1024 * 1024
# What a call may take: the store's deadline, and as long again for a machine that is busy.
PATIENCE = 60


def test_a_large_file_goes_in_parts_and_comes_back_whole_and_in_ranges(keeper, stack):
    data = samples.noise(1 << 20) * (LARGE >> 20) + b"end"
    record = files.upload(keeper, data, "large.bin")
    assert record["info"]["hash"] == files.sha256(data) == files.sha256(blob(stack, record["id"]).read_bytes())
    assert files.download(keeper, record["id"], status=200).content == data
    for first, last in ((0, 0), (16 * 1024 * 1024 - 1, 16 * 1024 * 1024), (len(data) - 3, len(data) - 1)):
        reply = files.download(keeper, record["id"], headers={"Range": f"bytes={first}-{last}"}, status=206)
        assert reply.content == data[first:last + 1]
        assert reply.headers["Content-Range"] == f"bytes {first}-{last}/{len(data)}"


def test_a_reply_tells_nothing_of_the_store(keeper, stored):
    record, data = stored
    reply = files.download(keeper, record["id"], status=200)
    assert reply.content == data
    told = " ".join(f"{name}: {value}" for name, value in reply.headers.items()).lower()
    for word in ("x-amz", "x-store", "aws4", "versity", "s3/gatehouse"):
        assert word not in told, told


def test_missing_bytes_are_an_error_of_the_store(keeper, stack, stored):
    record, data = stored
    blob(stack, record["id"]).unlink()
    files.download(keeper, record["id"], status=500, code="storage.unavailable")
    assert operator.lines_about(operator.run(stack, "fsck", "--quick", "--min-age", "0", status=None).stdout,
                                record["id"])[0].startswith("missing ")
    blob(stack, record["id"]).write_bytes(data)


def test_files_move_to_the_directory_and_what_is_there_is_compared(stack, stored):
    record, data = stored
    folder = stack.path.parent / "data" / "files"
    operator.run(stack, "blobs", "move", "--to", "directory", status=0)
    moved = folder / blob(stack, record["id"]).relative_to(stack.blobs)
    assert moved.read_bytes() == data
    assert blob(stack, record["id"]).read_bytes() == data, "nothing is taken from where the bytes are"
    flip(moved)
    done = operator.run(stack, "blobs", "move", "--to", "directory", status=0)
    assert " 1 copied now" in done and moved.read_bytes() == data
    assert (folder / "quarantine" / moved.name).exists()
    moved.unlink()
    said = json.loads(operator.run(stack, "blobs", "move", "--to", "directory", "--json", status=0))
    assert said["to"] == "directory" and said["copiedFiles"] == 1 and said["copiedBytes"] == len(data)
    assert said["lost"] == [] and said["complete"] is True and said["files"] >= 1


def test_a_backup_holds_the_bytes(stack, stored, tmp_path):
    record, data = stored
    operator.run(stack, "backup", str(tmp_path / "backups"), status=None)
    (saved, ) = (tmp_path / "backups").glob(f"*/files/*/{blob(stack, record['id']).name}")
    assert saved.read_bytes() == data
    refused = operator.run(stack, "backup", "--link", str(tmp_path / "links"), status=None)
    assert refused.returncode == 1 and "has no files to link to" in refused.stderr


def test_check_names_the_store(stack):
    done = operator.run(stack, "check", status=None)
    assert [line for line in done.stdout.splitlines() if line.startswith("store ") and line.endswith(" ok")]


@pytest.mark.fault
def test_a_store_that_hangs_is_an_error_in_time_and_nothing_is_kept(keeper, stack, stored):
    record, data = stored
    pids = stack.pids_named("store")
    assert pids
    with system.worker(stack, files_s3_timeout_seconds=5) as worker:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        assert crash.stand_still(pids)
        try:
            began = time.monotonic()
            sent = files.send_to(worker, stack, keeper, files.form(b"never stored", "hangs.bin"), timeout=PATIENCE)
            got = worker.call("GET", f"{stack.prefix}/system/files/{record['id']}", token=keeper.token,
                              timeout=PATIENCE)
            assert time.monotonic() - began < PATIENCE
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
    for answer in (sent, got):
        assert answer.status == 500 and json.loads(answer.body)["code"] == "storage.unavailable", answer
    assert files.download(keeper, record["id"], status=200).content == data
    assert "hangs.bin" not in [item["info"]["name"] for item in files.listed(keeper)]


@pytest.mark.fault
def test_a_store_that_was_killed_is_used_again_when_it_is_back(keeper, stack, stored):
    record, data = stored
    pids = stack.pids_named("store")
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: len(set(stack.pids_named("store")) - set(pids)) == len(pids) > 0, PATIENCE,
               "the store is not started again")
    assert files.download(keeper, record["id"], status=200).content == data
    files.upload(keeper, b"after the kill", "after.bin")
