# SPDX-License-Identifier: MIT
"""How calls go out: with the session's token, once more after it was renewed, and with every failure as an exception.

The generated operations use `call`, what is written by hand uses `send`."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from pydantic import TypeAdapter

from . import errors
from .generated.models.refresh_reply import RefreshReply
from .generated.models.tokens import Tokens as TokensReply
from .model import Model
from .session import Session, Tokens

VERSION = "1.0.0"
BEARER = "Bearer "
# What another access token of the same session can put right. The answer to HEAD has no body, and so no code.
RENEWABLE = {"auth.tokenExpired", "auth.tokenInvalid", "http.401"}
CONNECTIONS = 16


def tokens_of(reply: TokensReply) -> Tokens:
    """What the program keeps of the tokens in an answer."""
    return Tokens(reply.access_token, reply.refresh_token or "", time.time() + reply.expires_in)


class Transport:
    """One service, one session, and the connections to it. Threads may share it."""

    def __init__(self, base_url: str, tokens: Tokens | None, on_tokens: Callable[[Tokens | None], None] | None,
                 timeout: float, ca_file: str | None) -> None:
        self.session = Session(self._refresh, on_tokens, tokens)
        self._base_url = base_url
        # A call that may have been carried out is never made again by itself. Without respect_retry_after_header=False,
        # an answer with Retry-After would be a call to make again, and end as if no answer had come.
        self._pool = urllib3.PoolManager(
            maxsize=CONNECTIONS, block=False, ca_certs=ca_file, timeout=urllib3.Timeout(connect=timeout, read=timeout),
            retries=urllib3.Retry(connect=1, read=0, redirect=False, status=0, other=0,
                                  respect_retry_after_header=False))

    def call(self, method: str, path_template: str, kind: Any, *, accept: str, signed: bool,
             path: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None,
             headers: Mapping[str, Any] | None = None, form: Mapping[str, Any] | None = None, body: Any = None,
             content_type: str | None = None) -> Any:
        """One operation. Returns what `kind` says: a record, bytes, a text, or None."""
        sent = {name: _text(value) for name, value in (headers or {}).items() if value is not None}
        if accept:
            sent["Accept"] = accept
        data: bytes | None = None
        if form is not None:
            data, sent["Content-Type"] = urllib3.encode_multipart_formdata(_fields(form))
        elif body is not None and content_type is not None:
            data, sent["Content-Type"] = _encode(body), content_type
        reply = self.send(method, _place(path_template, path or {}, query or {}), sent, data, signed=signed)
        return _decode(reply.data, kind)

    def send(self, method: str, path: str, headers: Mapping[str, str], data: bytes | None, *,
             signed: bool = True) -> urllib3.BaseHTTPResponse:
        """One request below the address of the service; any answer of 300 or more is an exception."""
        token = self.session.access_token() if signed else None
        try:
            return self._once(method, path, headers, data, token)
        except errors.AuthenticationError as error:
            if token is None or error.code not in RENEWABLE:
                raise
        return self._once(method, path, headers, data, self.session.renew(token))

    def _once(self, method: str, path: str, headers: Mapping[str, str], data: bytes | None,
              token: str | None) -> urllib3.BaseHTTPResponse:
        sent = {"User-Agent": f"gatehouse-client-python/{VERSION}", **headers}
        if token is not None:
            sent["Authorization"] = BEARER + token
        try:
            reply = self._pool.request(method, self._base_url + path, headers=sent, body=data)
        except urllib3.exceptions.HTTPError as error:
            raise errors.not_reached(error) from error
        if reply.status >= 300:
            raise errors.from_reply(reply.status, reply.headers, reply.data)
        return reply

    def _refresh(self, refresh_token: str) -> Tokens:
        body = json.dumps({"refreshToken": refresh_token}).encode()
        reply = self.send("POST", "/customers/refresh", {"Content-Type": "application/json"}, body, signed=False)
        return tokens_of(RefreshReply.model_validate_json(reply.data).tokens)


def _place(template: str, path: Mapping[str, Any], query: Mapping[str, Any]) -> str:
    for name, value in path.items():
        template = template.replace(f"{{{name}}}", quote(_text(value), safe=""))
    asked = {name: _text(value) for name, value in query.items() if value is not None}
    return f"{template}?{urlencode(asked)}" if asked else template


def _text(value: Any) -> str:
    """A value as a path, a query or a header has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat()
    return str(value)


def _fields(form: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parts of a form: each item of a list is one of its own, a pair is a file with its name."""
    return [(name, one) for name, value in form.items() if value is not None
            for one in (value if isinstance(value, list) else [value])]


def _encode(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return json.dumps(body.to_dict() if isinstance(body, Model) else body).encode()


@functools.lru_cache(maxsize=None)
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _decode(data: bytes, kind: Any) -> Any:
    if kind is None or kind is bytes:
        return data if kind is bytes else None
    return data.decode() if kind is str else _reader(kind).validate_json(data)
