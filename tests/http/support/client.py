# SPDX-License-Identifier: MIT
"""The client of every test: it checks each reply against the rules for every request (docs/api.md) before the
test sees it.

Rules checked on every reply: the headers that each reply carries, the six members of
an error body, exactly, the request id in header and body, WWW-Authenticate on 401, Allow on 405, Retry-After
where it is due; and by openapi.json: the status is documented for the operation and the body matches the
schema.
"""

import json
import re
import threading

from support.connections import Connections

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,128}\Z")
ERROR_MEMBERS = {"status", "message", "stack", "code", "body", "validation"}
FILE_BYTES = re.compile(r"/system/(files|links)/[^/]+\Z")
UNRESERVED = re.compile(r"[a-z][a-zA-Z]*(\.[a-zA-Z]+)*\Z")
RETRY_CODES = {
    "database.unavailable", "identityProvider.unavailable", "storage.unavailable", "storage.full",
    "rate.limited"
}
STATUS_OF_CODE = {
    "request.malformed": 400,
    "request.invalid": 400,
    "file.unknown": 400,
    "user.unknown": 400,
    "organisation.unknown": 400,
    "link.unknown": 400,
    "session.unknown": 400,
    "code.mismatch": 400,
    "auth.newPasswordRequired": 400,
    "password.policy": 400,
    "auth.tokenMissing": 401,
    "auth.tokenInvalid": 401,
    "auth.tokenExpired": 401,
    "auth.tokenRevoked": 401,
    "auth.credentials": 401,
    "auth.userDisabled": 401,
    "auth.userUnconfirmed": 401,
    "auth.permission": 403,
    "auth.origin": 403,
    "role.notGrantable": 403,
    "link.invalid": 403,
    "user.exists": 409,
    "user.alreadyConfirmed": 409,
    "user.state": 409,
    "user.self": 409,
    "user.lastOwner": 409,
    "organisation.internal": 409,
    "file.duplicate": 409,
    "file.archived": 409,
    "file.active": 409,
    "quota.exceeded": 409,
    "settings.stale": 409,
    "upload.offset": 409,
    "upload.unknown": 404,
    "upload.expired": 410,
    "upload.version": 412,
    "upload.locked": 423,
    "upload.checksum": 460,
    "internal": 500,
    "database.unavailable": 500,
    "identityProvider.unavailable": 500,
    "storage.unavailable": 500,
    "storage.full": 500,
    "route.unknown": 404,
    "route.method": 405,
    "request.precondition": 412,
    "request.tooLarge": 413,
    "request.mediaType": 415,
    "request.range": 416,
    "rate.limited": 429,
}
# An emulator on a busy machine may come after a deadline of docs/identity-providers.md: the shortest for the calls of a
# request. What is answered sooner was not too late, but refused.
EMULATOR_SECONDS, EMULATOR_REPETITIONS = 5, 3
# Calls that do no harm when they are sent again, though the provider may have carried them out. Others spend what they
# bring: a refresh token, an old password, the code of a reset.
REPEATABLE = {
    "/customers/login", "/customers/signup", "/customers/organisations/users", "/customers/confirm-signup",
    "/customers/admin-set-password"
}
# What the web server itself may answer, by its configuration's error pages.
EDGE_STATUS_OF_CODE = {
    "request.malformed": {400, 501},
    "route.method": {405, 501},
    "request.tooLarge": {400, 413, 414, 431},
    "request.range": {416},
    "service.unavailable": {502, 503},
    "service.timeout": {408, 504},
}


