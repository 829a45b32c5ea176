# SPDX-License-Identifier: MIT
"""Uploads under a virus scanner that finds nothing, finds something, and misbehaves in every way."""

import os
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import files, samples
from support.client import check_error
from support.metrics import Scrape
from support.multipart import Part
from support.programs import operator, system
from support.stack import wait_until
from uploads import support_tus as tus
from uploads.support_clamd import EICAR_NAME, clamd

LIMIT = b"INSTREAM size limit exceeded. ERROR\0"


@pytest.fixture()
def scanner():
    with clamd() as started:
        yield started


@pytest.fixture()
def worker(stack, scanner, request):
    """Waits for a scanner that is busy, and for `request.param` seconds where a test makes it silent."""
    seconds = getattr(request, "param", 30)
    with system.worker(stack, files_clamd_socket=scanner.path, files_clamd_timeout_seconds=seconds) as started:
        yield started


def refused(answer, status, code):
    assert answer.status == status, answer
    parsed = check_error(answer.status, answer.headers, answer.body, "upload under a scanner")
    assert parsed["code"] == code
    return parsed


@pytest.mark.parametrize("size", [1, 65535, 65536, 65537, 300_000])
def test_the_scanner_sees_every_byte_and_what_it_passes_is_stored(keeper, stack, scanner, worker, size):
    data = samples.noise(size)
    answer = files.send_to(worker, stack, keeper, files.form(data, f"{samples.word()}.bin"))
    assert answer.status == 200 and scanner.received == [data] and scanner.commands == [b"zINSTREAM\0"]


def test_an_infected_file_is_refused_by_name_and_noted(keeper, stack, scanner, worker, nothing_kept, database):
    scanner.answer = lambda data: f"stream: {EICAR_NAME} FOUND\0".encode() if b"virus" in data else b"stream: OK\0"
    parts = [Part("bucket", "files"), Part("type", "misc")]
    parts += [Part("file", data, f"{n}.txt")
              for n, data in enumerate([b"fine", b"a virus", b"fine too", b"virus again"])]
    parsed = refused(files.send_to(worker, stack, keeper, parts), 400, "request.invalid")
    assert [(entry["path"], entry["code"]) for entry in parsed["validation"]] == [("file[1]", "infected"),
                                                                                  ("file[3]", "infected")]
    assert all(EICAR_NAME in entry["message"] for entry in parsed["validation"])
    rows = database.run("SELECT outcome, details FROM audit WHERE action = 'file.infected' AND"
                        " organisation_id = UNHEX(REPLACE(%s, '-', ''))", keeper.organisation["id"])
    assert len(rows) == 2 and all("failure" in str(row) and EICAR_NAME in str(row) for row in rows)


def test_what_is_refused_anyway_is_not_scanned(keeper, stack, scanner, worker, nothing_kept):
    refused(files.send_to(worker, stack, keeper, files.form(samples.elf(), "a.txt")), 400, "request.invalid")
    assert scanner.commands == []


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_a_file_beyond_the_scanners_limit_is_too_large(keeper, stack, scanner, worker, nothing_kept, size):
    scanner.before_bytes = LIMIT
    parsed = refused(files.send_to(worker, stack, keeper, files.form(samples.noise(size), "a.bin")), 413,
                     "request.tooLarge")
    assert [entry["path"] for entry in parsed["validation"]] == ["file[0]"]


SILENT = {
    "garbage": b"what?\0",
    "an empty answer": b"\0",
    "no answer": b"",
    "an answer cut off": b"stream: OK",
    "an answer without an end": b"stream: " + b"A" * 5000 + b" FOUND\0",
    "another session's answer": b"1: stream: OK\0",
    "found nothing by name": b"stream:  FOUND\0",
    "an error": b"stream: Can't allocate memory ERROR\0",
    "an unknown command": b"UNKNOWN COMMAND\0",
    "OK in other words": b"OK\0",
    "clean and more": b"stream: OK, but FOUNDED\0",
    "silence": None
}


@pytest.mark.parametrize("name, worker", [(name, 2 if answer is None else 30) for name, answer in SILENT.items()],
                         ids=list(SILENT), indirect=["worker"])
def test_no_clear_verdict_is_a_500_and_nothing_is_stored(keeper, stack, scanner, worker, nothing_kept, name):
    scanner.answer = lambda data: SILENT[name]
    parsed = refused(files.send_to(worker, stack, keeper, files.form(samples.noise(100), "a.bin")), 500,
                     "storage.unavailable")
    assert "virus" in parsed["message"] and parsed["validation"] == []


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_a_scanner_that_hangs_up_is_a_500(keeper, stack, scanner, worker, nothing_kept, size):
    scanner.before_bytes = b""
    refused(files.send_to(worker, stack, keeper, files.form(samples.noise(size), "a.bin")), 500, "storage.unavailable")


def test_a_scanner_that_reads_nothing_is_a_500(keeper, stack, nothing_kept, tmp_path):
    """A socket that queues the connection and never takes it."""
    path = str(tmp_path / "deaf.sock")
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(path)
        deaf.listen(8)
        with system.worker(stack, files_clamd_socket=path, files_clamd_timeout_seconds=1) as worker:
            refused(files.send_to(worker, stack, keeper, files.form(samples.noise(1_000_000), "a.bin")), 500,
                    "storage.unavailable")


def test_a_scanner_that_is_away_is_a_500_and_back_again_a_200(keeper, stack, scanner):
    with system.worker(stack, files_clamd_socket=scanner.path, files_clamd_timeout_seconds=30) as worker:
        scanner.close()
        os.unlink(scanner.path)
        form = files.form(samples.noise(100), f"{samples.word()}.bin")
        parsed = refused(files.send_to(worker, stack, keeper, form), 500, "storage.unavailable")
        assert scanner.path not in str(parsed)
        scanner.start()
        assert files.send_to(worker, stack, keeper, form).status == 200


