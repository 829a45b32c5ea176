# SPDX-License-Identifier: MIT
"""The table of smuggling, framing and malformed-request attacks on the web server in front.

A row is (name, bytes or chunks, statuses): statuses are those that the first reply may have. Where a row
hides a second request, it asks for /system/version with the request id in MARK, which must never turn up in
the service's log.
"""

MARK = "smuggled-request-0001"
HIDDEN = f"GET /system/version HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {MARK}\r\n\r\n".encode()
JSON = b"Content-Type: application/json\r\n"
REFUSED = {400, 501}
# A line that frames nothing may be left out instead, and the request served without it.
IGNORED = {200, 400}
# Closed without a reply.
SILENCE = 0
ROWS = []


def row(name, data, statuses=frozenset({400})):
    ROWS.append((name, data, set(statuses)))


def post(headers, body, path=b"/customers/login", version=b"HTTP/1.1"):
    """A POST with these header lines, each ended by CRLF."""
    return b"POST " + path + b" " + version + b"\r\nHost: localhost\r\n" + JSON + headers + b"\r\n" + body


def get(line=b"GET /system/version HTTP/1.1", headers=b"Host: localhost\r\n"):
    """A GET with these header lines; the connection is closed behind it."""
    return line + b"\r\n" + headers + b"Connection: close\r\n\r\n"


def chunk(data):
    """One chunk of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


# Two opinions about where a body ends.
row("Content-Length and Transfer-Encoding",
    post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN))
row("Transfer-Encoding and Content-Length",
    post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n" + HIDDEN))
row("two Content-Lengths that differ",
    post(b"Content-Length: 2\r\nContent-Length: %d\r\n" % (2 + len(HIDDEN)), b"{}" + HIDDEN))
row("two Content-Lengths alike", post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"))
row("Content-Length with a comma", post(b"Content-Length: 2, 2\r\n", b"{}" + HIDDEN))
row("Content-Length with a plus", post(b"Content-Length: +2\r\n", b"{}" + HIDDEN))
row("Content-Length below nought", post(b"Content-Length: -1\r\n", HIDDEN))
row("Content-Length in hexadecimal", post(b"Content-Length: 0x2\r\n", b"{}" + HIDDEN))
row("Content-Length a word", post(b"Content-Length: two\r\n", b"{}" + HIDDEN))
row("Content-Length of 30 digits", post(b"Content-Length: " + b"9" * 30 + b"\r\n", b"{}"), {400, 413})
row("Content-Length empty", post(b"Content-Length: \r\n", HIDDEN), {400, 411})
row("Content-Length with a blank before the colon", post(b"Content-Length : 2\r\n", b"{}" + HIDDEN),
    {400, 411})
row("Transfer-Encoding identity", post(b"Transfer-Encoding: identity\r\n", HIDDEN), REFUSED)
row("Transfer-Encoding unknown", post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + HIDDEN), REFUSED)
row("Transfer-Encoding gzip", post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n" + HIDDEN), REFUSED)
row("Transfer-Encoding chunked twice",
    post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), REFUSED)
row("Transfer-Encoding chunked, identity",
    post(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n" + HIDDEN), REFUSED)
row("Transfer-Encoding with a blank before the colon",
    post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + HIDDEN), {400, 411})
row("Transfer-Encoding in HTTP/1.0",
    post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n" + HIDDEN, version=b"HTTP/1.0"))
row("a chunk size that overflows",
    post(b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"), {400, 413})
row("a chunk size below nought", post(b"Transfer-Encoding: chunked\r\n", b"-2\r\n{}\r\n0\r\n\r\n"))
row("a chunk size that is none", post(b"Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n"))
row("a chunk longer than it says", post(b"Transfer-Encoding: chunked\r\n", b"1\r\n{}\r\n0\r\n\r\n"))
row("a folded Transfer-Encoding", post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n" + HIDDEN), REFUSED)
# RFC 9112, section 5.2: refused, or read as a blank.
row("a folded header", get(headers=b"Host: localhost\r\nX-Folded: a\r\n b\r\n"), IGNORED)

# Request lines and headers that are none.
row("a NUL in a header", get(headers=b"Host: localhost\r\nX-Nul: a\0b\r\n"))
row("a header without a colon", get(headers=b"Host: localhost\r\nnonsense\r\n"), IGNORED)
row("a blank in a header's name", get(headers=b"Host: localhost\r\nX Name: a\r\n"), IGNORED)
row("an empty header name", get(headers=b"Host: localhost\r\n: a\r\n"), IGNORED)
row("a lone carriage return in a header", get(headers=b"Host: localhost\r\nX-Cr: a\rX-Evil: b\r\n"))
row("no Host", get(headers=b""))
row("two Hosts", get(headers=b"Host: localhost\r\nHost: evil.example\r\n"))
row("a Host with a path", get(headers=b"Host: localhost/evil\r\n"))
row("a Host with a blank", get(headers=b"Host: local host\r\n"))
row("HTTP/9.9", get(b"GET /system/version HTTP/9.9"), {400, 505})
row("HTTP/2.0 in the line", get(b"GET /system/version HTTP/2.0"), {400, 505})
row("HTTP without a version", get(b"GET /system/version HTTP/"))
row("another protocol", get(b"GET /system/version HTCPCP/1.0"))
row("a blank in the path", get(b"GET /system/ver sion HTTP/1.1"))
row("a control character in the path", get(b"GET /system/\x01version HTTP/1.1"), {400, 404})
row("a raw NUL in the path", get(b"GET /system/\0version HTTP/1.1"))
row("a path without its slash", get(b"GET system/version HTTP/1.1"))
row("a method of 4,000 letters", get(b"G" * 4000 + b" /system/version HTTP/1.1"), {400, 405, 414, 501})
row("a method with a control character", get(b"GE\x01T /system/version HTTP/1.1"), {400, 405, 501})
row("nonsense", b"hello\r\n\r\n")
row("TLS on a plain port", bytes.fromhex("16030100c8010000c40303") + bytes(180), {SILENCE, 400})
row("a path of 70,000 letters", get(b"GET /" + b"x" * 70000 + b" HTTP/1.1"), {414})
row("a header of 70,000 letters", get(headers=b"Host: localhost\r\nX-Long: " + b"x" * 70000 + b"\r\n"),
    {400, 431})
row("a cookie of 70,000 letters", get(headers=b"Host: localhost\r\nCookie: " + b"x" * 70000 + b"\r\n"),
    {400, 431})
row("2,000 headers",
    get(headers=b"Host: localhost\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 50) for n in range(2000))),
    {400, 431})
row("a body beyond any bound", post(b"Content-Length: 999999999999\r\n", b"{}"), {413})
row("an upload beyond any bound", post(b"Content-Length: 999999999999\r\n", b"--x", path=b"/system/files"),
    {413})
