# SPDX-License-Identifier: MIT
"""Each call to the S3 store, of each kind of request that makes one, fails once: nobody is there, it hangs up, it does
what it is asked and says nothing, it gives half an answer, it is silent. What was stored is there, whole; what was
refused is not; what is sent is what was stored or is cut short; afterwards no object is without a row."""

import contextlib
import hashlib
import json
import re
import subprocess
import sys

import pytest

import support_ledger as ledgers
from providers import support_remote as remote
from support import files, multipart, samples
from support.programs.host import Host
from support_outbound import HttpProxy
from support_site import Kind, Site, each_call_fails_once, worker_of
from uploads import support_tus as tus

pytestmark = pytest.mark.hosts

SERVER = remote.SERVERS.parent / "blob" / "s3" / "s3_server.py"
PASSWORD = "administrator password 1"
SETTINGS = """[files]
store = s3
s3_endpoint = {url}
s3_bucket = bucket
s3_access_key = key
s3_secret_key_file = {folder}/secrets/s3
s3_spool = {folder}/data/spool
s3_timeout_seconds = 10
"""
# Where the store is silent, or nobody is there.
HASTE = {"files_s3_timeout_seconds": 1}
SIZE = 30_000


class StoreSite(Site):
    """With an administrator, who also keeps the files."""

    def begin(self):
        self.token = self.tokens(remote.ADMIN, PASSWORD)["accessToken"]
        self.ledger = ledgers.Ledger()
        self.stored = {}
        self.kept, self.data = self.store(samples.noise(SIZE))

    def store(self, data):
        """A file that is there, as (id, bytes)."""
        answer = self.upload(data)
        assert answer.status == 200, answer
        return json.loads(answer.body)["id"], data

    def upload(self, data):
        """Sends a file, and notes what became of it."""
        mark = multipart.boundary()
        name = f"{samples.word()}-{len(self.ledger.sent)}.bin"
        self.ledger.sent[name] = (hashlib.sha256(data).digest(), len(data))
        answer = self.call("POST", "/system/files", multipart.encode(files.form(data, name), mark), token=self.token,
                           content_type=multipart.content_type(mark))
        self.ledger.answered(name, answer.status, answer.body)
        return answer

    def fetch(self, identity, headers=None):
        return self.call("GET", f"/system/files/{identity}", token=self.token, headers=headers)

    def objects(self):
        """The keys that the store has."""
        text = (self.folder / "objects").read_text(encoding="utf-8")
        return {line.split()[0] for line in text.splitlines() if not line.startswith("upload ")}

    def rows(self):
        """(name, id, digest) of each file that is seen."""
        found = self.host.rows("SELECT name, id, hash FROM file")
        return [(name, bytes(identity).hex(), bytes(digest)) for name, identity, digest in found]

    def check_ledger(self):
        """Rows and objects agree with what was answered."""
        rows, objects = self.rows(), self.objects()
        names = {name for name, _, _ in rows}
        lost = [name for name in self.ledger.stored if name not in names]
        seen = [name for name in self.ledger.refused if name in names]
        bare = [name for name, identity, _ in rows if not any(identity in one for one in objects)]
        wrong = [name for name, _, digest in rows
                 if name in self.ledger.sent and self.ledger.sent[name][0] != digest]
        assert not lost and not seen and not bare and not wrong, \
            f"lost {lost}, refused and seen {seen}, without bytes {bare}, other bytes {wrong}"

    def sweep(self):
        """fsck takes away what no row names, and misses nothing. Pieces go later, with uploads whose time is over."""
        out = self.host.run("fsck", "--repair", "--min-age", "0")
        ids = {identity for _, identity, _ in self.rows()}
        left = {one for one in self.objects() if not any(identity in one for identity in ids) and "partial/" not in one}
        assert not left, f"fsck left {left}: {out}"
        assert "missing" not in out or re.search(r"\b0 .*missing|missing\D*0\b", out), out


def check_upload(site, _given, answer):
    site.check_ledger()
    if answer.status == 200:
        identity = json.loads(answer.body)["id"]
        name = next(name for name, one in site.ledger.stored.items() if one.hex() == identity.replace("-", ""))
        assert hashlib.sha256(site.fetch(identity).body).digest() == site.ledger.sent[name][0]


def check_download(site, _given, answer):
    """Nothing but what was stored, and less than was announced only where the connection then breaks."""
    if answer.status == 200 and answer.body != site.data:
        assert site.data.startswith(answer.body)
        assert int(answer.headers["Content-Length"]) == len(site.data), answer.headers
    assert site.fetch(site.kept).body == site.data


