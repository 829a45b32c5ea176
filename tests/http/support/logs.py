# SPDX-License-Identifier: MIT
"""The log folder of the stack: JSON lines of the workers, and whatever else is written there."""

import json
import os

from support.stack import wait_until


class Logs:
    """Searches the folder. Offsets are remembered so that a search reads only what is new since start()."""

    def __init__(self, directory):
        self.directory = directory

    def files(self):
        """Every file of the folder, at any depth."""
        for folder, _, names in os.walk(self.directory):
            for name in names:
                yield os.path.join(folder, name)

    def mark(self):
        """Where each file ends now."""
        return {path: os.path.getsize(path) for path in self.files()}

    def since(self, mark):
        """What each file has got since the mark, as {path: bytes}."""
        found = {}
        for path in self.files():
            with open(path, "rb") as file:
                file.seek(mark.get(path, 0))
                data = file.read()
            if data:
                found[path] = data
        return found

    def find(self, mark, text):
        """Every line since the mark that holds the text."""
        needle = text if isinstance(text, bytes) else text.encode()
        return [line for data in self.since(mark).values() for line in data.split(b"\n") if needle in line]

    def requests(self, mark, request_id):
        """The parsed request lines of a request id: JSON objects with that requestId and an operation."""
        found = []
        for line in self.find(mark, request_id):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and entry.get("requestId") == request_id and "durationMs" in entry:
                found.append(entry)
        return found

    def wait(self, mark, request_id):
        """The one request line of a request id, waited for."""
        found = wait_until(lambda: self.requests(mark, request_id), 60, f"a log line of request {request_id}")
        assert len(found) == 1, f"{len(found)} request lines for {request_id}: {found}"
        return found[0]
