# SPDX-License-Identifier: MIT
"""The table of upload attacks (upload_attacks.json) as bodies."""

import json
import pathlib

from support import multipart, samples
from support.multipart import Part

MARK = "----attack-4f1c"
TYPE = multipart.content_type(MARK)
BUCKET, KIND, FILE = Part("bucket", "files"), Part("type", "misc"), Part("file", b"some text\n", "a.txt")
GOOD = {"bucket": BUCKET, "type": KIND, "file": FILE}
ENCODED = multipart.encode([BUCKET, KIND, FILE], MARK)
TABLE = json.loads((pathlib.Path(__file__).parent / "upload_attacks.json").read_text(encoding="utf-8"))
ROWS = TABLE["attacks"]


def _bytes(value, number=0):
    """A text of the table: a string, a piece, or a list of pieces."""
    if isinstance(value, list):
        return b"".join(_bytes(piece, number) for piece in value)
    if isinstance(value, str):
        return value.replace("{mark}", MARK).replace("{n}", str(number)).encode("utf-8")
    if "sample" in value:
        return getattr(samples, value["sample"])(*value.get("with", []))
    data = bytes.fromhex(value["hex"]) if "hex" in value else _bytes(value["repeat"])
    return data * value.get("times", 1)


def _parts(item):
    """The parts that one item of the list stands for."""
    if isinstance(item, str):
        return [GOOD[item]]
    made = []
    for number in range(item.get("times", 1)):
        data = _bytes(item["data"], number)
        if "head" in item:
            made.append(Part("", data, headers=_bytes(item["head"])))
            continue
        filename = _bytes(item["filename"], number) if "filename" in item else None
        made.append(Part(item["name"], data, filename, item.get("contentType")))
    return made


def body(row):
    """The bytes of an attack's body."""
    if "body" in row:
        return _bytes(row["body"])
    return multipart.encode([part for item in row["parts"] for part in _parts(item)], MARK)


def content_type(row):
    """The Content-Type of an attack."""
    return row.get("contentType", "multipart/form-data; boundary={mark}").replace("{mark}", MARK)
