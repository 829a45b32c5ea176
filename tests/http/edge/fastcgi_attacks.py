# SPDX-License-Identifier: MIT
"""The table of raw FastCGI attacks (security.md, R49): what a peer that got at the socket could send.

Every row asks, where it asks for anything, for GET /customers/me without a token, so that any answer of 200
is a breach. A row is (name, chunks); each chunk is sent on its own. build() makes the rows for a base path.
"""

import random
import struct

from support.fastcgi_client import (ABORT_REQUEST, AUTHORIZER, DATA, END_REQUEST, FILTER, GET_VALUES, PARAMS, STDIN,
                                    STDOUT, begin, environment, pair, pairs, record, stream)

BEGIN = 1


def build(prefix):
    """All rows."""
    base = environment("GET", prefix + "/customers/me")
    parameters = pairs(base)
    whole = begin() + stream(PARAMS, parameters) + stream(STDIN, b"")

    def with_parameters(extra, body=b"", **changes):
        values = {**base, **changes}
        return begin() + stream(PARAMS, pairs(values) + extra) + stream(STDIN, body)

    def posted(length, body, end=True):
        values = environment("POST", prefix + "/customers/logout", content_type="application/json")
        values["CONTENT_LENGTH"] = length
        return begin() + stream(PARAMS, pairs(values)) + (stream(STDIN, body) if end else record(STDIN, body))

    rows = [
        ("nothing", []),
        ("one byte", [b"\1"]),
        ("half a head", [whole[:4]]),
        ("a head without its content", [whole[:8]]),
        ("half a begin", [whole[:12]]),
        ("begin and silence", [begin()]),
        ("half of the parameters", [whole[:100]]),
        ("noise", [random.Random(1).randbytes(4096)]),
        ("zeros", [bytes(4096)]),
        ("all ones", [b"\xff" * 4096]),
        ("HTTP", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]),
        ("TLS", [bytes.fromhex("16030100c8010000c40303") + bytes(190)]),
        ("version 0", [record(BEGIN, struct.pack(">HB5x", 1, 0), version=0) + whole[16:]]),
        ("version 2", [record(BEGIN, struct.pack(">HB5x", 1, 0), version=2) + whole[16:]]),
        ("version 255 in the parameters",
         [begin() + record(PARAMS, parameters, version=255) + record(PARAMS) + record(STDIN)]),
        ("unknown management type", [record(99, b"x" * 8, request=0) + whole]),
        ("unknown type within a request", [begin() + record(77, b"x" * 8) + whole[16:]]),
        ("type 0", [record(0, b"", request=0) + whole]),
        ("role 0", [begin(role=0) + whole[16:]]),
        ("role authorizer", [begin(role=AUTHORIZER) + whole[16:]]),
        ("role filter", [begin(role=FILTER) + whole[16:]]),
        ("role 65535", [begin(role=65535) + whole[16:]]),
        ("role filter with data", [begin(role=FILTER) + whole[16:] + stream(DATA, b"x" * 100)]),
        ("a begin of four bytes", [record(BEGIN, b"\0\1\0\0") + whole[16:]]),
        ("a begin of 64 bytes", [record(BEGIN,
                                        struct.pack(">HB5x", 1, 0) + bytes(56)) + whole[16:]]),
        ("begin twice", [begin() + whole]),
        ("all flags", [begin(flags=255) + whole[16:]]),
        ("request id 0", [begin(request=0) + stream(PARAMS, parameters, 0) + stream(STDIN, b"", 0)]),
        ("parameters of another request id",
         [begin(request=1) + stream(PARAMS, parameters, 2) + stream(STDIN, b"", 2)]),
        ("two requests interleaved", [
            begin(request=1) + begin(request=2) + stream(PARAMS, parameters, 2) +
            stream(PARAMS, parameters, 1) + stream(STDIN, b"", 2) + stream(STDIN, b"", 1)
        ]),
        ("two requests in line", [whole + whole]),
        ("a hundred requests in line", [whole * 100]),
        ("parameters without a begin", [stream(PARAMS, parameters)]),
        ("a body without a begin", [stream(STDIN, b"x" * 100)]),
        ("a body before the parameters", [begin() + stream(STDIN, b"x") + stream(PARAMS, parameters)]),
        ("an end from the client", [begin() + record(END_REQUEST, bytes(8)) + whole[16:]]),
        ("output from the client", [begin() + record(STDOUT, b"Status: 200\r\n\r\nhello") + whole[16:]]),
        ("abort first", [record(ABORT_REQUEST) + whole]),
        ("abort after begin", [begin() + record(ABORT_REQUEST)]),
        ("abort in the body", [posted("100", b"{", end=False) + record(ABORT_REQUEST)]),
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
        ("an empty name", [with_parameters(pair("", "x"))]),
        ("an empty pair, a thousand times", [with_parameters(b"\0\0" * 1000)]),
        ("10,000 parameters", [with_parameters(b"".join(pair(f"HTTP_X_{n}", "y") for n in range(10000)))]),
        ("a value of a mebibyte", [with_parameters(pair("HTTP_X_LONG", "y" * (1 << 20)))]),
        ("parameters byte by byte", [
            begin() + b"".join(record(PARAMS, parameters[n:n + 1])
                               for n in range(len(parameters))) + record(PARAMS) + record(STDIN)
        ]),
        ("padding on everything", [
            record(BEGIN, struct.pack(">HB5x", 1, 0), padding=255) + record(PARAMS, parameters, padding=255) +
            record(PARAMS, b"", padding=8) + record(STDIN, b"", padding=255)
        ]),
        ("the method twice", [with_parameters(pair("REQUEST_METHOD", "DELETE"))]),
        ("the token twice", [
            with_parameters(
                pair("HTTP_AUTHORIZATION", "Bearer a.b.c") + pair("HTTP_AUTHORIZATION", "Bearer d.e.f"))
        ]),
        ("a NUL in the method", [with_parameters(b"", REQUEST_METHOD="GET\0DELETE")]),
        ("a NUL in the path", [with_parameters(b"", REQUEST_URI=prefix + "/customers/me\0/x")]),
        ("a NUL in the token", [with_parameters(pair("HTTP_AUTHORIZATION", "Bearer a.b.c\0d"))]),
        ("a NUL in a name", [with_parameters(pair("HTTP_AUTHORIZATION\0X", "Bearer a.b.c"))]),
        ("identity in parameters", [
            with_parameters(
                pairs({
                    "REMOTE_USER": "admin", "AUTH_TYPE": "Bearer", "HTTP_X_USER_ID": "admin",
                    "REMOTE_IDENT": "admin"
                }))
        ]),
        ("no parameters", [begin() + record(PARAMS) + record(STDIN)]),
        ("no method", [with_parameters(b"", REQUEST_METHOD="")]),
        ("no address", [with_parameters(b"", REQUEST_URI="")]),
        ("an address without its slash", [with_parameters(b"", REQUEST_URI="customers/me")]),
        ("a method of 60,000 letters", [with_parameters(b"", REQUEST_METHOD="G" * 60000)]),
        ("line ends in the address",
         [with_parameters(b"", REQUEST_URI=prefix + "/customers/me\r\nX-Injected: 1")]),
        ("line ends in the request id",
         [with_parameters(pair("HTTP_X_REQUEST_ID", "12345678\r\nX-Injected: 1"))]),
        ("line ends in the origin", [with_parameters(pair("HTTP_ORIGIN", "http://x\r\nX-Injected: 1"))]),
        ("less body than announced", [posted("1000", b"{}")]),
        ("less body than announced, then silence", [posted("1000", b"{}", end=False)]),
        ("more body than announced", [posted("2", b"{}" + b"x" * 500)]),
        ("a length below nought", [posted("-5", b"{}")]),
        ("a length that is a word", [posted("lots", b"{}")]),
        ("a length with a plus", [posted("+2", b"{}")]),
        ("a length of 30 digits", [posted("9" * 30, b"{}")]),
        ("a length in hexadecimal", [posted("0x2", b"{}")]),
        ("a length with a blank", [posted(" 2", b"{}")]),
        ("a body without a length", [posted("", b"{}")]),
        ("values asked for", [
            record(GET_VALUES,
                   pairs({"FCGI_MAX_CONNS": "", "FCGI_MAX_REQS": "", "FCGI_MPXS_CONNS": ""}),
                   request=0) + whole
        ]),
        ("one value asked for forty times",
         [record(GET_VALUES, pair("FCGI_MPXS_CONNS", "") * 40, request=0) + whole]),
        ("one value asked for three thousand times",
         [record(GET_VALUES, pair("FCGI_MPXS_CONNS", "") * 3000, request=0) + whole]),
        ("values of bad lengths",
         [record(GET_VALUES, b"\xff\xff\xff\xff\xff\xff\xff\xff" + b"x" * 20, request=0) + whole]),
        ("values asked for within a request",
         [begin() + record(GET_VALUES, pair("FCGI_MPXS_CONNS", ""), request=0) + whole[16:]]),
        ("values cut short", [record(GET_VALUES, pair("FCGI_MPXS_CONNS", ""), request=0, length=500) + whole
                              ]),
    ]
    return rows