# ---- uploads in pieces ----------------------------------------------------------------------------------------------


def send_pieces(worker, stack, account, data, path=None):
    """The file in two pieces, or the last one alone; returns the upload's path and the last answer."""
    first = len(data) // 2
    if path is None:
        path = tus.begin(account, len(data), meta=tus.metadata(f"{samples.word()}.bin"))
        assert send_piece(worker, stack, account, path, 0, data[:first]).status == 204
    return path, send_piece(worker, stack, account, path, first, data[first:])


def send_piece(worker, stack, account, path, offset, data):
    return worker.call("PATCH", stack.prefix + path, token=account.token, body=data,
                       content_type=tus.TYPE["Content-Type"], headers={**tus.VERSION, "Upload-Offset": str(offset)})


def test_the_scanner_sees_what_came_in_pieces_once_and_whole(keeper, stack, scanner, worker):
    data = samples.noise(300_000)
    _, answer = send_pieces(worker, stack, keeper, data)
    assert answer.status == 204 and scanner.received == [data]
    assert files.info(keeper, answer.headers["Upload-File-Id"])["hash"] == files.sha256(data)


def test_an_infected_file_that_came_in_pieces_is_refused_and_ends_its_upload(keeper, stack, scanner, worker,
                                                                             nothing_kept, database):
    scanner.answer = lambda data: f"stream: {EICAR_NAME} FOUND\0".encode()
    noted = "SELECT COUNT(*) FROM audit WHERE action = 'file.infected' AND outcome = 'failure'"
    before = database.run(noted)[0][0]
    path, answer = send_pieces(worker, stack, keeper, samples.noise(1000))
    parsed = refused(answer, 400, "request.invalid")
    assert [(entry["path"], entry["code"]) for entry in parsed["validation"]] == [("file[0]", "infected")]
    assert database.run(noted)[0][0] == before + 1
    tus.head(keeper, path, status=404)


def test_without_a_verdict_the_last_piece_may_come_again(keeper, stack, scanner, worker):
    data = samples.noise(1000)
    scanner.answer = lambda data: b"what?\0"
    path, answer = send_pieces(worker, stack, keeper, data)
    refused(answer, 500, "storage.unavailable")
    assert tus.head(keeper, path)["Upload-Offset"] == "500"
    scanner.answer = lambda data: b"stream: OK\0"
    _, answer = send_pieces(worker, stack, keeper, data, path)
    assert answer.status == 204
    assert files.download(keeper, answer.headers["Upload-File-Id"], status=200).content == data


def test_what_is_being_scanned_is_locked_and_does_not_expire(keeper, stack, scanner, database):
    """The hold is renewed, as a scan may take longer than it lasts."""
    data = samples.noise(1000)
    told, verdict = threading.Event(), threading.Event()

    def answer(_):
        told.set()
        verdict.wait(60)
        return b"stream: OK\0"

    scanner.answer = answer
    path = tus.begin(keeper, len(data), meta=tus.metadata(f"{samples.word()}.bin"))
    tus.patch(keeper, path, 0, data[:500])
    row = "WHERE id = UNHEX(%s)", path.rsplit("/", 1)[1].replace("-", "")
    with system.worker(stack, files_clamd_socket=scanner.path, files_clamd_timeout_seconds=60) as worker, \
            ThreadPoolExecutor() as pool:
        last = pool.submit(send_piece, worker, stack, keeper, path, 500, data[500:])
        try:
            assert told.wait(30)
            database.run(f"UPDATE file_upload SET held_until = UTC_TIMESTAMP(3) {row[0]}", row[1])
            wait_until(lambda: database.run(f"SELECT held_until > UTC_TIMESTAMP(3) FROM file_upload {row[0]}",
                                            row[1])[0][0] in (1, "1"), 20, "the hold that is renewed")
            tus.patch(keeper, path, 500, data[500:], status=423)
            database.run(f"UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND {row[0]}", row[1])
            operator.run(stack, "uploads", "expire")
        finally:
            verdict.set()
        stored = last.result()
    assert stored.status == 204
    assert files.download(keeper, stored.headers["Upload-File-Id"], status=200).content == data


# ---- the operator ---------------------------------------------------------------------------------------------------


def test_check_tells_of_the_scanner(stack, scanner):
    def check(path):
        environment = {**os.environ, "GATEHOUSE_FILES_CLAMD_SOCKET": path}
        return subprocess.run([stack.ctl, "--config", stack.configuration, "check"],
                              env=environment,
                              capture_output=True,
                              text=True,
                              timeout=60)

    good = check(scanner.path)
    assert "scanner        ok" in good.stdout and scanner.commands == [b"zPING\0"]
    bad = check(scanner.path + ".none")
    assert bad.returncode == 1 and "scanner" in bad.stdout and "scanner        ok" not in bad.stdout
    assert "clamd" in bad.stdout


def test_verdicts_are_counted(keeper, stack, scanner, worker):
    def counted(result):
        # Of the worker itself, which may be another user than those that the web server starts.
        page = worker.call("GET", stack.prefix + "/system/metrics")
        return Scrape(page.body.decode()).value("gatehouse_scans_total", result=result)

    answers = {"clean": b"stream: OK\0", "infected": b"stream: X FOUND\0", "failed": b"?\0", "tooLarge": LIMIT}
    for result, answer in answers.items():
        before = counted(result)
        scanner.answer = lambda data, answer=answer: answer
        files.send_to(worker, stack, keeper, files.form(samples.noise(100), f"{samples.word()}.bin"))
        assert counted(result) == before + 1, result
