# SPDX-License-Identifier: MIT
"""A small FastCGI client (FastCGI Specification 1.0), for talking to the worker without a web server,
politely or not.

A record is eight bytes of head (version, type, request id, content length, padding length, reserved) and its
content. A request is a BEGIN_REQUEST record, PARAMS records closed by an empty one, STDIN records closed by
an empty one; the answer is STDOUT records and one END_REQUEST. Every piece can be made on its own here, so
that a test can bend it.
"""

import contextlib
import email.parser
import math
import socket
import struct
import time
import urllib.parse

BEGIN_REQUEST, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, STDERR, DATA, GET_VALUES = range(1, 10)
RESPONDER, AUTHORIZER, FILTER = 1, 2, 3
KEEP_CONNECTION = 1
# How long a worker waits for the first byte of a connection, and how often it is asked where we were not in time.
SILENCE_SECONDS = 1
TRIES = 5


def record(kind, content=b"", request=1, version=1, padding=0, length=None):
    """One record; length, where given, is what the head claims instead of the truth."""
    size = len(content) if length is None else length
    return struct.pack(">BBHHBB", version, kind, request, size, padding, 0) + content + bytes(padding)


def begin(keep=False, role=RESPONDER, request=1, flags=None):
    """A BEGIN_REQUEST record."""
    return record(BEGIN_REQUEST,
                  struct.pack(">HB5x", role, (KEEP_CONNECTION if keep else 0) if flags is None else flags),
                  request)


def length(size):
    """A length of a name-value pair: one byte below 128, else four with the top bit set."""
    return bytes([size]) if size < 128 else struct.pack(">I", size | 0x80000000)


def pair(name, value):
    """One name-value pair."""
    name = name if isinstance(name, bytes) else name.encode("latin-1")
    value = value if isinstance(value, bytes) else value.encode("utf-8")
    return length(len(name)) + length(len(value)) + name + value


def pairs(values):
    """Name-value pairs of a dict or a list of two-tuples."""
    return b"".join(
        pair(name, value) for name, value in (values.items() if isinstance(values, dict) else values))


def stream(kind, content, request=1, chunk=65535):
    """A stream of records of one type, closed by the empty one."""
    blocks = [record(kind, content[at:at + chunk], request) for at in range(0, len(content), chunk)]
    return b"".join(blocks) + record(kind, b"", request)


def environment(method, uri, *, body=b"", content_type=None, content_length=None, headers=None):
    """The parameters that a web server would pass for a request."""
    path, _, query = uri.partition("?")
    size = len(body) if content_length is None else content_length
    values = {
        "GATEWAY_INTERFACE": "CGI/1.1", "SERVER_SOFTWARE": "test", "REQUEST_METHOD": method,
        "REQUEST_URI": uri, "SCRIPT_NAME": urllib.parse.unquote(path),
        "DOCUMENT_URI": urllib.parse.unquote(path), "QUERY_STRING": query, "SERVER_PROTOCOL": "HTTP/1.1",
        "REQUEST_SCHEME": "http", "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "50000",
        "SERVER_ADDR": "127.0.0.1", "SERVER_PORT": "80", "SERVER_NAME": "localhost", "HTTP_HOST": "localhost",
        "CONTENT_TYPE": content_type or "", "CONTENT_LENGTH": str(size) if size or body else ""
    }
    for name, value in (headers or {}).items():
        values["HTTP_" + name.upper().replace("-", "_")] = value
    return values


class Answer:
    """What came back for one request."""

    def __init__(self, output, errors, ended, application_status, protocol_status):
        self.output = output
        self.errors = errors
        self.ended = ended
        self.application_status = application_status
        self.protocol_status = protocol_status
        head, _, self.body = output.partition(b"\r\n\r\n")
        self.headers = email.parser.Parser().parsestr(head.decode("latin-1"))
        status = self.headers.get("Status", "200" if output else "0")
        self.status = int(status.split()[0])

    def __repr__(self):
        return f"<FastCGI {self.status}, ended {self.ended}, {self.output[:300]!r}>"


class Connection:
    """A connection to a worker's unix socket."""

    def __init__(self, path, timeout=15.0):
        self.path = path
        self.timeout = timeout
        self._open()

    def _open(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(self.timeout)
        self.opened = time.monotonic()
        self.socket.connect(self.path)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the connection."""
        self.socket.close()

    def send(self, data):
        """Sends bytes; returns False when the worker has closed its end."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def end(self):
        """Nothing more is sent; the worker may still answer."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def request(self, parameters, body=b"", keep=False, request=1):
        """One whole request and its answer. A worker drops a new connection that says nothing for a second. On a busy
        machine this process may stand still for so long; it asks again then. A later request on the same connection is
        never asked again."""
        head = begin(keep, request=request) + stream(PARAMS, pairs(parameters), request)
        for _ in range(TRIES):
            self.send(head)
            silence, self.opened = time.monotonic() - self.opened, math.inf
            self.send(stream(STDIN, body, request))
            answer = self.answer(request)
            if answer.ended or answer.output or silence < SILENCE_SECONDS:
                break
            self.close()
            self._open()
        return answer

    def _read(self, size):
        while len(self.buffer) < size:
            block = self.socket.recv(65536)
            if not block:
                return None
            self.buffer += block
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def next(self):
        """The next record as (type, request id, content), or None when the worker has closed the
        connection."""
        try:
            head = self._read(8)
            if head is None:
                return None
            _, kind, request, size, padding, _ = struct.unpack(">BBHHBB", head)
            content = self._read(size + padding)
        except ConnectionResetError:
            return None
        return None if content is None else (kind, request, content[:size])

    def answer(self, request=1):
        """Gathers the answer of one request id until its END_REQUEST or the end of the connection."""
        output, errors = b"", b""
        while True:
            found = self.next()
            if found is None:
                return Answer(output, errors, False, None, None)
            kind, number, content = found
            if number != request:
                continue
            if kind == STDOUT:
                output += content
            elif kind == STDERR:
                errors += content
            elif kind == END_REQUEST:
                application, protocol = struct.unpack(">IB3x", content)
                return Answer(output, errors, True, application, protocol)

    def drain(self, seconds):
        """Every record that comes until nothing has come for the given seconds or the connection ends."""
        found = []
        self.socket.settimeout(seconds)
        try:
            while True:
                one = self.next()
                if one is None:
                    return found
                found.append(one)
        except socket.timeout:
            return found