class Api:
    """Sends requests to the stack, over Connections made with the given arguments. Every method answers a Reply that
    has passed the rules."""

    def __init__(self, stack, document, **connections):
        self.stack = stack
        self.document = document
        self.connections = connections
        self.local = threading.local()
        self.repeated = []  # a line for each call that was sent again

    @property
    def session(self):
        """The connections of this thread: they are closed now and then, which another thread must not meet."""
        if not hasattr(self.local, "session"):
            self.local.session = Connections(**self.connections)
        return self.local.session

    def call(self, method, path, *, token=None, status=None, code=None, paths=None, edge=False, headers=None,
             **arguments):
        """One request. status, code and paths, where given, must be what the reply says; paths are the
        failing paths, exactly. edge=True allows an answer of the web server itself, which no operation
        documents."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        reply = self._ask(method, path, headers, edge, arguments)
        for _ in range(EMULATOR_REPETITIONS):
            if not self._came_late(reply, method, path, status, arguments):
                break
            self.repeated.append(f"sent again, since the emulator was late: {method} {path}")
            print(self.repeated[-1])
            reply = self._ask(method, path, headers, edge, arguments)
        expect(reply, status, code, paths)
        return reply

    def _ask(self, method, path, headers, edge, arguments):
        """The reply, which keeps the rules."""
        reply = self.session.request(method, self.stack.url(path), headers=headers, **{"timeout": 30, **arguments})
        sent = any(name.lower() == "authorization" and value.lower().startswith("bearer ")
                   for name, value in headers.items())
        check_reply(reply,
                    method,
                    path.split("?")[0],
                    sent_token=sent,
                    edge=edge,
                    document=self.document,
                    body=None if arguments.get("stream") and reply.status_code in (200, 206) else reply.content)
        if reply.status_code >= 400 and "data" in arguments:
            # Whoever refuses a request before its body has come closes the connection behind the answer (RFC 9112,
            # 9.3). The answer cannot say so, since its header has left before: the next request takes a new connection.
            self.session.close()
        return reply

    def _came_late(self, reply, method, path, status, arguments):
        """Whether an emulator kept the service waiting too long, in a call that may be repeated, and no test asked for
        that."""
        if self.stack.emulator is None or reply.status_code != 500 or reply.seconds < EMULATOR_SECONDS:
            return False
        asked_for = status is None or 500 in (status if isinstance(status, (set, tuple, list)) else {status})
        new_password = "newPassword" in (arguments.get("json") or {})
        return (not asked_for and not new_password and method == "POST" and path in REPEATABLE
                and reply.json()["code"] == "identityProvider.unavailable")

    def get(self, path, **arguments):
        return self.call("GET", path, **arguments)

    def head(self, path, **arguments):
        return self.call("HEAD", path, **arguments)

    def post(self, path, **arguments):
        return self.call("POST", path, **arguments)

    def put(self, path, **arguments):
        return self.call("PUT", path, **arguments)

    def patch(self, path, **arguments):
        return self.call("PATCH", path, **arguments)

    def delete(self, path, **arguments):
        return self.call("DELETE", path, **arguments)


def expect(reply, status=None, code=None, paths=None):
    """Fails unless the reply has this status (or one of a set), this code (or one of a set) and exactly
    these failing paths."""
    text = "" if _is_file(reply) else reply.text[:800]
    seen = f"{reply.request.method} {reply.request.url}: {reply.status_code} {text}"
    if status is not None:
        allowed = status if isinstance(status, (set, tuple, list)) else {status}
        assert reply.status_code in allowed, f"expected {status}, got {seen}"
    if code is not None:
        allowed = code if isinstance(code, (set, tuple, list)) else {code}
        assert reply.json()["code"] in allowed, f"expected {code}, got {seen}"
    if paths is not None:
        assert set(failing(reply)) == set(paths), f"expected the failing paths {sorted(paths)}, got {seen}"


def failing(reply):
    """The validation array as {path: {codes}}."""
    found = {}
    for entry in reply.json()["validation"]:
        found.setdefault(entry["path"], set()).add(entry["code"])
    return found


def anonymous(reply):
    """The reply's bytes with the request id blanked, to compare answers byte for byte."""
    identity = reply.headers["X-Request-Id"].encode()
    return reply.content.replace(identity, b"-")


def shape(reply):
    """What an outsider can tell of a reply but for its request id and date: status, header names and values,
    bytes."""
    headers = {name.lower(): value for name, value in reply.headers.itermerged()}
    for volatile in ("x-request-id", "date", "connection", "keep-alive", "transfer-encoding"):
        headers.pop(volatile, None)
    return reply.status_code, headers, anonymous(reply)


def _is_file(reply):
    return FILE_BYTES.search(reply.request.path) and reply.status_code in (200, 206)


def check_reply(reply, method, path, *, sent_token=False, edge=False, document=None, body=None):
    """The general rules. body None means that the bytes are not looked at."""
    where = f"{method} {path} {reply.status_code}"
    check_headers(reply.headers,
                  where,
                  reply.status_code,
                  file_bytes=_serves_file(method, path, reply.status_code),
                  edge=edge)
    media = reply.headers.get("Content-Type", "")
    parsed = None
    if reply.status_code >= 400:
        if method == "HEAD":
            assert not body, f"{where}: a reply to HEAD has a body"
        else:
            parsed = check_error(reply.status_code,
                                 reply.headers,
                                 body,
                                 where,
                                 sent_token=sent_token,
                                 edge=edge)
    elif body and media.split(";")[0] == "application/json" and not _serves_file(
            method, path, reply.status_code):
        parsed = strict_json(body, where)
    if method == "HEAD" or reply.status_code == 304:
        assert not body, f"{where}: has a body"
    known = document.operation(method, path) if document else None
    if known is not None and not edge:
        document.check(method, path, reply.status_code, reply.headers, parsed)
    elif known is None and document is not None and not edge:
        assert reply.status_code in (
            404, 405) or method == "OPTIONS", f"{where}: openapi.json does not know this operation"


