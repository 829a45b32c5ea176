# SPDX-License-Identifier: MIT
"""The tokens of a signed-in user, and how they are renewed: by one thread at a time, the others wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .errors import AuthenticationError

# An access token is renewed this long before it expires, so that it holds while the request is on its way.
EARLY_SECONDS = 30.0


@dataclass(frozen=True)
class Tokens:
    """What a program keeps to stay signed in. A refresh token is used once: the next pair replaces this one."""

    access_token: str
    refresh_token: str
    #: When the access token expires, in seconds since 1970.
    expires_at: float

    def __repr__(self) -> str:
        return f"Tokens(expires_at={self.expires_at})"  # a log shall not hold the tokens


class Session:
    """Nobody is signed in until `keep` is given tokens. `refresh` gets the tokens that follow a refresh token;
    `on_tokens` is told of every change, before anybody uses the new ones: None when the session has ended."""

    def __init__(self, refresh: Callable[[str], Tokens], on_tokens: Callable[[Tokens | None], None] | None,
                 tokens: Tokens | None) -> None:
        self._refresh = refresh
        self._on_tokens = on_tokens
        self._tokens = tokens
        self._renewing = threading.Lock()

    @property
    def tokens(self) -> Tokens | None:
        """Those of now; None: nobody is signed in."""
        return self._tokens

    def keep(self, tokens: Tokens | None) -> None:
        """Takes the tokens of a new session; None ends it."""
        if self._on_tokens is not None:
            self._on_tokens(tokens)
        self._tokens = tokens

    def access_token(self) -> str:
        """One that holds, renewed if need be. Raises AuthenticationError where nobody is signed in."""
        tokens = self._required()
        if time.time() < tokens.expires_at - EARLY_SECONDS:
            return tokens.access_token
        return self.renew(tokens.access_token)

    def renew(self, stale: str) -> str:
        """Another access token than the stale one: that which another thread has got meanwhile, or a new one."""
        with self._renewing:
            tokens = self._required()
            if tokens.access_token == stale:
                try:
                    self.keep(self._refresh(tokens.refresh_token))
                except AuthenticationError:
                    self.keep(None)
                    raise
            return self._required().access_token

    def _required(self) -> Tokens:
        if self._tokens is None:
            raise AuthenticationError(401, "auth.tokenMissing", "Nobody is signed in. Call sign_in first.")
        return self._tokens
