# SPDX-License-Identifier: MIT
"""What bytes may hide: pictures that unpack to gigabytes, and files that a browser would run as a page."""

import struct
import zlib

import pytest

from support import files, samples

pytestmark = pytest.mark.web_server

SIDE = 60_000


def chunk(kind, data):
    """A chunk of PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width=SIDE, height=SIDE):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"tEXt", b"a\0" + samples.word().encode())


def jpeg(preface):
    segments = b"".join(b"\xff\xe1\xff\xff" + bytes(65533) for _ in range(preface))
    frame = struct.pack(">HBHHB", 11, 8, SIDE, SIDE, 1) + b"\1\x11\0"
    return (b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0" + segments + b"\xff\xc0" + frame +
            samples.word().encode())


def gif():
    return b"GIF89a" + struct.pack("<HH", SIDE, SIDE) + b"\0\0\0" + samples.word().encode()


def gif_of_a_small_screen():
    return (b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0" + struct.pack("<HH", SIDE, SIDE) + b"\0" +
            samples.word().encode())


def bmp():
    return b"BM" + bytes(8) + struct.pack("<IIiiHH", 54, 40, SIDE, -SIDE, 1, 24) + samples.word().encode() * 9


def tiff_with_its_directory_last():
    entries = struct.pack("<HHHIIHHII", 2, 256, 4, 1, SIDE, 257, 4, 1, SIDE) + bytes(4)
    return b"II*\0" + struct.pack("<I", 100_000) + samples.noise(100_000 - 8) + entries


def webp():
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\x3f\0" * 2 + samples.word().encode() * 2
    return b"RIFF" + struct.pack("<I", len(body)) + body


BOMBS = {
    "png": png, "gif": gif, "gif of a small screen": gif_of_a_small_screen, "bmp": bmp, "webp": webp,
    "jpeg": lambda: jpeg(0), "jpeg behind 640 KiB": lambda: jpeg(10), "tiff": tiff_with_its_directory_last
}


@pytest.mark.parametrize("bucket", ["images", "files"])
@pytest.mark.parametrize("name", list(BOMBS))
def test_a_picture_of_more_than_40_megapixels_is_refused_by_its_header(keeper, nothing_kept, name, bucket):
    reply = files.send(keeper,
                       files.form(BOMBS[name](), "bomb", bucket=bucket),
                       status=400,
                       code="request.invalid",
                       paths={"file[0]"})
    assert [entry["code"] for entry in reply.json()["validation"]] == ["pixels"]


@pytest.mark.parametrize("size, status", [((8000, 5000), 200), ((8000, 5001), 400), ((40_000_000, 1), 200)])
def test_40_megapixels_are_the_bound(keeper, size, status):
    files.send(keeper, files.form(png(*size), "edge.png", bucket="images", kind="image"), status=status)


SCRIPT = b"<script>alert(document.domain)</script>"
# What is stored, and what it is told to be: None where it is enough that it does not run.
PAGES = {
    "html": (b"<!DOCTYPE html><html><body>" + SCRIPT, "text/html"),
    "html in capitals": (b"<HTML><HEAD>" + SCRIPT.upper(), "text/html"),
    "html behind a comment": (b"<!-- a -->\n<html>" + SCRIPT, None),
    "html behind blanks": (b" \n\t" * 500 + b"<html>" + SCRIPT, None),
    "html behind text": (b"Hello.\n" * 3000 + b"<html>" + SCRIPT, None),
    "a bare script": (SCRIPT, None),
    "an image with a handler": (b"<img src=x onerror=alert(1)>", None),
    "html in UTF-16": ("\ufeff<html><script>alert(1)</script>".encode("utf-16-le"), None),
    "html in UTF-7": (b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-", None),
    "svg": (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', "image/svg+xml"),
    "svg behind a declaration": (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg">' + SCRIPT +
                                 b"</svg>", "image/svg+xml"),
    "svg behind a comment": (b"<!-- " + b"x" * 20_000 + b' --><svg xmlns="http://www.w3.org/2000/svg">' + SCRIPT,
                             None),
    "xml with a style sheet": (b'<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><a/>', "text/xml"),
    "xhtml": (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">' + SCRIPT, None),
    "javascript": (b"#!/usr/bin/env node\nalert(1);\n", None),
    "mhtml": (b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n" + SCRIPT, None),
    "flash": (b"CWS\x09" + bytes(100), None),
    "a GIF that is a script": (b"GIF89a/*\1\0*/=1;alert(1);//", "image/gif"),
    "a GIF with a page behind": (b"GIF89a\x01\0\x01\0\0\0\0;" + SCRIPT, "image/gif"),
    "a PDF with a page behind": (b"%PDF-1.4\n" + SCRIPT, "application/pdf"),
    "a PNG with a page inside": (png(1, 1) + SCRIPT, "image/png"),
    "a ZIP behind a GIF": (b"GIF89a\x01\0\x01\0\0\0\0;" + samples.archive(), "image/gif"),
}
SHOWN = {
    "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic", "image/tiff",
    "image/bmp", "application/pdf", "text/plain"
}


@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_that_could_run_is_shown_as_a_page(keeper, name):
    data, kind = PAGES[name]
    record = files.upload(keeper, data, f"page {samples.word()}")
    reply = files.download(keeper, record["id"], status=200)
    sent = reply.headers["Content-Type"].split(";")[0]
    assert reply.content == data and sent == record["info"]["contentType"] and sent == (kind or sent)
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    shown = reply.headers["Content-Disposition"].split(";")[0]
    assert shown == ("inline" if sent in SHOWN else "attachment")


@pytest.mark.parametrize("name", ["page.html", "page.svg", "page.js", "page.xml", "page.xhtml"])
@pytest.mark.parametrize("page", [name for name, (_, kind) in PAGES.items() if kind in SHOWN])
def test_a_picture_or_document_cannot_be_named_as_a_page(keeper, nothing_kept, page, name):
    files.send(keeper, files.form(PAGES[page][0], name), status=400, code="request.invalid", paths={"file[0]"})
