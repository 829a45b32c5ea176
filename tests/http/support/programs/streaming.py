# SPDX-License-Identifier: MIT
"""A service that sends files from the worker itself ([files] delivery = stream): a worker of the test's own on the
stack's database and files, behind an nginx of the test's own that runs the installed sample site."""

import contextlib
import copy
import os
import re
import socket
import subprocess
import tempfile

from support.programs import system
from support.programs.ports import free_port
from support.stack import wait_until

MAIN = """\
daemon off;
{user}pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    fastcgi_temp_path {folder}/fastcgi;
    proxy_temp_path {folder}/proxy;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/site.conf;
}}
"""


@contextlib.contextmanager
def streaming(stack, **settings):
    """A copy of the stack whose address is that of the second service; settings as in system.worker()."""
    with system.worker(stack, files_delivery="stream", **settings) as worker:
        with nginx(stack, worker.path, worker.path) as moved:
            yield moved


@contextlib.contextmanager
def nginx(stack, worker_socket, login_socket):
    """An nginx of the test's own before those sockets; a copy of the stack with its address."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-nginx-") as folder:
        port = free_port()
        _write(folder, "site.conf", _site(stack, folder, worker_socket, login_socket, port))
        _write(folder, "nginx.conf", MAIN.format(folder=folder, user="user root;\n" if os.geteuid() == 0 else ""))
        log = os.path.join(folder, "nginx.log")
        with open(log, "ab") as output:
            process = subprocess.Popen(["nginx", "-p", folder, "-e", log, "-c", f"{folder}/nginx.conf"],
                                       stdin=subprocess.DEVNULL,
                                       stdout=output,
                                       stderr=output)
        try:
            wait_until(lambda: _listens(process, port, log), 60, "the test's own nginx")
            yield _moved(stack, port)
        finally:
            process.terminate()
            process.wait(30)


def _site(stack, folder, worker_socket, login_socket, port):
    words = {
        "LISTEN": f"127.0.0.1:{port}", "SERVER_NAME": "localhost", "BASE_PATH": stack.prefix,
        "WORKER_SOCKET": worker_socket, "UPLOAD_SOCKET": worker_socket, "LOGIN_SOCKET": login_socket,
        "FILES_DIRECTORY": stack.blobs,
        "ACCEL_PREFIX": "/_gatehouse_files/", "MAX_BODY": "1g", "WEB_ROOT": stack.data_file("web"),
        "BODY_DIRECTORY": f"{folder}/spool", "SECURITY_TXT": f"{folder}/security.txt"
    }
    lines = stack.data_file("nginx/gatehouse.conf.in").read_text(encoding="utf-8").splitlines()
    return "\n".join(
        line if line.lstrip().startswith("#") else re.sub(r"@([A-Z_]+)@", lambda word: str(words[word[1]]), line)
        for line in lines) + "\n"


def _moved(stack, port):
    moved = copy.copy(stack)
    moved.host, moved.port, moved.web_server, moved.nginx = "127.0.0.1", port, "stream", True
    moved.base_url = f"http://127.0.0.1:{port}{stack.prefix}"
    return moved


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _listens(process, port, log):
    with open(log, encoding="utf-8", errors="replace") as file:
        assert process.poll() is None, f"nginx left with {process.returncode}: {file.read()[-2000:]}"
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False