def _serves_file(method, path, status):
    return method in ("GET", "HEAD") and bool(FILE_BYTES.match(path)) and status in (200, 206, 304)


def check_headers(headers, where, status, file_bytes=False, edge=False):
    """The headers that every reply carries."""
    assert headers.get("X-Content-Type-Options",
                       "").lower() == "nosniff", f"{where}: X-Content-Type-Options is missing"
    assert headers.get(
        "X-Api-Version") == "1.0.0", f"{where}: X-Api-Version is {headers.get('X-Api-Version')!r}"
    identity = headers.get("X-Request-Id")
    if identity is not None or not edge:
        assert identity and REQUEST_ID.match(identity), f"{where}: X-Request-Id is {identity!r}"
    control = headers.get("Cache-Control", "")
    if file_bytes:
        assert "private" in control and "public" not in control, f"{where}: Cache-Control is {control!r}"
    else:
        assert control == "no-store", f"{where}: Cache-Control is {control!r}"
    if status == 405 and not edge:
        assert headers.get("Allow"), f"{where}: 405 without Allow"


def check_error(status, headers, body, where, *, sent_token=False, edge=False):
    """The error body: all six members, exactly, and what belongs to its code. Returns the parsed body."""
    assert headers.get("Content-Type", "").split(";")[0] == "application/json", \
        f"{where}: Content-Type {headers.get('Content-Type')!r}, body {body!r:.200}"
    parsed = strict_json(body, where)
    assert isinstance(parsed, dict) and set(parsed) == ERROR_MEMBERS, f"{where}: members are {parsed!r:.300}"
    assert parsed["status"] == "error", where
    assert isinstance(parsed["message"],
                      str) and len(parsed["message"]) >= 8, f"{where}: message {parsed['message']!r}"
    assert parsed["stack"] == "", f"{where}: stack is shown: {parsed['stack']!r:.300}"
    code = parsed["code"]
    assert isinstance(code, str) and UNRESERVED.match(code), f"{where}: code {code!r}"
    assert isinstance(parsed["body"], dict), where
    named = parsed["body"].get("requestId")
    if edge:
        allowed = EDGE_STATUS_OF_CODE.get(code, set()) | {STATUS_OF_CODE.get(code)}
        assert status in allowed, f"{where}: code {code} with status {status}"
        if named and headers.get("X-Request-Id"):
            assert named == headers[
                "X-Request-Id"], f"{where}: requestId {named!r}, header {headers['X-Request-Id']!r}"
    else:
        assert STATUS_OF_CODE.get(code) == status, f"{where}: code {code} is not one of status {status}"
        assert named == headers[
            "X-Request-Id"], f"{where}: requestId {named!r}, header {headers['X-Request-Id']!r}"
    check_validation(parsed, where)
    if status == 401:
        challenge = headers.get("WWW-Authenticate", "")
        assert challenge.startswith("Bearer"), f"{where}: WWW-Authenticate is {challenge!r}"
        told = 'error="invalid_token"' in challenge
        # A refresh token comes in the body; whether it counts as a token sent is left open.
        in_body = "/customers/refresh" in where
        assert told == sent_token or in_body, f"{where}: token sent: {sent_token}, {challenge!r}"
    if code == "auth.permission":
        assert re.match(r"[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[arw]\Z",
                        parsed["body"].get("required", "")), f"{where}: {parsed}"
    if code in RETRY_CODES:
        assert re.match(r"[1-9][0-9]*\Z", headers.get("Retry-After", "")), f"{where}: Retry-After is missing"
    if code == "file.duplicate":
        assert parsed["body"].get("id"), f"{where}: {parsed}"
    return parsed


def check_validation(parsed, where):
    """The validation array: objects of three texts; not empty where the code says that input was read and
    found wrong."""
    entries = parsed["validation"]
    assert isinstance(entries, list), where
    for entry in entries:
        assert isinstance(entry, dict) and set(entry) == {"path", "message", "code"}, f"{where}: {entry!r}"
        assert all(isinstance(value, str) for value in entry.values()), f"{where}: {entry!r}"
        assert entry["message"] and entry["code"], f"{where}: {entry!r}"
    if parsed["code"] in ("request.invalid", "auth.newPasswordRequired", "password.policy"):
        assert entries, f"{where}: {parsed['code']} names no path"


def strict_json(body, where):
    """Parses a reply as JSON that a strict reader takes: UTF-8, no duplicate members, no NaN."""

    def unique(pairs):
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), f"{where}: duplicate members {names}"
        return dict(pairs)

    def refuse(text):
        raise AssertionError(f"{where}: {text} is not JSON")

    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
    except ValueError as fault:
        raise AssertionError(f"{where}: not JSON ({fault}): {body!r:.300}") from fault
