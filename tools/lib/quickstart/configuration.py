# SPDX-License-Identifier: MIT
"""Fills in the files that the programs read, from the samples that `make install` has put into share/gatehouse."""

import os
import re

import database
from layout import write
from problem import Problem

HOST = "127.0.0.1"
# From here HAProxy connects to the hosts of a cluster, which believe it what it says of its clients' addresses.
FRONT = "127.0.4.1"
ADMINISTRATOR = "admin@gatehouse.example"
# A front-end in development, served by its own tool, may call the service.
CORS_ORIGINS = ("http://localhost:3000", "http://localhost:5173")
DELIVERY = {"nginx": "accel", "apache": "sendfile", "apache-fcgid": "sendfile"}
# max_file_bytes is left at its default; the web server allows one MiB more for the rest of an upload.
MAX_BODY = 5368709120 + 1048576
# Apache refuses to serve as root.
APACHE_USER = "www-data"


def base_url(chosen):
    """The address that clients use."""
    return f"http://{HOST}:{chosen.port}"


def delivery(chosen):
    """How downloads leave: a store has no files that Apache could send."""
    found = DELIVERY[chosen.web_server]
    return "stream" if chosen.store != "directory" and found == "sendfile" else found


def values(chosen, layout):
    """gatehouse.conf as (section, name): value. What is not here keeps its default."""
    apache_as_root = chosen.web_server != "nginx" and os.geteuid() == 0
    return {
        ("service", "base_url"): base_url(chosen),
        ("service", "cors_origins"): " ".join(CORS_ORIGINS),
        ("service", "web_server_user"): APACHE_USER if apache_as_root else "",
        ("service", "secret_file"): layout.secrets / "secret",
        ("service", "security_txt"): layout.etc / "security.txt",
        ("database", "socket"): layout.database_socket,
        ("database", "name"): database.NAME,
        ("database", "user"): database.worker_account(),
        ("database", "password_file"): layout.secrets / "database-password",
        ("database", "admin_user"): database.owner(),
        ("files", "directory"): layout.files,
        ("files", "delivery"): delivery(chosen),
        **({("files", "body_directory"): layout.bodies} if chosen.uploads == "file" else {}),
        ("identity", "provider"): chosen.provider,
        ("mail", "transport"): "file",
        ("mail", "directory"): layout.mail,
        ("mail", "from"): "Gatehouse <no-reply@gatehouse.example>",
        ("mail", "smtp_url"): "",
        ("mail", "smtp_tls"): "",
        ("log", "destination"): "file",
        ("log", "file"): layout.log / "gatehouse.log",
        ("cache", "file"): layout.run / "cache",
        ("metrics", "file"): layout.run / "metrics",
    }


def write_configuration(chosen, layout, *others):
    """Writes gatehouse.conf: the installed sample with our values in place of its own."""
    sample = layout.data / "conf" / "gatehouse.conf.in"
    wanted = values(chosen, layout)
    for one in others:
        wanted |= one.values() if one else {}
    wanted |= dict(chosen.settings)
    section, lines = None, []
    for line in sample.read_text(encoding="utf-8").splitlines():
        head = re.fullmatch(r"\[(\w+)\]", line)
        setting = re.fullmatch(r"(#?)(\w+) = .*", line)
        if head:
            section = head[1]
        elif setting and (section, setting[2]) in wanted:
            value = wanted.pop((section, setting[2]))
            line = f"{setting[2]} = {value}"
        elif setting and not setting[1]:
            raise Problem(f"{sample} sets [{section}] {setting[2]}, which the quick start does not know.")
        lines.append(line)
    if wanted:
        raise Problem(f"{sample} has no line for {', '.join(f'[{section}] {name}' for section, name in wanted)}.")
    write(layout.configuration, "\n".join(lines) + "\n")


def store_endpoints(layout):
    """The addresses of the store, as gatehouse.conf names them."""
    text = layout.configuration.read_text(encoding="utf-8")
    return re.search(r"^s3_endpoint = (.*)$", text, re.MULTILINE)[1].split()


def write_site(chosen, layout, folder, name):
    """Writes a web server's site from its installed template and returns its path."""
    endpoints = store_endpoints(layout) if chosen.store != "directory" else []
    words = {
        "LISTEN": f"{layout.address}:{layout.port or chosen.port}",
        "FRONT": FRONT,
        "SERVER_NAME": "localhost",
        "BASE_PATH": "",
        "WORKER_SOCKET": layout.worker_socket,
        "LOGIN_SOCKET": layout.login_socket,
        "UPLOAD_SOCKET": layout.upload_socket,
        "BODY_DIRECTORY": layout.bodies,
        "WORKER": layout.worker,
        "WORKER_DIRECTORY": layout.worker.parent,
        "CONFIGURATION": layout.configuration,
        "WORKERS": chosen.workers,
        "LOGIN_WORKERS": chosen.login_workers,
        "FILES_DIRECTORY": layout.files,
        "ACCEL_PREFIX": "/_gatehouse_files/",
        "MAX_BODY": MAX_BODY,
        "STORE": " ".join(f"server {endpoint.split('://')[1]};" for endpoint in endpoints),
        "STORE_SCHEME": endpoints[0].split("://")[0] if endpoints else "http",
        "WEB_ROOT": layout.data / "web",
        "SECURITY_TXT": layout.etc / "security.txt",
        "INCLUDE_DIRECTORY": layout.etc / folder,
    }
    template = layout.data / folder / f"{name}.in"
    text = template.read_text(encoding="utf-8").replace(f"#[{chosen.uploads}] ", "")
    for mark, switched_on in (("s3", endpoints), ("front", chosen.cluster)):
        text = text.replace(f"#[{mark}] ", "") if switched_on else text
    filled = [line if line.lstrip().startswith("#") else re.sub(r"@([A-Z_]+)@", lambda word: str(words[word[1]]), line)
              for line in text.splitlines()]
    site = layout.etc / folder / name
    site.parent.mkdir(mode=0o700, exist_ok=True)
    write(site, "\n".join(filled) + "\n")
    return site