def check_range(site, _given, answer):
    if answer.status == 206:
        assert site.data[100:20_000].startswith(answer.body)
    assert site.fetch(site.kept, {"Range": "bytes=100-19999"}).body == site.data[100:20_000]


def resume(site, given):
    """The second half of an upload by tus, which ends it."""
    headers = {**tus.VERSION, "Upload-Offset": str(len(given.data) // 2)}
    return site.call("PATCH", given.path, given.data[len(given.data) // 2:], token=site.token, headers=headers,
                     content_type="application/offset+octet-stream")


class Pieces:
    """An upload of which the first half has been taken."""

    def __init__(self, site):
        self.data = samples.noise(SIZE)
        made = site.call("POST", "/system/uploads", token=site.token, headers={
            **tus.VERSION, "Upload-Length": str(SIZE), "Upload-Metadata": tus.metadata("pieces.bin")})
        assert made.status == 201, made
        self.path = "/system/uploads/" + made.headers["Location"].rpartition("/")[2]
        taken = site.call("PATCH", self.path, self.data[:SIZE // 2], token=site.token,
                          headers={**tus.VERSION, "Upload-Offset": "0"},
                          content_type="application/offset+octet-stream")
        assert taken.status == 204, taken


def check_pieces(site, given, answer):
    """A file is there where it was said so; otherwise the upload goes on where the service says."""
    if answer.status == 500:
        head = site.call("HEAD", given.path, token=site.token, headers=tus.VERSION)
        assert head.status == 200, head
        at = int(head.headers["Upload-Offset"])
        answer = site.call("PATCH", given.path, given.data[at:], token=site.token,
                           headers={**tus.VERSION, "Upload-Offset": str(at)},
                           content_type="application/offset+octet-stream")
        assert answer.status == 204, answer
    assert site.fetch(answer.headers["Upload-File-Id"]).body == given.data
    site.check_ledger()


def end_pieces(site, given):
    return site.call("DELETE", given.path, token=site.token, headers=tus.VERSION)


def check_ended(site, given, answer):
    if answer.status == 500:
        again = end_pieces(site, given)
        assert again.status in (204, 404, 410), again
    assert site.call("HEAD", given.path, token=site.token, headers=tus.VERSION).status in (404, 410)


KINDS = {
    "upload": Kind(lambda site, _: site.upload(samples.noise(SIZE)), check=check_upload),
    "upload in parts": Kind(lambda site, _: site.upload(samples.noise(18 << 20)), check=check_upload),
    "download": Kind(lambda site, _: site.fetch(site.kept), check=check_download),
    "download of a part": Kind(lambda site, _: site.fetch(site.kept, {"Range": "bytes=100-19999"}), 206,
                               check=check_range),
    "the last piece of an upload": Kind(resume, 204, prepare=Pieces, check=check_pieces),
    "the end of an upload in pieces": Kind(end_pieces, 204, prepare=Pieces, check=check_ended),
}


@pytest.fixture(scope="module")
def site(stack, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with contextlib.ExitStack() as started:
        store = subprocess.Popen([sys.executable, "-B", "-s", str(SERVER), str(folder)], stdout=subprocess.PIPE,
                                 text=True)
        started.callback(store.wait)
        started.callback(store.kill)
        proxy = HttpProxy(int(store.stdout.readline()))
        started.callback(proxy.close)
        host = started.enter_context(Host(stack))
        text = host.configuration.read_text(encoding="utf-8")
        (host.folder / "data" / "spool").mkdir()
        (host.folder / "secrets" / "s3").write_text("secret\n", encoding="utf-8")
        for path in (host.folder / "secrets").iterdir():
            path.chmod(0o600)
        host.configuration.write_text(
            re.sub(r"(?m)^\[files\]\n", lambda _: SETTINGS.format(url=proxy.url, folder=host.folder), text),
            encoding="utf-8")
        host.run("migrate")
        (host.folder / "password").write_text(PASSWORD, encoding="utf-8")
        host.run("create-admin", "--email", remote.ADMIN, "--password-file", str(host.folder / "password"))
        found = StoreSite(stack, host, proxy, started.enter_context(worker_of(stack, host)))
        found.may_be_hasty(started.enter_context(worker_of(stack, host, **HASTE)), HASTE)
        found.folder = folder
        found.begin()
        yield found


@pytest.mark.parametrize("name", KINDS)
def test_each_call_to_the_store_fails_once(site, name):
    assert each_call_fails_once(site, name, KINDS[name]), "the proxy sees no call"
    site.sweep()
    assert site.fetch(site.kept).body == site.data
