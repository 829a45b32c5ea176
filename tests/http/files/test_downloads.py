# SPDX-License-Identifier: MIT
"""GET /system/files/{id}: bytes, headers, ranges and conditions; and /info."""

import random
import re
import urllib.parse
import uuid

import pytest

from support import files, samples
from support.client import shape

pytestmark = pytest.mark.web_server

INLINE = {
    "image/png": samples.picture, "application/pdf": samples.pdf, "text/plain": samples.text,
    "image/jpeg": lambda: samples.picture("JPEG"), "image/webp": lambda: samples.picture("WEBP")
}
ATTACHED = {
    "text/html": samples.html, "image/svg+xml": samples.svg, "application/zip": samples.archive,
    "text/csv": samples.table, samples.DOCX: samples.word_document,
    "application/octet-stream": lambda: samples.noise(100)
}
SIZE = 200_003


@pytest.fixture(scope="module")
def plain(keeper):
    """An incompressible file of an odd size: (record, bytes)."""
    data = samples.noise(SIZE)
    return files.upload(keeper, data, "ranges.bin"), data


def fetch(account, record, headers=None, **arguments):
    return files.download(account, record["id"], headers=headers or {}, **arguments)


def disposition(reply):
    """The disposition's word and the file name, decoded as RFC 6266 asks: filename* goes before filename."""
    text = reply.headers["Content-Disposition"]
    found = re.fullmatch(
        r"(inline|attachment)"
        r"(?:; filename=\"((?:[^\"\\]|\\.)*)\")?"
        r"(?:; filename\*=UTF-8''([!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-F]{2})+)?", text)
    assert found, f"not as RFC 6266 writes it: {text}"
    extended = re.search(r"filename\*=UTF-8''(\S+)\Z", text)
    if extended:
        return found[1], urllib.parse.unquote(extended[1], errors="strict")
    return found[1], re.sub(r"\\(.)", r"\1", found[2])


def test_a_download_carries_the_headers_of_the_guide(keeper, stored):
    record, data = stored
    reply = fetch(keeper, record, status=200)
    headers = reply.headers
    assert reply.content == data
    assert headers["Content-Type"] == "image/png" and headers["Content-Length"] == str(len(data))
    assert headers["ETag"] == f'"{record["info"]["hash"]}"' and headers["Accept-Ranges"] == "bytes"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and headers["Cache-Control"] == "private"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "X-Accel-Redirect" not in headers and "X-Sendfile" not in headers


def test_every_header_comes_once(keeper, stored):
    record, _ = stored
    reply = fetch(keeper, record, status=200)
    names = [name.lower() for name in reply.raw.headers]
    for name in ("etag", "cache-control", "content-type", "content-disposition", "x-content-type-options",
                 "accept-ranges", "x-request-id", "content-security-policy", "x-api-version",
                 "cross-origin-resource-policy"):
        assert len(
            reply.raw.headers.getlist(name)) == 1, f"{name}: {reply.raw.headers.getlist(name)}, all {names}"


@pytest.mark.parametrize("kind", list(INLINE))
def test_what_a_browser_may_show_is_inline(keeper, kind):
    record = files.upload(keeper, INLINE[kind](), "shown.x")
    reply = fetch(keeper, record, status=200)
    assert reply.headers["Content-Type"].split(";")[0] == kind and disposition(reply) == ("inline", "shown.x")


@pytest.mark.parametrize("kind", list(ATTACHED))
def test_everything_else_is_an_attachment(keeper, kind):
    name = "saved.csv" if kind == "text/csv" else "saved.x"
    record = files.upload(keeper, ATTACHED[kind](), name)
    reply = fetch(keeper, record, status=200)
    assert reply.headers["Content-Type"].split(";")[0] == kind and disposition(reply) == ("attachment", name)
    assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_download_1_forces_an_attachment(keeper, stored):
    record, data = stored
    reply = keeper.get(f"/system/files/{record['id']}", params={"download": "1"}, status=200)
    assert disposition(reply) == ("attachment", "picture.png") and reply.content == data


@pytest.mark.parametrize("query, path", [("download=2", "download"), ("download=", "download"),
                                         ("download=yes", "download"), ("inline=1", "inline"),
                                         ("download=1&x=1", "x")])
def test_other_query_parameters_are_refused_by_name(keeper, stored, query, path):
    record, _ = stored
    keeper.get(f"/system/files/{record['id']}?{query}", status=400, code="request.invalid", paths={path})


