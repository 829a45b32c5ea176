# SPDX-License-Identifier: MIT
"""What was sent and what was answered, and whether the service's rows and bytes agree with it.

Three answers are told apart. *stored*: 200. *refused*: an error that the worker itself has answered. *unknown*: no
answer of the worker at all (it was killed, the connection broke), or its own word that nobody can tell. The promises:
what was stored is there, whole, under the id that was told; what was refused is not there; what is there is whole and
is what was sent, also where the client never learned of it.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import threading
import uuid

from support import files, multipart, samples

# The web server's own answers for a worker that is gone.
SERVER_CODES = ("service.unavailable", "service.timeout")
UNKNOWN = "It is not known whether"


class Ledger:
    """Every upload of one test, by its name."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = {}
        self.stored = {}
        self.refused = {}
        self.unknown = {}

    def new(self, size, data=None):
        """Random bytes (or the given ones) and a name that tells them apart; returns (name, multipart body, its content
        type)."""
        data = data or samples.noise(size)
        name = f"{uuid.uuid4().hex}.bin"
        with self.lock:
            self.sent[name] = (hashlib.sha256(data).digest(), len(data))
        mark = multipart.boundary()
        return name, multipart.encode(files.form(data, name), mark), multipart.content_type(mark)

    def answered(self, name, status, body):
        """Notes the answer; body is text or bytes."""
        try:
            reply = json.loads(body)
        except ValueError:
            reply = {}
        with self.lock:
            if status == 200:
                self.stored[name] = uuid.UUID(reply["id"]).bytes
            elif reply.get("code") in (None, *SERVER_CODES) or UNKNOWN in reply.get("message", ""):
                self.unknown[name] = f"{status} {reply.get('code')}"
            else:
                self.refused[name] = f"{status} {reply.get('code')}"

    def lost(self, name, why):
        """Notes that no answer came."""
        with self.lock:
            self.unknown[name] = str(why)

    def count(self):
        """Uploads that have been answered or given up."""
        return len(self.stored) + len(self.refused) + len(self.unknown)

    def codes(self):
        """How often each refusal was seen."""
        seen = {}
        for code in self.refused.values():
            seen[code] = seen.get(code, 0) + 1
        return seen

    def __str__(self):
        return f"{len(self.stored)} stored, {len(self.refused)} refused {self.codes()}, {len(self.unknown)} unanswered"


def blob_path(folder, identity):
    """Where the bytes of a file lie."""
    return pathlib.Path(folder) / identity.hex()[-2:] / identity.hex()


def every_file(folder):
    """Every regular file below a folder, by the bytes of its name where that is an id."""
    return {os.path.join(where, name) for where, _, names in os.walk(folder) for name in names}


def fault_of_row(ledger, name, size, digest, path, hashes):
    """What is wrong with a row that is visible, or None."""
    if name not in ledger.sent:
        return "visible and never sent"
    if (digest, size) != ledger.sent[name]:
        return "the row tells of other bytes than were sent"
    if not path.exists():
        return f"a row without bytes, {'acknowledged' if name in ledger.stored else 'not answered'}"
    if path.stat().st_size != size or hashes and hashlib.sha256(path.read_bytes()).digest() != digest:
        return "the bytes have changed"
    return None


def check(ledger, database, folder, hashes=True):
    """Compares rows and bytes with the ledger; returns the files that have no row. Every broken promise is one
    line of the assertion."""
    rows = {row[1]: (bytes(row[0]), bytes(row[2]), row[3]) for row in database.run("SELECT id, name, hash, size FROM "
                                                                                   "file")}
    faults = [f"{name}: acknowledged and lost" for name in ledger.stored if name not in rows]
    faults += [f"{name}: stored under another id" for name, identity in ledger.stored.items()
               if name in rows and rows[name][0] != identity]
    faults += [f"{name}: refused ({code}) and visible" for name, code in ledger.refused.items() if name in rows]
    known = set()
    for name, (identity, digest, size) in rows.items():
        path = blob_path(folder, identity)
        known.add(str(path))
        fault = fault_of_row(ledger, name, size, digest, path, hashes)
        if fault:
            faults.append(f"{name}: {fault}")
    assert not faults, f"{len(faults)} broken promises ({ledger}):\n" + "\n".join(faults[:10])
    return every_file(folder) - known


def repair(stack, database, folder):
    """gatehousectl fsck --repair: afterwards the folder holds the bytes of rows and nothing else."""
    environment = {**os.environ, "GATEHOUSE_FILES_DIRECTORY": str(folder)}
    run = subprocess.run([str(stack.ctl), "--config", stack.configuration, "fsck", "--repair", "--min-age", "0"],
                         env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, f"fsck ended with {run.returncode}: {run.stdout[-1000:]}{run.stderr[-1000:]}"
    rows = {str(blob_path(folder, bytes(row[0]))) for row in database.run("SELECT id FROM file")}
    left = {path for path in every_file(folder) - rows if "/quarantine/" not in path and "/lost+found/" not in path}
    assert not left, f"left behind after fsck --repair: {sorted(left)[:5]}"
