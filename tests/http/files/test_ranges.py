# SPDX-License-Identifier: MIT
"""Ranges and conditions of downloads, the same table behind every web server and from the worker itself."""

import email.utils
import json
import pathlib
import urllib.parse

import pytest

from support import files
from support.client import check_error
from support.programs.streaming import streaming
from support.wire import raw

pytestmark = pytest.mark.web_server

TABLE = json.loads((pathlib.Path(__file__).parent / "ranges.json").read_text(encoding="utf-8"))
CASES = TABLE["cases"]
FLOOR = 200
WEB_SERVERS = {"nginx", "apache", "apache-fcgid", "stream"}


def content(size):
    """Text that is nowhere twice the same."""
    return b"".join(b"%07d\n" % line for line in range(size // 8 + 1))[:size]


@pytest.fixture(scope="module")
def kept(keeper):
    """The files of the table: name -> (record, bytes)."""
    found = {}
    for name, size in TABLE["sizes"].items():
        data = content(size)
        found[name] = files.upload(keeper, data, f"{size}.txt"), data
    return found


@pytest.fixture(scope="module")
def links(keeper, kept):
    """A signed link to each of the files: name -> path."""
    return {
        name: urllib.parse.urlsplit(keeper.post(f"/system/files/{record['id']}/link", status=200).json()["url"]).path
        for name, (record, _) in kept.items()
    }


@pytest.fixture(scope="module", params=["web server", "worker"])
def sender(request, stack):
    """Who sends the bytes."""
    if request.param == "web server":
        yield stack
        return
    with streaming(stack) as moved:
        yield moved


def test_the_table_is_as_long_as_promised_and_says_why_servers_differ():
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names)) >= FLOOR
    for case in CASES:
        for server, other in case.get("differs", {}).items():
            assert server in WEB_SERVERS and len(other["why"]) > 20, case["name"]
    assert all(server in WEB_SERVERS and len(why) > 20 for server, why in TABLE["lastModified"].items())


def headers_of(case, tag):
    words = {
        "tag": tag, "hash": tag[1:-1], "HASH": tag[1:-1].upper(), "hash7": tag[1:-2],
        "now": email.utils.formatdate(usegmt=True)
    }
    headers = []
    for name, values in case["send"].items():
        for value in [values] if isinstance(values, str) else values:
            headers.append((name, value.format(**words).encode("utf-8")))
    return headers


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_ranges_and_conditions_are_answered_as_the_table_says(keeper, kept, sender, case):
    record, data = kept[case.get("file", "large")]
    tag = f'"{record["info"]["hash"]}"'
    method, query = case.get("method", "GET"), case.get("query", "")
    expected = {**case, **case.get("differs", {}).get(sender.web_server, {})}
    path = f"{sender.prefix}/system/files/{record['id']}" + (f"?{query}" if query else "")
    headers = [("Authorization", f"Bearer {keeper.token}")] + headers_of(case, tag)
    reply = raw.one(sender, raw.request(method, path, headers), method, 30.0)
    check_reply(reply, expected, sender, record, data)


@pytest.mark.parametrize("case", [case for case in CASES if "query" not in case],
                         ids=[case["name"] for case in CASES if "query" not in case])
def test_signed_links_are_answered_alike(kept, links, stack, case):
    name = case.get("file", "large")
    record, data = kept[name]
    expected = {**case, **case.get("differs", {}).get(stack.web_server, {})}
    request = raw.request(case.get("method", "GET"), links[name], headers_of(case, f'"{record["info"]["hash"]}"'))
    check_reply(raw.one(stack, request, case.get("method", "GET"), 30.0), expected, stack, record, data)


def check_reply(reply, expected, sender, record, data):
    """Holds a reply against its row."""
    tag = f'"{record["info"]["hash"]}"'
    method, query = expected.get("method", "GET"), expected.get("query", "")
    assert reply.status == expected["status"], f"{reply.status} {dict(reply.headers)} {reply.body[:200]!r}"
    if reply.status >= 400:
        check_refusal(reply, method, len(data))
        return
    shown = "attachment" if query else "inline"
    assert reply.headers["Cache-Control"] == "private" and reply.headers.get_all("ETag") == [tag]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "Last-Modified" not in reply.headers or sender.web_server in TABLE["lastModified"]
    if reply.status == 304:
        assert reply.body == b"" and "Content-Range" not in reply.headers
        return
    first, last = (int(end) for end in expected.get("bytes", f"0-{len(data) - 1}").split("-"))
    assert reply.headers.get_all("Content-Length") == [str(last - first + 1)]
    assert reply.body == (b"" if method == "HEAD" else data[first:last + 1])
    span = [f"bytes {first}-{last}/{len(data)}"] if reply.status == 206 else None
    assert reply.headers.get_all("Content-Range") == span
    assert reply.headers.get_all("Accept-Ranges") == ["bytes"]
    assert reply.headers["Content-Type"].split(";")[0] == record["info"]["contentType"]
    assert reply.headers["Content-Disposition"].split(";")[0] == (shown if len(data) > 1 else "attachment")
    assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


def check_refusal(reply, method, size):
    """All carry the usual error body, and 416 the size."""
    if method != "HEAD":
        code = {400: "request.malformed", 412: "request.precondition", 416: "request.range"}[reply.status]
        assert check_error(reply.status, reply.headers, reply.body, "refusal", edge=True)["code"] == code
    assert reply.headers["Cache-Control"] == "no-store"
    if reply.status == 416:
        assert reply.headers.get_all("Content-Range") == [f"bytes */{size}"]
