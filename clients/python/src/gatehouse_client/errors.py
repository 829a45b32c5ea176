# SPDX-License-Identifier: MIT
"""Makes exceptions of what the service refuses: one class for all, and one for each thing that a program handles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """One value of the request that is wrong: its path (`organisation.name`, `roles[1]`), what is wrong, and a code."""

    path: str
    message: str
    code: str


class GatehouseError(Exception):
    """Every failure of a call. `status` is 0 where no answer came."""

    def __init__(self, status: int, code: str, message: str, *, request_id: str | None = None,
                 details: Mapping[str, Any] | None = None, validation: tuple[Fault, ...] = (),
                 retry_after: float | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.status = status
        #: Stable, for programs: `file.duplicate`.
        self.code = code
        #: One sentence for a person, which says what to do.
        self.message = message
        #: What the operator finds the call by in the log.
        self.request_id = request_id
        #: What belongs to the code, such as the id of the file that is there already.
        self.details = dict(details or {})
        #: Every value of the request that is wrong.
        self.validation = validation
        #: Seconds to wait before the call can succeed, where the service says it.
        self.retry_after = retry_after


class InvalidRequestError(GatehouseError):
    """400: values are wrong, or name what is not there. `validation` lists them."""


class NewPasswordRequiredError(InvalidRequestError):
    """The password is a temporary one: sign in with a new one beside it."""


class AuthenticationError(GatehouseError):
    """401: wrong credentials, or a session that has ended. Sign in again."""


class PermissionDeniedError(GatehouseError):
    """403: the caller may not do this."""

    @property
    def required(self) -> str | None:
        """The permission that is missing, where one is."""
        value = self.details.get("required")
        return value if isinstance(value, str) else None


class NotFoundError(GatehouseError):
    """404 and 410: there is no such path, or no such upload any more."""


class ConflictError(GatehouseError):
    """409 and 412: the state of the thing, or another thing, stands in the way."""


class DuplicateFileError(ConflictError):
    """The very file is there already."""

    @property
    def file_id(self) -> str | None:
        """The id of the file that is there."""
        value = self.details.get("id")
        return value if isinstance(value, str) else None


class QuotaExceededError(ConflictError):
    """The organisation's storage is used up."""


class RateLimitedError(GatehouseError):
    """429: too many tries. `retry_after` says how long to wait."""


class UnavailableError(GatehouseError):
    """The service, or a part that it needs, is down for the moment, or cannot be reached. Try again later."""


BY_CODE: dict[str, type[GatehouseError]] = {
    "auth.newPasswordRequired": NewPasswordRequiredError,
    "file.duplicate": DuplicateFileError,
    "quota.exceeded": QuotaExceededError,
    "database.unavailable": UnavailableError,
    "identityProvider.unavailable": UnavailableError,
    "storage.unavailable": UnavailableError,
    "storage.full": UnavailableError,
}
BY_STATUS: dict[int, type[GatehouseError]] = {
    400: InvalidRequestError, 401: AuthenticationError, 403: PermissionDeniedError, 404: NotFoundError,
    409: ConflictError, 410: NotFoundError, 412: ConflictError, 413: InvalidRequestError, 415: InvalidRequestError,
    429: RateLimitedError, 502: UnavailableError, 503: UnavailableError, 504: UnavailableError,
}


def not_reached(cause: Exception) -> UnavailableError:
    """The error of a call that got no answer."""
    return UnavailableError(0, "service.notReached", f"The service cannot be reached: {cause}")


def from_reply(status: int, headers: Mapping[str, str], body: bytes | str | None) -> GatehouseError:
    """The error that a reply of 400 or more stands for. Whatever came, there is one."""
    told = _read(body)
    code = _text(told.get("code")) or f"http.{status}"
    wait = headers.get("Retry-After", "")
    details = told.get("body")
    known = details if isinstance(details, dict) else {}
    return BY_CODE.get(code, BY_STATUS.get(status, GatehouseError))(
        status, code, _text(told.get("message")) or f"The service answered {status}.",
        request_id=_text(known.get("requestId")) or headers.get("X-Request-Id"),
        details={name: value for name, value in known.items() if name != "requestId"},
        validation=tuple(_faults(told.get("validation"))),
        retry_after=float(wait) if wait.isascii() and wait.isdigit() else None)


def _read(body: bytes | str | None) -> dict[str, Any]:
    try:
        told = json.loads(body or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _faults(entries: object) -> list[Fault]:
    return [Fault(str(entry.get("path", "")), str(entry.get("message", "")), str(entry.get("code", "")))
            for entry in (entries if isinstance(entries, list) else []) if isinstance(entry, dict)]
