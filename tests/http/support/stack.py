# SPDX-License-Identifier: MIT
"""The running service under test, as STATE/quickstart.json describes it."""

import json
import os
import pathlib
import time
import urllib.parse

from support.objects import Bucket, Object

KEYS = ("baseUrl", "webUrl", "admin", "mailDirectory", "configuration", "fastcgiSocket", "database",
        "blobDirectory", "logDirectory", "gatehousectl", "corsOrigins", "webServer", "provider", "emulator", "pids")


class Stack:
    """Read-only facts about the stack, and what /proc says about its processes."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.facts = json.loads(self.path.read_text())
        missing = [key for key in KEYS if key not in self.facts]
        assert not missing, f"{path} lacks {missing}"
        self.base_url = self.facts["baseUrl"].rstrip("/")
        self.web_url = self.facts["webUrl"].rstrip("/")
        parts = urllib.parse.urlsplit(self.base_url)
        self.host = parts.hostname
        self.port = parts.port or 80
        self.prefix = parts.path.rstrip("/")
        self.web_server = self.facts["webServer"]
        self.provider = self.facts["provider"]
        self.emulator = self.facts["emulator"]
        self.admin = self.facts["admin"]
        self.configuration = self.facts["configuration"]
        self.socket = self.facts["fastcgiSocket"]
        self.database = self.facts["database"]
        self.mail = pathlib.Path(self.facts["mailDirectory"])
        self.blobs = bytes_of(self.facts)
        self.logs = pathlib.Path(self.facts["logDirectory"])
        self.ctl = pathlib.Path(self.facts["gatehousectl"])
        self.cors_origins = self.facts["corsOrigins"]
        self.nginx = self.web_server == "nginx"

    def url(self, path):
        """The absolute address of a path of the service."""
        return self.base_url + path

    def pids(self):
        """The recorded processes now, as (name, pid); the file is read again because what dies is
        restarted."""
        return list(_flatten("", json.loads(self.path.read_text())["pids"]))

    def pids_named(self, word):
        """The recorded pids whose name contains the word."""
        return [pid for name, pid in self.pids() if word in name.lower()]

    def processes(self, roots=None):
        """Every process of the stack: the recorded ones (or the given roots) and all that descends from
        them."""
        children = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            children.setdefault(_parent(name), []).append(int(name))
        found, todo = set(), list(roots) if roots is not None else [pid for _, pid in self.pids()]
        while todo:
            pid = todo.pop()
            if pid not in found and os.path.isdir(f"/proc/{pid}"):
                found.add(pid)
                todo += children.get(pid, [])
        return sorted(found)

    def workers(self):
        """The pids of the gatehouse.fcgi processes."""
        return [pid for pid in self.processes() if _name(pid) == "gatehouse.fcgi"]

    def workers_of(self, word):
        """The workers below the recorded processes of that name, i.e. those of one pool."""
        return [pid for pid in self.processes(self.pids_named(word)) if _name(pid) == "gatehouse.fcgi"]

    def worker_program(self):
        """Path of the worker program that this stack runs."""
        installed = [
            self.ctl.parent.parent / place / "gatehouse.fcgi"
            for place in ("bin", "sbin", "libexec", "libexec/gatehouse", "lib/gatehouse", "lib/cgi-bin")
        ]
        for path in installed:
            if path.exists():
                return str(path)
        for pid in self.workers():
            return os.readlink(f"/proc/{pid}/exe")
        raise AssertionError("no gatehouse.fcgi beside gatehousectl nor among the processes")

    def as_workers(self, command):
        """The command so that it runs as the user of the workers. That is Apache's where Apache itself starts them:
        root maps no file of theirs, such as the cache. The right to reach the state folder, which is root's, goes
        along."""
        owner = os.stat(f"/proc/{self.pids_named('jobs')[0]}").st_uid
        if owner == os.geteuid():
            return list(command)
        return ["setpriv", "--reuid", str(owner), "--clear-groups", "--inh-caps", "+dac_override", "--ambient-caps",
                "+dac_override", "--", *command]

    def data_file(self, name):
        """A file of the installed share/gatehouse folder."""
        path = self.ctl.parent.parent / "share" / "gatehouse" / name
        assert path.exists(), f"{path} is not installed"
        return path

    def blob_files(self):
        """Every regular file under the blob directory, or every object, with its size."""
        if isinstance(self.blobs, Object):
            return {f"{self.blobs}/{key}": size for key, size in self.blobs.bucket.sizes().items()}
        found = {}
        for folder, _, names in os.walk(self.blobs):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    found[path] = os.stat(path).st_size
                except FileNotFoundError:
                    pass
        return found


def bytes_of(facts):
    """Where the bytes of files are: a folder, or a bucket whose objects are no files."""
    return pathlib.Path(facts["blobDirectory"]) if facts["blobDirectory"] else Object(Bucket(facts["store"]))


def _flatten(name, value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten(name, inner)
    elif value is not None:
        yield name, int(value)


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split(None, 2)[1])
    except (OSError, IndexError, ValueError):
        return -1


def _name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def wait_until(question, seconds, what, pause=0.05):
    """Polls question() until it answers something true, and returns that; fails loudly after the given
    seconds."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"after {seconds} s still waiting for {what}"
        time.sleep(pause)