@pytest.mark.parametrize("name", [
    "plain.txt", "with blank.txt", "Lieferschein März.txt", "納品書.txt", "🦊.txt", 'quote".txt',
    "back`tick'.txt", "100%.txt", "semi;colon.txt", "a=b,c.txt", "filename*=UTF-8''evil.txt",
    "x" * 251 + ".txt"
])
def test_the_name_survives_in_content_disposition(keeper, name):
    record = files.upload(keeper, samples.text(), "x.txt", name=name)
    reply = fetch(keeper, record, status=200)
    assert disposition(reply) == ("inline", name)
    assert all(" " <= letter <= "~" for letter in reply.headers["Content-Disposition"])


@pytest.mark.parametrize("first, last", [(0, 0), (0, 99), (1, 1), (65535, 65536), (SIZE - 1, SIZE - 1),
                                         (0, SIZE - 1), (100, SIZE + 500), (SIZE // 2, None)])
def test_a_range_is_that_range(keeper, plain, first, last):
    record, data = plain
    reply = fetch(keeper, record, {"Range": f"bytes={first}-{'' if last is None else last}"}, status=206)
    end = min(SIZE - 1 if last is None else last, SIZE - 1)
    assert reply.content == data[first:end + 1]
    assert reply.headers["Content-Range"] == f"bytes {first}-{end}/{SIZE}"
    assert reply.headers["ETag"] == f'"{record["info"]["hash"]}"'


@pytest.mark.parametrize("count", [1, 2, 1000, SIZE - 1, SIZE, SIZE + 1])
def test_a_suffix_range_is_the_tail(keeper, plain, count):
    record, data = plain
    reply = fetch(keeper, record, {"Range": f"bytes=-{count}"}, status={206, 200} if count > SIZE else 206)
    assert reply.content == data[-count:]


def test_random_ranges_are_right(keeper, plain):
    record, data = plain
    chance = random.Random(7)
    for _ in range(200):
        first = chance.randrange(SIZE)
        last = chance.randrange(first, SIZE)
        assert fetch(keeper, record, {"Range": f"bytes={first}-{last}"},
                     status=206).content == data[first:last + 1]


@pytest.mark.parametrize(
    "text", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-{SIZE + 9}", "bytes=-0", "bytes=99999999999999999999-"])
def test_a_range_beyond_the_end_is_416(keeper, plain, text):
    record, _ = plain
    reply = fetch(keeper, record, {"Range": text}, status=416, edge=True)
    assert reply.headers["Content-Range"] == f"bytes */{SIZE}" and reply.json()["code"] == "request.range"


@pytest.mark.parametrize("text", [
    "bytes", "bytes=", "bytes=a-b", "bytes=5-2", "lines=1-2", "bytes=1", "bytes = 1-2", "bytes=--1",
    "bytes=1--2", "1-2", "bytes=0x1-2"
])
def test_a_range_that_cannot_be_read_gives_the_whole_or_416(keeper, plain, text):
    record, data = plain
    reply = fetch(keeper, record, {"Range": text}, status={200, 416}, edge=True)
    assert reply.status_code == 416 or reply.content == data


@pytest.mark.parametrize("text", [
    "bytes=0-1,5-6", "bytes=0-,0-,0-,0-", "bytes=0-9,0-9", "bytes=" + ",".join(f"{n}-{n}" for n in range(500))
])
def test_several_ranges_never_give_more_than_the_file(keeper, plain, text):
    record, data = plain
    reply = fetch(keeper, record, {"Range": text}, status={200, 206, 416}, edge=True)
    assert len(reply.content) <= SIZE + 500 * 200
    if reply.status_code == 200:
        assert reply.content == data


def test_if_none_match_is_304_with_the_tag(keeper, plain):
    record, _ = plain
    tag = f'"{record["info"]["hash"]}"'
    for value in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        reply = fetch(keeper, record, {"If-None-Match": value}, status=304)
        assert reply.headers["ETag"] == tag and not reply.content


def test_if_none_match_with_another_tag_gives_the_bytes(keeper, plain):
    record, data = plain
    for value in ('"x"', record["info"]["hash"], f'"{record["info"]["hash"][:-1]}"',
                  f'"{record["info"]["hash"].upper()}x"'):
        assert fetch(keeper, record, {"If-None-Match": value}, status=200).content == data


def test_if_match_guards(keeper, plain):
    record, data = plain
    tag = f'"{record["info"]["hash"]}"'
    for value in (tag, "*", f'"x", {tag}'):
        assert fetch(keeper, record, {"If-Match": value}, status=200).content == data
    for value in ('"x"', f"W/{tag}"):
        reply = fetch(keeper, record, {"If-Match": value}, status=412)
        assert data[:100] not in reply.content


def test_if_range_gives_the_range_only_of_the_same_bytes(keeper, plain):
    record, data = plain
    tag = f'"{record["info"]["hash"]}"'
    assert fetch(keeper, record, {"Range": "bytes=0-9", "If-Range": tag}, status=206).content == data[:10]
    for value in ('"x"', f"W/{tag}", "Thu, 01 Jan 1970 00:00:00 GMT"):
        assert fetch(keeper, record, {"Range": "bytes=0-9", "If-Range": value}, status=200).content == data


def test_head_tells_what_get_would(keeper, plain):
    record, _ = plain
    got, headed = fetch(keeper, record, status=200), keeper.api.head(f"/system/files/{record['id']}",
                                                                     token=keeper.token,
                                                                     status=200)
    for name in ("Content-Type", "Content-Length", "ETag", "Content-Disposition", "Accept-Ranges",
                 "Cache-Control", "Content-Security-Policy", "Cross-Origin-Resource-Policy"):
        assert headed.headers[name] == got.headers[name], name
    assert headed.content == b""


def test_info_moves_no_bytes_and_says_the_same_each_time(keeper, plain):
    record, _ = plain
    path = f"/system/files/{record['id']}/info"
    first, second = keeper.get(path, status=200).json(), keeper.get(path, status=200).json()
    assert first == second == record["info"]
    keeper.api.head(path, token=keeper.token, status=200)
    keeper.get(path + "?x=1", status=400, code="request.invalid", paths={"x"})


BAD_IDS = [
    "x", "0", "01890000-0000-7000-8000-00000000000", "01890000-0000-7000-8000-0000000000000",
    "01890000000070008000000000000000", "{01890000-0000-7000-8000-000000000000}",
    "01890000-0000-7000-8000-00000000000g", "%00", "..%2f..%2fetc%2fpasswd", "*", "%27%20OR%20%271%27=%271",
    "01890000-0000-7000-8000-000000000000%20", "01890000-0000-7000-8000-000000000000%00", "%EF%BC%90" * 8
]


@pytest.mark.parametrize("identity", BAD_IDS)
@pytest.mark.parametrize("method, tail", [("GET", ""), ("GET", "/info"), ("DELETE", "")])
def test_a_malformed_id_is_named(keeper, identity, method, tail):
    reply = keeper.api.call(method,
                            f"/system/files/{identity}{tail}",
                            token=keeper.token,
                            status={400, 404},
                            edge=identity in ("%00", ) or "%2f" in identity or "%00" in identity)
    if reply.status_code == 400 and reply.json()["code"] == "request.invalid":
        assert [(entry["path"], entry["code"]) for entry in reply.json()["validation"]] == [("id", "format")]
    else:
        assert "%" in identity, "only what a web server may refuse itself is answered otherwise"


def test_the_id_is_compared_exactly(keeper, stored):
    record, _ = stored
    identity = record["id"]
    for other in (identity.upper(), identity.replace("-", ""), identity + "%20", "%20" + identity,
                  identity[:-1] + "%EF%BC%90"):
        if other != identity:
            reply = keeper.get(f"/system/files/{other}/info", status=400)
            assert reply.json()["code"] in ("request.invalid", "file.unknown")


def test_an_unknown_id_is_unknown_everywhere(keeper):
    for method, tail in (("GET", ""), ("GET", "/info"), ("DELETE", "")):
        keeper.api.call(method,
                        f"/system/files/{uuid.uuid4()}{tail}",
                        token=keeper.token,
                        status=400,
                        code="file.unknown")


def test_replies_to_unknown_ids_are_alike(keeper):
    shapes = [shape(keeper.get(f"/system/files/{uuid.uuid4()}", status=400)) for _ in range(2)]
    assert shapes[0] == shapes[1]


def test_the_internal_way_to_the_bytes_is_closed(api, keeper, stack, stored):
    """Paths that a web server uses inside for handing out files are none for a client."""
    blob = max(stack.blob_files(), key=len)
    tail = blob[len(str(stack.blobs)):].lstrip("/")
    for path in ("/_gatehouse_files/", f"/_gatehouse_files/{tail}", f"/_gatehouse_files/../{tail}",
                 f"/files/{tail}", f"/{tail}", f"{blob}"):
        for token in (None, keeper.token):
            reply = api.call("GET", path, token=token, status={400, 403, 404}, edge=True)
            assert b"PNG" not in reply.content
