# SPDX-License-Identifier: MIT
"""Resumable uploads with clients as their registries have them: tus-js-client in Node and in Chromium, tuspy, and
Uppy's plug-in in Chromium. tools/test clients names this file; no other run collects it."""

import os
import pathlib
import re
import subprocess

import pytest

from support import files, samples
from uploads import support_tus as tus
from uploads.support_tus_programs import BROWSERS, CLIENTS, Clients

SIZE = 3_000_000
CHUNK = 256 * 1024


@pytest.fixture()
def uploader(accounts):
    """Somebody of an organisation of their own."""
    return accounts.customer()


@pytest.fixture()
def run(stack, uploader, tmp_path):
    """run(client, data, ...) begins a client on that many files, and ends it with the test."""
    with Clients(stack, uploader.token, tmp_path) as clients:
        yield clients.begin


def new_data(count=1):
    return [samples.noise(SIZE) for _ in range(count)]


def check_stored(uploader, told, data):
    """Every file is there, whole, and nothing else counts."""
    ids = [one["id"] for one in told]
    assert sorted(files.info(uploader, one)["hash"] for one in ids) == sorted(files.sha256(one) for one in data)
    assert {record["id"] for record in files.listed(uploader)} == set(ids)
    assert used(uploader) == (SIZE * len(data), len(data))


def used(account):
    organisation = account.get("/customers/organisation", status=200).json()["organisation"]
    return organisation["usedBytes"], organisation["usedFiles"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("chunk", [None, CHUNK], ids=["in one", "in chunks"])
def test_a_file_arrives(uploader, run, client, chunk):
    data = new_data()
    check_stored(uploader, [run(client, data, chunkSize=chunk).next("id")], data)


@pytest.mark.parametrize("client,options", [
    ("node", {"duringCreation": True}), ("node", {"duringCreation": True, "chunkSize": CHUNK}),
    ("node", {"deferred": True, "chunkSize": CHUNK}), ("node", {"override": True, "chunkSize": CHUNK}),
    ("python", {"checksum": True, "chunkSize": CHUNK}), ("python", {"coroutines": True, "chunkSize": CHUNK}),
], ids=["all with the creation", "a part with the creation", "the length comes later", "another method", "checksums",
        "coroutines"])
def test_what_a_client_can_do_besides_works(uploader, run, client, options):
    data = new_data()
    check_stored(uploader, [run(client, data, **options).next("id")], data)


@pytest.mark.parametrize("client", CLIENTS)
def test_an_aborted_upload_goes_on_where_it_was(uploader, run, client):
    data = new_data()
    told = run(client, data, chunkSize=CHUNK, stopAt=2 * CHUNK, then="go on")
    aborted = told.next("aborted")
    assert 2 * CHUNK <= aborted["aborted"] < SIZE
    done = told.next("id")
    assert done["url"] == aborted["url"]
    check_stored(uploader, [done], data)


@pytest.mark.parametrize("client,chunk", [("node", None), ("node", CHUNK), ("python", CHUNK),
                                          *((client, CHUNK) for client in BROWSERS)],
                         ids=["node, in one", "node", "python", *BROWSERS])
def test_a_client_that_has_died_goes_on_where_it_was(uploader, run, stack, client, chunk):
    """Programs meet kill -9, in the middle of a piece where it is the only one; a page is loaded again."""
    data = new_data()
    first = run(client, data, chunkSize=chunk, stopAt=2 * CHUNK, then="hang")
    if client in BROWSERS:
        done = first.next("aborted") and first.next("id")
    else:
        first.next("hanging")
        first.kill()
        done = run(client, data, chunkSize=chunk, resume=True).next("id")
    if chunk is not None:
        assert done["first"] >= 2 * CHUNK, "what was acknowledged is not sent again"
    check_stored(uploader, [done], data)


@pytest.mark.parametrize("client", CLIENTS)
def test_files_side_by_side_all_arrive(uploader, run, client):
    data = new_data(5)
    told = run(client, data, chunkSize=CHUNK)
    check_stored(uploader, [told.next("id") for _ in data], data)


@pytest.mark.parametrize("client", ["node", *BROWSERS])
def test_a_client_that_terminates_leaves_nothing(uploader, run, client):
    """tuspy cannot."""
    told = run(client, new_data(), chunkSize=CHUNK, stopAt=2 * CHUNK, then="terminate").next("aborted")
    path = "/system/uploads/" + told["url"].rsplit("/", 1)[1]
    tus.wait_until_gone(uploader, path)
    assert used(uploader) == (0, 0) and not files.listed(uploader)


# ---- the guide ------------------------------------------------------------------------------------------------------

SURROUNDINGS = {
    "js": ("node", """const fs = require('node:fs')
const tus = require(`${{process.env.GATEHOUSE_TUS_CLIENTS}}/node_modules/tus-js-client`)
const [base, token] = [{base!r}, {token!r}]
const file = Object.assign(fs.createReadStream('large.bin'), {{ name: 'large.bin', type: '' }})
"""),
    "python": ("/usr/bin/python3", "base, token = {base!r}, {token!r}\n"),
}


@pytest.mark.parametrize("language", list(SURROUNDINGS))
def test_the_example_of_the_guide_works_as_it_stands_there(uploader, stack, tmp_path, language):
    guide = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
    example, = re.findall(rf"^```{language}\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    data = new_data()
    (tmp_path / "large.bin").write_bytes(data[0])
    command, before = SURROUNDINGS[language]
    program = tmp_path / "example"
    program.write_text(before.format(base=stack.base_url, token=uploader.token) + example, encoding="utf-8")
    clients = os.environ["GATEHOUSE_TUS_CLIENTS"]
    done = subprocess.run([command, program], cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{clients}/python"},
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said, = re.findall(r"stored as (\S+)", done.stdout)
    check_stored(uploader, [{"id": said}], data)
