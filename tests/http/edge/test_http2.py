# SPDX-License-Identifier: MIT
"""The site as it stands serves HTTP/2 where its listen line says so: a second web server, with the stack's own
configuration but for the port and the protocol, in front of the same workers. curl speaks HTTP/2 without TLS to it."""

import json
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from support import files, multipart, samples
from support.programs.ports import free_port
from support.stack import wait_until

pytestmark = pytest.mark.web_server


def nginx_with_http2(stack, folder, port):
    """The command line of an nginx of the test's own."""
    etc = pathlib.Path(stack.configuration).parent / "nginx"
    site = (etc / "gatehouse.conf").read_text()
    listen = f"listen {stack.host}:{stack.port};"
    assert listen in site
    (folder / "gatehouse.conf").write_text(site.replace(listen, f"listen 127.0.0.1:{port} http2;"))
    main = []
    for line in (etc / "nginx.conf").read_text().splitlines():
        words = line.split()
        if words[:1] in (["pid"], ["error_log"]) or (words and words[0].endswith("_temp_path")):
            words[1] = str(folder / words[0]) + ("" if len(words) > 2 else ";")
            line = " ".join(words)
        main.append(line.replace(str(etc / "gatehouse.conf"), str(folder / "gatehouse.conf")))
    (folder / "nginx.conf").write_text("\n".join(main))
    return [shutil.which("nginx") or "/usr/sbin/nginx", "-e", str(folder / "error_log"), "-c",
            str(folder / "nginx.conf")]


def apache_with_http2(stack, folder, port):
    """The command line of an Apache of the test's own, as the user who runs the stack's."""
    etc = pathlib.Path(stack.configuration).parent / "apache"
    listen = f"{stack.host}:{stack.port}"
    for path in etc.glob("*.conf"):
        text = path.read_text().replace(str(etc), str(folder)).replace(listen, f"127.0.0.1:{port}")
        (folder / path.name).write_text(text)
    main = folder / "apache.conf"
    lines = [line for line in main.read_text().splitlines()
             if line.split(" ")[0] not in ("DefaultRuntimeDir", "PidFile", "ErrorLog", "Include")]
    assert len(lines) == len(main.read_text().splitlines()) - 4
    main.write_text("\n".join([
        f"DefaultRuntimeDir {folder}", f"PidFile {folder}/pid", f"ErrorLog {folder}/error_log",
        "LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so", *lines, "Protocols h2c http/1.1",
        f"Include {folder}/gatehouse-proxy-fcgi.conf"]))
    command = ["/usr/sbin/apache2", "-DFOREGROUND", "-d", str(folder), "-f", str(main)]
    if os.geteuid() != 0:
        return command
    owner = os.stat(f"/proc/{stack.pids_named('apache')[0]}").st_uid
    os.chown(folder, owner, -1)
    return ["setpriv", "--reuid", str(owner), "--clear-groups", "--inh-caps", "+dac_override", "--ambient-caps",
            "+dac_override", *command]


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


SERVERS = {"nginx": nginx_with_http2, "apache": apache_with_http2}


@pytest.fixture(scope="module")
def curl(stack, tmp_path_factory):
    """curl(path, *options) asks over HTTP/2: (status, protocol, body)."""
    if stack.web_server not in SERVERS:
        pytest.skip("the same site file as with apache, and workers of its own")
    folder, port = tmp_path_factory.mktemp("http2"), free_port()
    folder.chmod(0o755)

    def ask(path, *options, body=None):
        run = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "-m", "20", "-o", folder / "body", "-w",
                              "%{http_code} %{http_version}", *options, f"http://127.0.0.1:{port}{stack.prefix}{path}"],
                             input=body, capture_output=True, check=True)
        status, protocol = run.stdout.decode().split()
        return int(status), protocol, (folder / "body").read_bytes()

    with subprocess.Popen(SERVERS[stack.web_server](stack, folder, port),
                          stderr=(folder / "stderr").open("w")) as server:
        try:
            wait_until(lambda: answers(port) or server.poll() is not None, 60, "the server to listen")
            assert server.poll() is None, (folder / "stderr").read_text()
            yield ask
        finally:
            server.terminate()


def test_a_public_path_is_read(curl):
    status, protocol, body = curl("/system/version")
    assert (status, protocol) == (200, "2"), body
    assert json.loads(body)["name"] == "Gatehouse"


def test_an_unknown_path_is_the_workers_to_refuse(curl):
    status, _, body = curl("/no/such/path")
    assert status == 404 and json.loads(body)["code"] == "route.unknown"


@pytest.mark.parametrize("way", ["with its length", "as it comes"])
def test_a_body_arrives_whole(curl, way):
    options = ["--data-binary", "@-"] if way == "with its length" else ["-X", "POST", "-T", "-"]
    sent = json.dumps({"username": "nobody@example.org", "password": "not the password of anybody"}).encode()
    status, _, body = curl("/customers/login", "-H", "Content-Type: application/json", *options, body=sent)
    assert status == 401 and json.loads(body)["code"] == "auth.credentials", body


@pytest.mark.parametrize("way", ["with its length", "as it comes"])
def test_an_upload_arrives_whole(curl, keeper, way):
    data, mark = samples.noise(300_000), multipart.boundary()
    options = ["--data-binary", "@-"] if way == "with its length" else ["-X", "POST", "-T", "-"]
    status, _, body = curl("/system/files", "-H", f"Authorization: Bearer {keeper.token}", "-H",
                           f"Content-Type: {multipart.content_type(mark)}", *options,
                           body=multipart.encode(files.form(data, "http2.bin"), mark))
    assert status == 200, body
    assert files.download(keeper, json.loads(body)["id"], status=200).content == data


def test_what_stands_for_http_2_in_a_line_of_http_1_is_refused(stack):
    with socket.create_connection((stack.host, stack.port), timeout=60) as client:
        client.sendall(b"GET /system/version HTTP/2.0\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert client.recv(64).split()[1] in (b"400", b"505")
