# SPDX-License-Identifier: MIT
"""The state folder: where everything in it lies, whether it may be used, and who is using it."""

import copy
import fcntl
import json
import os
import pwd
import re
import secrets
import shutil

from problem import Problem

# A Unix socket's address has 108 bytes, the last of them NUL; mod_fcgid names its sockets PID.NUMBER.
SOCKET_BYTES = 107
LONGEST_SOCKET = "run/fcgid/4194304.99999"
# Names that need no quoting in any of the files that are written: INI, nginx, Apache, SQL, make.
SAFE = re.compile(r"[A-Za-z0-9._/+-]+")
TAKEN = ("A quick start is running in {} already. End it with tools/quickstart --stop, or choose another folder with "
         "--state and another --port.")
MARK = ".gatehouse-quickstart"
FIRST_START_MIB = 400
FIRST_CLUSTER_MIB = 1000
LATER_START_MIB = 50


class Layout:
    """The places below the state folder, and below the build folder."""

    def __init__(self, state, build_directory):
        self.state = state
        self.address = "127.0.0.1"
        self.port = None
        self.facts = state / "quickstart.json"
        self.lock = state / "lock"
        self.pids = state / "run" / "pids.json"
        self.hold = state / "hold"
        self.cluster = state / "data" / "cluster.json"
        self.secrets = state / "secrets"
        self.mail = state / "mail"
        self.files = state / "data" / "files"
        self.database = state / "data" / "mariadb"
        self.providers = state / "data" / "provider"
        self.database_socket = state / "run" / "mariadb.sock"
        self.place("")
        self.build = build_directory / "build"
        self.install = build_directory / "install"
        self.data = self.install / "share" / "gatehouse"
        self.worker = self.install / "libexec" / "gatehouse" / "gatehouse.fcgi"
        self.gatehousectl = self.install / "bin" / "gatehousectl"

    def place(self, name):
        """What each host of a cluster has for itself; without a name, the only host."""
        self.etc, self.log, self.run, self.temporary = (
            self.state / folder / name for folder in ("etc", "log", "run", "tmp"))
        self.configuration = self.etc / "gatehouse.conf"
        self.worker_socket = self.run / "worker.sock"
        self.login_socket = self.run / "login.sock"
        self.upload_socket = self.run / "upload.sock"
        self.bodies = self.temporary / "bodies"
        self.spool = self.state / "data" / "spool" / name

    def host(self, name, address, port):
        """The layout of one host of a cluster: secrets and e-mails are those of all."""
        one = copy.copy(self)
        one.place(name)
        one.address, one.port = address, port
        for folder in (one.etc, one.log, one.run, one.temporary, one.spool):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return one

    def check(self):
        """Refuses a folder that cannot serve, before anything is written."""
        for what, path in (("state folder", self.state), ("build folder", self.build.parent)):
            if not SAFE.fullmatch(str(path)):
                raise Problem(f"The path of the {what}, {path}, holds a blank or another sign that the servers' files "
                              "do not take. Choose a plain one with --state.")
        longest = len(os.fsencode(self.state / LONGEST_SOCKET))
        if longest > SOCKET_BYTES:
            raise Problem(f"The path of the state folder, {self.state}, is {longest - SOCKET_BYTES} bytes too long for "
                          "the Unix sockets in it. Choose a shorter one with --state.")
        if not self.state.exists():
            return
        if not self.state.is_dir():
            raise Problem(f"{self.state} is a file, not a folder. Choose another one with --state.")
        owner = self.state.stat().st_uid
        if owner != os.geteuid():
            raise Problem(f"The state folder {self.state} belongs to {user_name(owner)}. Start as that user, or choose "
                          "another one with --state.")
        if not (self.state / MARK).exists() and any(self.state.iterdir()):
            raise Problem(f"{self.state} holds other things than a quick start's. Choose a new or empty folder "
                          "with --state.")

    def check_kind(self, cluster):
        """Refuses to go on with the data of a single machine as a cluster, or the other way round."""
        if cluster and self.database.exists():
            raise Problem(f"{self.state} holds the data of a single machine, which --cluster cannot use. Choose "
                          "another folder with --state.")
        if not cluster and self.cluster.exists():
            raise Problem(f"{self.state} holds the data of a cluster. Start it with --cluster, or choose another "
                          "folder with --state.")

    def prepare(self, cluster=False):
        """Makes the folders. Nobody else may look into them: they hold passwords and files."""
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.state.chmod(0o700)
        (self.state / MARK).touch(mode=0o600)
        for folder in (self.secrets, self.mail, self.files, self.log, self.run):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        first = FIRST_CLUSTER_MIB if cluster else FIRST_START_MIB
        needed = LATER_START_MIB if self.database.exists() or self.cluster.exists() else first
        free = os.statvfs(self.state)
        free_mib = free.f_bavail * free.f_frsize >> 20
        if free_mib < needed:
            raise Problem(f"The disk that holds {self.state} has {free_mib} MiB left; {needed} MiB are needed. Make "
                          f"room "
                          "or choose another folder with --state.")

    def clear(self):
        """Removes what an earlier run left and what every start writes anew."""
        self.facts.unlink(missing_ok=True)
        for folder in (self.etc, self.run, self.temporary, self.hold):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
        (self.run / "fcgid").mkdir(mode=0o700)

    def take(self):
        """Takes the folder for this process. The result is to be kept for as long as the process lives."""
        lock = open(self.lock, "a+", encoding="ascii")
        self.lock.chmod(0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(TAKEN.format(self.state)) from None
        return lock

    def is_free(self):
        """Whether nobody holds the folder."""
        if not self.lock.exists():
            return True
        with open(self.lock, "r", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def secret(self, name):
        """The text of a secret file, made with random content where it is missing."""
        path = self.secrets / name
        if not path.exists():
            write(path, secrets.token_urlsafe(24) + "\n")
        return path.read_text(encoding="ascii").strip()


def write(path, text):
    """Writes a file whole or not at all, readable for its owner only."""
    new = path.with_name(path.name + ".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(0o600)
    new.rename(path)


def write_json(path, value):
    """write() of a JSON text."""
    write(path, json.dumps(value, indent=2) + "\n")


def user_name(uid):
    """The name of a user, or the number where there is no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
