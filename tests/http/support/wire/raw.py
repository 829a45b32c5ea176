# SPDX-License-Identifier: MIT
"""HTTP typed by hand on a socket, for what no well-behaved client would send."""

import http.client
import io
import socket

# A busy machine may answer late; a server closes the connection long before.
PATIENCE = 60.0


class RawReply:
    """One reply read off the wire."""

    def __init__(self, status, headers, body):
        self.status = status
        self.status_code = status
        self.headers = headers
        self.body = body

    def __repr__(self):
        return f"<{self.status} {self.body[:200]!r}>"


class _Bytes:
    """The part of a socket's interface that http.client uses."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def makefile(self, *_):
        return self.file


def exchange(stack, data, timeout=PATIENCE, end=True):
    """Sends the bytes (or each of a list of chunks) and returns all bytes that come back until the server
    closes, or until nothing comes for the timeout. end=False keeps our direction open, as a browser does."""
    received = b""
    with socket.create_connection((stack.host, stack.port), timeout=timeout) as connection:
        try:
            for chunk in ([data] if isinstance(data, bytes) else data):
                connection.sendall(chunk)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        while True:
            try:
                block = connection.recv(65536)
            except socket.timeout:
                break
            except ConnectionResetError:
                break
            if not block:
                break
            received += block
    return received


def replies(received, methods=("GET", )):
    """Parses all the replies in the bytes; methods are those of the requests, in order, the last one
    repeated."""
    found = []
    while received:
        assert received.startswith(b"HTTP/"), f"not an HTTP reply: {received[:200]!r}"
        reply, used = _first(received, methods[min(len(found), len(methods) - 1)])
        found.append(reply)
        received = received[used:]
    return found


def _first(received, method):
    """The first reply in the bytes, and how many of them it takes."""
    source = _Bytes(received)
    parser = http.client.HTTPResponse(source, method=method)
    parser.begin()
    length = parser.headers.get("Content-Length")
    if method == "HEAD" or parser.status in (204, 304) or 100 <= parser.status < 200:
        body = b""
    elif parser.headers.get("Transfer-Encoding", "").lower() == "chunked":
        body = _dechunk(source.file)
    else:
        body = source.file.read(-1 if length is None else int(length))
    return RawReply(parser.status, parser.headers, body), source.file.tell()


def _dechunk(source):
    body = b""
    while True:
        size = int(source.readline().split(b";")[0], 16)
        if size == 0:
            while source.readline() not in (b"\r\n", b"\n", b""):
                pass
            return body
        body += source.read(size)
        source.readline()


def one(stack, data, method="GET", timeout=PATIENCE):
    """Sends the bytes and returns the first reply; fails when there is none."""
    received = exchange(stack, data, timeout)
    found = replies(received, (method, ))
    assert found, "the server closed the connection without a reply"
    return found[0]


def request(method, path, headers=(), body=b"", version="HTTP/1.1", host="localhost", close=True):
    """The bytes of a request. headers are (name, value) pairs, sent as they are."""
    head = [f"{method} {path} {version}".encode("latin-1"), b"Host: " + host.encode()]
    if close:
        head.append(b"Connection: close")
    for name, value in headers:
        name = name if isinstance(name, bytes) else name.encode("latin-1")
        value = value if isinstance(value, bytes) else value.encode("latin-1")
        head.append(name + b": " + value)
    return b"\r\n".join(head) + b"\r\n\r\n" + body
