# SPDX-License-Identifier: MIT
"""The service itself, as the peers are: file information, upload and download by the readers of stack.py."""

import pathlib

from peers.client import ask, multipart, need
from stack import Started, Trouble, dashed


class Ours(Started):
    """Files that were uploaded are gone afterwards."""

    name, key, guards = "Gatehouse", "gatehouse", True

    def __init__(self, stack):
        self.stack = stack
        self.address = stack.facts["baseUrl"]
        tokens = stack.tokens("readers.txt", len(stack.readers)).read_text(encoding="ascii").split()
        self.people = [{"Authorization": f"Bearer {token}"} for token in tokens]

    def start(self):
        self.forget("")

    def end(self):
        self.forget("")

    def reads(self):
        """[(path, headers)]: file information, each by another user."""
        paths = [f"/system/files/{dashed(file)}/info" for file in self.stack.files]
        said = need("GET", self.address + paths[0], headers=self.people[0]).json()
        if said["url"] != paths[0].removesuffix("/info") or said["size"] != 12345:
            raise Trouble(f"The service does not tell of its file: {said}")
        if ask("GET", self.address + paths[0]).status != 401:
            raise Trouble("The service tells anyone of its files.")
        return [(path, self.people[number % len(self.people)]) for number, path in enumerate(paths)]

    def upload(self):
        """(method, path, headers, text before the bytes, text after them)."""
        kind, before, after = multipart("bench.bin", [("bucket", "files"), ("type", "misc")])
        return "POST", "/system/files", {**self.people[0], "Content-Type": kind}, before, after

    def uploaded(self, answer):
        """(path, headers) of the bytes that an upload has stored."""
        return f"/system/files/{answer.json()['id']}", self.people[0]

    def guarded(self, path):
        """Whether the bytes are for those only who may read them."""
        return ask("GET", self.address + path).status == 401

    def stored(self, kept):
        """The files that were uploaded, but for the one behind a path."""
        keep = kept.rpartition("/")[2].replace("-", "")
        folder = pathlib.Path(self.stack.facts["blobDirectory"])
        rows = self.stack.sql("SELECT LOWER(HEX(id)) FROM file WHERE name = 'bench.bin'").split()
        return [folder / row[-2:] / row for row in rows if row != keep]

    def forget(self, kept):
        """Removes them, rows and bytes."""
        keep = kept.rpartition("/")[2].replace("-", "")
        paths = self.stored(kept)
        which = f"name = 'bench.bin' AND id <> UNHEX('{keep}')"
        self.stack.sql(f"DELETE FROM file_tag WHERE file_id IN (SELECT id FROM file WHERE {which});"
                       f" DELETE FROM file WHERE {which};")
        for path in paths:
            path.unlink(missing_ok=True)
