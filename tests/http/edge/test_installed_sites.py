# SPDX-License-Identifier: MIT
"""The sites that `make install` fills in work in every way that docs/installing.md tells to switch on."""

import re
import socket
import ssl

import pytest

from edge.support_installed import NAME, Site, workers
from support import files, samples
from support.connections import ask
from support.stack import wait_until

pytestmark = pytest.mark.web_server

POOLS = {"as it stands": ("worker", "login"), "file": ("worker", "login"), "unbuffered": ("worker", "login", "upload")}


@pytest.fixture()
def folder(tmp_path_factory):
    """A folder that a web server under another name can enter."""
    made = tmp_path_factory.mktemp("site")
    made.chmod(0o755)
    return made


def site_for(stack, folder, way):
    if way != "as it stands" and not stack.nginx:
        pytest.skip("only nginx has other ways for uploads")
    return Site(stack, folder, () if way == "as it stands" else (way,))


def settings(site, way):
    return {"files_body_directory": site.folder / "bodies" if way == "file" else ""}


@pytest.mark.parametrize("way", list(POOLS))
def test_the_installed_site_takes_uploads_and_sends_them_back(stack, keeper, folder, way):
    site = site_for(stack, folder, way)
    with workers(site, POOLS[way], **settings(site, way)), site.running():
        account = site.account(keeper)
        for size in (1_000, 3_000_000):
            data = samples.noise(size)
            record = files.upload(account, data, f"installed-{way}-{size}.bin".replace(" ", "-"))
            assert record["info"]["hash"] == files.sha256(data) and record["info"]["size"] == size
            assert files.download(account, record["id"], status=200).content == data
        assert not list((folder / "bodies").iterdir())


def test_bodies_are_handed_over_as_files_where_that_is_switched_on(stack, keeper, folder):
    """Workers that are not told of the folder refuse what nginx names."""
    site = site_for(stack, folder, "file")
    with workers(site, POOLS["file"], files_body_directory=""), site.running():
        files.send(site.account(keeper), files.form(samples.noise(1000), "named.bin"), status=500,
                   code="storage.unavailable")


def test_unbuffered_uploads_have_workers_of_their_own(stack, keeper, folder):
    """Without that pool there is nobody for uploads, and everything else goes on."""
    site = site_for(stack, folder, "unbuffered")
    with workers(site, ("worker", "login")), site.running():
        account = site.account(keeper)
        files.send(account, files.form(samples.noise(1000), "nobody.bin"), status=502, code="service.unavailable",
                   edge=True)
        assert account.get("/customers/me", status=200).json()["user"]["id"] == keeper.id


def test_with_tls_everything_else_is_sent_there_and_told_to_stay(stack, keeper, folder):
    site = Site(stack, folder, ("tls", "log"))
    with workers(site, ("worker", "login")), site.running():
        account = site.account(keeper)
        data = samples.noise(300_000)
        record = files.upload(account, data, "over-tls.bin")
        path = f"/system/files/{record['id']}"
        whole = account.get(path, status=200)
        assert whole.content == data
        replies = [whole, account.get(path, headers={"Range": "bytes=5-9"}, status=206),
                   account.get(path, headers={"Range": "bytes=400000-"}, status=416), site.get("/"), site.get("/reset"),
                   site.get("/favicon.ico"), site.get("/assets/style.css"), site.get("/customers/me"),
                   site.get("/nowhere"), site.get("/" + "x" * 20_000)]
        for reply in replies:
            values = reply.raw.headers.getlist("Strict-Transport-Security")
            assert values == ["max-age=31536000"], f"{reply.request.url:.80} {reply.status_code}: {values}"
        plain = f"http://127.0.0.1:{site.plain_port}"
        for asked in ("/", "/customers/me?x=1", "/first-login?id=0"):
            reply = site.get(asked, plain)
            assert reply.status_code == 308 and reply.headers["Location"] == f"https://{NAME}{asked}", reply.headers
            assert "Strict-Transport-Security" not in reply.headers


def suite(site, ciphers):
    """The cipher suite of a connection by TLS 1.2 that offers these; None: there is none."""
    context = ssl.create_default_context(cafile=site.folder / "gatehouse.pem")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(ciphers)
    with socket.create_connection(("127.0.0.1", site.tls_port), timeout=10) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=NAME) as connection:
                return connection.cipher()[0]
        except ssl.SSLError:
            return None


