# SPDX-License-Identifier: MIT
"""A small HTTP client for tests that send a hundred thousand requests: it sends what it is told, follows nothing, keeps
no cookies, and reads no environment.

urllib3 keeps the connections. With requests, which stands on it, the cases of permissions and api took a quarter more
of the processor.
"""

import json as documents
import time
import urllib.parse

import urllib3

BLOCK = 1 << 16
BY_DEFAULT = {"User-Agent": "gatehouse-tests", "Accept": "*/*", "Accept-Encoding": "gzip, deflate",
              "Connection": "keep-alive"}


class Broken(OSError):
    """No answer came."""


class Sent:
    """What was sent."""

    def __init__(self, method, url):
        self.method = method
        self.url = url

    @property
    def path(self):
        """The path, without the query."""
        return urllib.parse.urlsplit(self.url).path


class Reply:
    """What was answered. `raw`: urllib3's response, whose body nobody has read where the request was streamed."""

    def __init__(self, sent, raw, seconds, streamed):
        self.request = sent
        self.raw = raw
        self.seconds = seconds
        self.status_code = raw.status
        self.headers = raw.headers
        self.body = None if streamed else self.read()

    def read(self):
        """The rest of the body; the connection is free again."""
        return b"".join(self.pieces())

    @property
    def content(self):
        """The bytes of the body."""
        if self.body is None:
            self.body = self.read()
        return self.body

    @property
    def text(self):
        """The body, which is UTF-8 in all that the service says."""
        return self.content.decode("utf-8", "replace")

    def json(self):
        """What the JSON of the body says."""
        return documents.loads(self.content)

    def pieces(self, size=BLOCK):
        """The body piece by piece, of a request that was streamed."""
        try:
            yield from self.raw.stream(size, decode_content=True)
        except urllib3.exceptions.HTTPError as fault:
            raise Broken(f"{self.request.method} {self.request.url}: {fault}") from fault
        finally:
            self.raw.release_conn()


class Connections:
    """The connections of one thread. `verify`: the file of the certificates that are trusted; `address`: the client's
    own."""

    def __init__(self, verify=None, address=None):
        self.pools = urllib3.PoolManager(num_pools=8, maxsize=4, source_address=(address, 0) if address else None,
                                         **({"ca_certs": verify} if verify else {}))

    def request(self, method, url, *, headers=None, timeout=30, stream=False, params=None, data=None, json=None):
        """One request. A header that is None is left to urllib3, which has its own for some. For the body see
        content()."""
        if params:
            url += ("&" if "?" in url else "?") + query(params)
        body, of_body = content(data, json)
        sent = merged({**BY_DEFAULT, **of_body}, headers or {})
        began = time.monotonic()
        try:
            raw = self.pools.urlopen(method, url, redirect=False, retries=False, body=body, headers=sent,
                                     timeout=timeout, preload_content=False, decode_content=True,
                                     chunked=body is not None and not known_length(body, sent))
            return Reply(Sent(method, url), raw, time.monotonic() - began, stream)
        except urllib3.exceptions.HTTPError as fault:
            raise Broken(f"{method} {url}: {fault}") from fault

    def get(self, url, **arguments):
        return self.request("GET", url, **arguments)

    def post(self, url, **arguments):
        return self.request("POST", url, **arguments)

    def close(self):
        """Ends the connections; the next request takes a new one."""
        for key in self.pools.pools.keys():
            self.pools.pools[key].close()
        self.pools.clear()


def ask(method, url, verify=None, **arguments):
    """One request on a connection of its own; the reply."""
    connections = Connections(verify)
    try:
        return connections.request(method, url, **arguments)
    finally:
        connections.close()


def query(params):
    """The query string of names with values, lists of values among them; those that are None are left out."""
    pairs = params.items() if isinstance(params, dict) else params
    return urllib.parse.urlencode([(name, value) for name, value in pairs if value is not None], doseq=True)


def content(data, json):
    """What to send and its headers. `json`: anything; `data`: bytes, a text, something to read whose length is known,
    an iterable of bytes, which is sent in chunks, or a dictionary, which is a form."""
    if json is not None:
        return documents.dumps(json, allow_nan=False).encode(), {"Content-Type": "application/json"}
    if isinstance(data, dict):
        return query(data).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
    if isinstance(data, str):
        return data.encode(), {}
    if hasattr(data, "read"):
        return data, {"Content-Length": str(len(data))}
    return data, {}


def merged(usual, given):
    """Headers: those that are given, and the usual ones that are not among them."""
    names = {name.lower() for name in given}
    return {**{name: value for name, value in usual.items() if name.lower() not in names},
            **{name: value for name, value in given.items() if value is not None}}


def known_length(body, headers):
    """Whether the body's length goes before it."""
    return isinstance(body, bytes) or any(name.lower() == "content-length" for name in headers)
