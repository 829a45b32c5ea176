# SPDX-License-Identifier: MIT
"""The table of raw FastCGI attacks: what a peer that got at the socket could send.

Every row asks, where it asks for anything, for GET /customers/me without a token, so that any answer of 200
is a breach. A row is (name, chunks); each chunk is sent on its own. build() makes the rows for a base path.
"""

import random
import struct

from support.wire.fastcgi_client import (ABORT_REQUEST, AUTHORIZER, DATA, END_REQUEST, FILTER, GET_VALUES, PARAMS,
                                         STDIN, STDOUT, begin, environment, pair, pairs, record, stream)

BEGIN = 1


class Request:
    """A good request in pieces, from which the rows are made."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.base = environment("GET", prefix + "/customers/me")
        self.parameters = pairs(self.base)
        self.whole = begin() + stream(PARAMS, self.parameters) + stream(STDIN, b"")

    def with_parameters(self, extra, body=b"", **changes):
        """The request with other parameters."""
        return begin() + stream(PARAMS, pairs({**self.base, **changes}) + extra) + stream(STDIN, body)

    def posted(self, length, body, end=True):
        """A request whose body is told to be so long."""
        values = environment("POST", self.prefix + "/customers/logout", content_type="application/json")
        values["CONTENT_LENGTH"] = length
        return begin() + stream(PARAMS, pairs(values)) + (stream(STDIN, body) if end else record(STDIN, body))


def fragments(good):
    """Less than a request, and what is no FastCGI at all."""
    return [
        ("nothing", []),
        ("one byte", [b"\1"]),
        ("half a head", [good.whole[:4]]),
        ("a head without its content", [good.whole[:8]]),
        ("half a begin", [good.whole[:12]]),
        ("begin and silence", [begin()]),
        ("half of the parameters", [good.whole[:100]]),
        ("parameters without their end", [begin() + record(PARAMS, good.parameters)]),
        ("noise", [random.Random(1).randbytes(4096)]),
        ("zeros", [bytes(4096)]),
        ("all ones", [b"\xff" * 4096]),
        ("HTTP", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]),
        ("TLS", [bytes.fromhex("16030100c8010000c40303") + bytes(190)]),
    ]


def versions_and_roles(good):
    """Wrong versions, types, roles and flags of a begin."""
    return [
        ("version 0", [record(BEGIN, struct.pack(">HB5x", 1, 0), version=0) + good.whole[16:]]),
        ("version 2", [record(BEGIN, struct.pack(">HB5x", 1, 0), version=2) + good.whole[16:]]),
        ("version 255 in the parameters",
         [begin() + record(PARAMS, good.parameters, version=255) + record(PARAMS) + record(STDIN)]),
        ("unknown management type", [record(99, b"x" * 8, request=0) + good.whole]),
        ("unknown type within a request", [begin() + record(77, b"x" * 8) + good.whole[16:]]),
        ("type 0", [record(0, b"", request=0) + good.whole]),
        ("role 0", [begin(role=0) + good.whole[16:]]),
        ("role authorizer", [begin(role=AUTHORIZER) + good.whole[16:]]),
        ("role filter", [begin(role=FILTER) + good.whole[16:]]),
        ("role 65535", [begin(role=65535) + good.whole[16:]]),
        ("role filter with data", [begin(role=FILTER) + good.whole[16:] + stream(DATA, b"x" * 100)]),
        ("a begin of four bytes", [record(BEGIN, b"\0\1\0\0") + good.whole[16:]]),
        ("a begin of 64 bytes", [record(BEGIN,
                                        struct.pack(">HB5x", 1, 0) + bytes(56)) + good.whole[16:]]),
        ("begin twice", [begin() + good.whole]),
        ("all flags", [begin(flags=255) + good.whole[16:]]),
    ]


def orders(good):
    """Records of other requests, and in another order."""
    return [
        ("request id 0", [begin(request=0) + stream(PARAMS, good.parameters, 0) + stream(STDIN, b"", 0)]),
        ("parameters of another request id",
         [begin(request=1) + stream(PARAMS, good.parameters, 2) + stream(STDIN, b"", 2)]),
        ("two requests interleaved", [
            begin(request=1) + begin(request=2) + stream(PARAMS, good.parameters, 2) +
            stream(PARAMS, good.parameters, 1) + stream(STDIN, b"", 2) + stream(STDIN, b"", 1)
        ]),
        ("two requests in line", [good.whole + good.whole]),
        ("a hundred requests in line", [good.whole * 100]),
        ("parameters without a begin", [stream(PARAMS, good.parameters)]),
        ("a body without a begin", [stream(STDIN, b"x" * 100)]),
        ("a body before the parameters", [begin() + stream(STDIN, b"x") + stream(PARAMS, good.parameters)]),
        ("an end from the client", [begin() + record(END_REQUEST, bytes(8)) + good.whole[16:]]),
        ("output from the client", [begin() + record(STDOUT, b"Status: 200\r\n\r\nhello") + good.whole[16:]]),
        ("abort first", [record(ABORT_REQUEST) + good.whole]),
        ("abort after begin", [begin() + record(ABORT_REQUEST)]),
        ("abort in the body", [good.posted("100", b"{", end=False) + record(ABORT_REQUEST)]),
    ]


def sizes(good):
    """Parameters of wrong or large sizes."""
    return [
        ("a pair of two gigabytes", [
            begin() + record(PARAMS, b"\xff\xff\xff\xfe\xff\xff\xff\xfe" + b"x" * 100) + record(PARAMS) +
            record(STDIN)
        ]),
        ("a name of two gigabytes",
         [begin() + record(PARAMS, b"\xff\xff\xff\xff\x01" + b"x" * 100) + record(PARAMS) + record(STDIN)]),
        ("a value of one gigabyte",
         [begin() + record(PARAMS, b"\x01\xc0\x00\x00\x00" + b"x" * 100) + record(PARAMS) + record(STDIN)]),
        ("a pair longer than the stream",
         [begin() + stream(PARAMS, b"\x10\x70" + b"x" * 20) + stream(STDIN, b"")]),
        ("a cut length", [begin() + stream(PARAMS, b"\x80\x00") + stream(STDIN, b"")]),
        ("an empty name", [good.with_parameters(pair("", "x"))]),
        ("an empty pair, a thousand times", [good.with_parameters(b"\0\0" * 1000)]),
        ("10,000 parameters", [good.with_parameters(b"".join(pair(f"HTTP_X_{n}", "y") for n in range(10000)))]),
        ("a value of a mebibyte", [good.with_parameters(pair("HTTP_X_LONG", "y" * (1 << 20)))]),
        ("parameters byte by byte", [
            begin() + b"".join(record(PARAMS, good.parameters[n:n + 1])
                               for n in range(len(good.parameters))) + record(PARAMS) + record(STDIN)
        ]),
        ("padding on everything", [
            record(BEGIN, struct.pack(">HB5x", 1, 0), padding=255) + record(PARAMS, good.parameters, padding=255) +
            record(PARAMS, b"", padding=8) + record(STDIN, b"", padding=255)
        ]),
    ]


def contents(good):
    """Parameters that contradict each other or hold what they must not."""
    return [
        ("the method twice", [good.with_parameters(pair("REQUEST_METHOD", "DELETE"))]),
        ("the token twice", [
            good.with_parameters(
                pair("HTTP_AUTHORIZATION", "Bearer a.b.c") + pair("HTTP_AUTHORIZATION", "Bearer d.e.f"))
        ]),
        ("a NUL in the method", [good.with_parameters(b"", REQUEST_METHOD="GET\0DELETE")]),
        ("a NUL in the path", [good.with_parameters(b"", REQUEST_URI=good.prefix + "/customers/me\0/x")]),
        ("a NUL in the token", [good.with_parameters(pair("HTTP_AUTHORIZATION", "Bearer a.b.c\0d"))]),
        ("a NUL in a name", [good.with_parameters(pair("HTTP_AUTHORIZATION\0X", "Bearer a.b.c"))]),
        ("identity in parameters", [
            good.with_parameters(
                pairs({
                    "REMOTE_USER": "admin", "AUTH_TYPE": "Bearer", "HTTP_X_USER_ID": "admin",
                    "REMOTE_IDENT": "admin"
                }))
        ]),
        ("no parameters", [begin() + record(PARAMS) + record(STDIN)]),
        ("no method", [good.with_parameters(b"", REQUEST_METHOD="")]),
        ("no address", [good.with_parameters(b"", REQUEST_URI="")]),
        ("an address without its slash", [good.with_parameters(b"", REQUEST_URI="customers/me")]),
        ("a method of 60,000 letters", [good.with_parameters(b"", REQUEST_METHOD="G" * 60000)]),
        ("line ends in the address",
         [good.with_parameters(b"", REQUEST_URI=good.prefix + "/customers/me\r\nX-Injected: 1")]),
        ("line ends in the request id",
         [good.with_parameters(pair("HTTP_X_REQUEST_ID", "12345678\r\nX-Injected: 1"))]),
        ("line ends in the origin", [good.with_parameters(pair("HTTP_ORIGIN", "http://x\r\nX-Injected: 1"))]),
    ]


def bodies(good):
    """Bodies of another length than was announced."""
    return [
        ("less body than announced", [good.posted("1000", b"{}")]),
        ("less body than announced, then silence", [good.posted("1000", b"{}", end=False)]),
        ("more body than announced", [good.posted("2", b"{}" + b"x" * 500)]),
        ("a length below nought", [good.posted("-5", b"{}")]),
        ("a length that is a word", [good.posted("lots", b"{}")]),
        ("a length with a plus", [good.posted("+2", b"{}")]),
        ("a length of 30 digits", [good.posted("9" * 30, b"{}")]),
        ("a length in hexadecimal", [good.posted("0x2", b"{}")]),
        ("a length with a blank", [good.posted(" 2", b"{}")]),
        ("a body without a length", [good.posted("", b"{}")]),
    ]


def values(good):
    """Questions to the process itself (FCGI_GET_VALUES)."""
    return [
        ("values asked for", [
            record(GET_VALUES,
                   pairs({"FCGI_MAX_CONNS": "", "FCGI_MAX_REQS": "", "FCGI_MPXS_CONNS": ""}),
                   request=0) + good.whole
        ]),
        ("one value asked for forty times",
         [record(GET_VALUES, pair("FCGI_MPXS_CONNS", "") * 40, request=0) + good.whole]),
        ("one value asked for three thousand times",
         [record(GET_VALUES, pair("FCGI_MPXS_CONNS", "") * 3000, request=0) + good.whole]),
        ("values of bad lengths",
         [record(GET_VALUES, b"\xff\xff\xff\xff\xff\xff\xff\xff" + b"x" * 20, request=0) + good.whole]),
        ("values asked for within a request",
         [begin() + record(GET_VALUES, pair("FCGI_MPXS_CONNS", ""), request=0) + good.whole[16:]]),
        ("values cut short", [record(GET_VALUES, pair("FCGI_MPXS_CONNS", ""), request=0, length=500) + good.whole
                              ]),
    ]


def build(prefix):
    """All rows."""
    good = Request(prefix)
    return [row for rows in (fragments, versions_and_roles, orders, sizes, contents, bodies, values)
            for row in rows(good)]