def test_a_recorded_connection_cannot_be_read_with_the_key_of_the_certificate(stack, folder):
    """Forward secrecy. The certificate is one for RSA, whose other key exchange has none."""
    site = Site(stack, folder, ("tls",))
    with workers(site, ("worker", "login")), site.running():
        for ciphers in ("ECDHE+AESGCM", "ECDHE+CHACHA20"):
            assert suite(site, ciphers).startswith("ECDHE-"), ciphers
        for ciphers in ("kRSA", "ECDHE+AES:!AESGCM"):
            assert suite(site, ciphers) is None, ciphers


def test_without_tls_nobody_is_sent_anywhere_or_told_to_stay(stack, folder):
    site = Site(stack, folder)
    with workers(site, ("worker", "login")), site.running():
        for path in ("/", "/customers/me", "/nowhere"):
            reply = site.get(path)
            assert reply.status_code in (200, 401, 404) and "Strict-Transport-Security" not in reply.headers


@pytest.mark.parametrize("marks", [("log",), ("log", "tls"), ("tls", "log")], ids=" then ".join)
def test_no_access_log_holds_links_to_files(stack, keeper, folder, marks):
    site = Site(stack, folder, marks)
    with workers(site, ("worker", "login")), site.running():
        account = site.account(keeper)
        record = files.upload(account, samples.noise(1000), "logged.bin")
        secret = account.post(f"/system/files/{record['id']}/link", status=200).json()["url"].rsplit("/", 1)[1]
        assert site.get(f"/system/links/{secret}").status_code == 200
        assert site.get("/system/version").status_code == 200
        log = folder / "log" / "gatehouse.log"
        wait_until(lambda: "/system/version" in log.read_text(), 20, "the request in the log")
        if site.tls:
            assert site.get(f"/system/links/{secret}", f"http://127.0.0.1:{site.plain_port}").status_code == 308
            assert site.get("/robots.txt").status_code == 200
            wait_until(lambda: "/robots.txt" in log.read_text(), 20, "the last request in the log")
        assert "/system/files" in log.read_text()
    for file in (folder / "log").iterdir():
        assert secret not in file.read_text(errors="replace"), file.name


def test_below_a_path_the_interface_and_the_pages_are_there_and_nothing_else(stack, keeper, folder):
    """As configure --with-base-path=/api makes the site."""
    if stack.web_server == "apache-fcgid":
        pytest.skip("the workers that Apache starts itself have the address of the stack")
    site = Site(stack, folder, base_path="/api")
    own = {"service_base_url": site.base, "service_web_url": site.base, "identity_issuer": stack.base_url}
    with workers(site, ("worker", "login"), **own), site.running():
        account = site.account(keeper)
        data = samples.noise(3_000)
        record = files.upload(account, data, "below-a-path.bin")
        link = account.post(f"/system/files/{record['id']}/link", status=200).json()["url"]
        assert link.startswith(f"{site.base}/system/links/") and ask("GET", link).content == data
        assert files.download(account, record["id"], status=200).content == data
        loaded = re.findall(r'(?:href|src)="([^"]+)"', site.get("/").text)
        assert "console/main.js" in loaded
        for page in ("sign-in", "first-login", "assets/style.css", "system/version", "docs/", "docs/api.html", *loaded):
            assert site.get(f"/{page}").status_code == 200, page
        # The pages name each other relative to the slash, so who leaves it out is sent there.
        for query in ("", "?x=1"):
            reply = site.get(query)
            assert reply.status_code == 308 and reply.headers["Location"] == f"/api/{query}"
            assert reply.headers["X-Api-Version"] == "1.0.0" and reply.headers["X-Request-Id"]
        top = site.base.removesuffix("/api")
        for path in ("/", "/sign-in", "/system/version", "/apis", "/apisystem/version"):
            reply = site.get(path, top)
            assert reply.status_code == 404 and reply.json()["code"] == "route.unknown", path
        assert site.get("/favicon.ico", top).status_code == 200
        # What is no reading is the service's to answer.
        assert ask("POST", site.base).json()["code"] == "route.unknown"
