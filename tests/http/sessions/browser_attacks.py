# SPDX-License-Identifier: MIT
"""Requests that must not get, use or spend the refresh token in a browser's cookie: each row of attacks() is (name,
what is sent, the answers that are right). What is sent is made of a good request (good()) by changing one thing."""

import gzip
import json

ASKS = b'{"session": "cookie"}'
JSON = "application/json"
FOREIGN = {(403, "auth.origin")}
REFUSED = {(401, "auth.tokenInvalid")}
MISSING = {(401, "auth.tokenMissing")}
METHOD = {(405, "route.method")}
PATH = {(404, "route.unknown")}
INVALID = {(400, "request.invalid")}
MALFORMED = {(400, "request.malformed")}


class Request:
    """A request as bytes; `headers` is a list, so that one may come twice."""

    def __init__(self, cookie, path="/customers/refresh", body=ASKS, method="POST"):
        self.method = method
        self.path = path
        self.body = body
        self.headers = {"Content-Type": [JSON], "Sec-Fetch-Site": ["same-origin"], "Cookie": [cookie] if cookie else []}

    def having(self, **headers):
        """With these headers in place of its own: a text, a list of texts, or None for none."""
        for name, value in headers.items():
            values = value if isinstance(value, list) else [value]
            self.headers[name.replace("_", "-")] = [] if value is None else values
        return self

    def bytes(self, stack):
        lines = [f"{self.method} {stack.prefix}{self.path} HTTP/1.1", f"Host: {stack.host}:{stack.port}",
                 "Connection: close", f"Content-Length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, values in self.headers.items() for value in values]
        return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + self.body


def origins(stack, cookie):
    """Other origins, and none at all."""
    own = stack.base_url.removesuffix(stack.prefix)
    scheme, _, host = own.partition("://")
    name, _, port = host.partition(":")
    strange = ["https://evil.example", "http://evil.example", "null", "", "*", own + "/", own + "#", own + "?",
               own + ".", own + "@evil.example", f"{scheme}://evil.example:{port}",
               f"{scheme}://{name}:{int(port or 80) + 1}", f"https://{host}", f"{scheme}://{name}.evil.example:{port}",
               f"{scheme}://evil.{host}", f"//{host}", host,
               f"{scheme}://user@{host}", f"{own}, {own}", f"{own} {own}", "file://", "chrome-extension://abcdef",
               f"{scheme}:{host}", *stack.cors_origins]
    for origin in strange:
        yield f"Origin {origin!r} alone", Request(cookie).having(Sec_Fetch_Site=None, Origin=origin)
    for origin in ("https://evil.example", "null"):
        yield f"Origin {origin!r} that says same-origin", Request(cookie).having(Origin=origin)
    for site in ("cross-site", "same-site", "none", "", "Same-Origin", "same-origin, same-origin", "same-origin;"):
        yield f"Sec-Fetch-Site {site!r}", Request(cookie).having(Sec_Fetch_Site=site)
    yield "a foreign page that names our Origin", Request(cookie).having(Sec_Fetch_Site="cross-site", Origin=own)
    yield "a page of the same site, our Origin", Request(cookie).having(Sec_Fetch_Site="same-site", Origin=own)
    yield "no header at all", Request(cookie).having(Sec_Fetch_Site=None)
    yield "a Referer of ours", Request(cookie).having(Sec_Fetch_Site=None, Referer=own + "/")
    yield "two of Sec-Fetch-Site", Request(cookie).having(Sec_Fetch_Site=["same-origin", "cross-site"])
    yield "two of Origin", Request(cookie).having(Sec_Fetch_Site=None, Origin=[own, "https://evil.example"])


def types(cookie):
    """What a form or a beacon of another page can send without asking first, and what is not quite JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                 "text/plain; application/json", "text/plain; charset=application/json", "application/jsonx",
                 "application/json-patch+json", "application/csp-report", "application/json, text/plain", "json", None):
        yield f"Content-Type {kind!r}", Request(cookie).having(Content_Type=kind)
    yield "gzip", Request(cookie, body=gzip.compress(ASKS)).having(Content_Encoding="gzip")


def cookies(name, value, other, secrets):
    """Cookies that are not the one; secrets are tokens of the same user that were given in bodies."""
    pair = f"{name}={value}"
    yield "none", Request(None), MISSING
    yield "another name", Request(f"{name}x={value}"), MISSING
    yield "the name in capitals", Request(f"{name.upper()}={value}"), MISSING
    yield "the name with a prefix", Request(f"__Host-{name}={value}"), MISSING
    yield "the name with the other prefix", Request(f"__Secure-{name}={value}"), MISSING
    yield "a nameless cookie that looks like it", Request(f"={pair}"), MISSING
    yield "inside of another's value", Request(f"a={pair}"), MISSING
    yield "in Cookie2", Request(None).having(Cookie2=pair), MISSING
    yield "in Authorization", Request(None).having(Authorization=f"Bearer {value}"), MISSING
    yield "twice", Request(f"{pair}; {pair}"), INVALID
    yield "tossed from another host, before ours", Request(f"{name}={other}; {pair}"), INVALID
    yield "tossed from another host, behind ours", Request(f"{pair}; a=b; {name}={other}"), INVALID
    yield "tossed, and empty", Request(f"{pair}; {name}="), INVALID
    # Web servers join two headers, or hand both of them on; no browser sends two.
    yield "in two headers", Request(None).having(Cookie=[pair, f"{name}={other}"]), INVALID | REFUSED
    yield "joined by a comma", Request(f"{pair}, {name}={other}"), REFUSED
    yield "empty", Request(f"{name}="), REFUSED
    yield "quoted", Request(f'{name}="{value}"'), REFUSED
    yield "percent-encoded", Request(f"{name}=%{ord(value[0]):02X}{value[1:]}"), REFUSED
    yield "one character less", Request(pair[:-1]), REFUSED
    yield "one character more", Request(pair + "A"), REFUSED
    yield "another character", Request(f"{name}={'A' if value[0] != 'A' else 'B'}{value[1:]}"), REFUSED
    yield "another case", Request(f"{name}={value.swapcase()}"), REFUSED
    yield "a word behind it", Request(pair + " x"), REFUSED
    yield "base64 with padding", Request(pair + "="), REFUSED
    yield "8 KiB", Request(f"{name}={value * 180}"), REFUSED
    yield "more than a web server takes", Request(f"{name}={value * 900}"), {
        (431, "request.tooLarge"), (400, "request.tooLarge"), (400, "request.malformed")}
    for word, secret in secrets.items():
        yield f"fixation: {word}", Request(f"{name}={secret}"), REFUSED


def bodies(cookie, name, value):
    """Bodies that ask for it in another way, or for two things."""
    for text, answers in (({"session": "cookie", "refreshToken": value}, INVALID),
                          ({"session": "cookie", "refreshToken": ""}, INVALID),
                          ({"session": "cookie", "cookie": value}, INVALID), ({"session": "Cookie"}, INVALID),
                          ({"session": True}, INVALID), ({"session": None}, INVALID),
                          ({"session": ["cookie"]}, INVALID),
                          ({}, INVALID), ([], INVALID), ({"refreshToken": ""}, INVALID)):
        yield f"body {text}".replace(value, "..."), Request(cookie, body=json.dumps(text).encode()), answers
    yield "body twice", Request(cookie, body=b'{"session": "cookie", "session": "cookie"}'), MALFORMED
    yield "body with a BOM", Request(cookie, body=b"\xef\xbb\xbf" + ASKS), MALFORMED
    yield "no JSON", Request(cookie, body=b"session=cookie"), MALFORMED
    yield "in the query", Request(cookie, path="/customers/refresh?session=cookie", body=b"{}"), INVALID
    yield "token in the query", Request(cookie, path=f"/customers/refresh?{name}={value}"), INVALID


def places(cookie):
    """Other methods, other paths."""
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        yield method, Request(cookie, method=method), METHOD
    yield "GET that means POST", Request(cookie, method="GET").having(X_HTTP_Method_Override="POST"), METHOD
    for path in ("/customers/refresh/", "//customers/refresh", "/customers/Refresh", "/customers/refresh%20",
                 "/customers/%72efresh"):
        yield f"path {path}", Request(cookie, path=path), PATH
    for path in ("/customers/me", "/customers/sessions"):
        yield f"the cookie at {path}", Request(cookie, path=path, method="GET", body=b""), MISSING
    yield "the cookie at logout", Request(cookie, path="/customers/logout", body=b"{}"), MISSING


def attacks(stack, name, value, other, secrets):
    """All of them. `value` is the victim's token, `other` that of an attacker's own browser."""
    cookie = f"{name}={value}"
    for word, request in [*origins(stack, cookie), *types(cookie)]:
        yield word, request, FOREIGN
    yield from cookies(name, value, other, secrets)
    yield from bodies(cookie, name, value)
    yield from places(cookie)


def login_attacks(stack, credentials):
    """A page that signs its reader in as somebody else."""
    body = json.dumps({**credentials, "session": "cookie"}).encode()
    own = stack.base_url.removesuffix(stack.prefix)
    for word, headers in {
            "no header at all": {"Sec_Fetch_Site": None}, "cross-site": {"Sec_Fetch_Site": "cross-site"},
            "same-site": {"Sec_Fetch_Site": "same-site"}, "none": {"Sec_Fetch_Site": "none"},
            "another origin": {"Sec_Fetch_Site": None, "Origin": "https://evil.example"},
            "the null origin": {"Sec_Fetch_Site": None, "Origin": "null"},
            "our origin from elsewhere": {"Sec_Fetch_Site": "cross-site", "Origin": own},
            "a Referer of ours": {"Sec_Fetch_Site": None, "Referer": own}}.items():
        yield f"login: {word}", Request(None, path="/customers/login", body=body).having(**headers), FOREIGN
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        request = Request(None, path="/customers/login", body=body).having(Content_Type=kind)
        yield f"login: Content-Type {kind!r}", request, {(415, "request.mediaType")}
