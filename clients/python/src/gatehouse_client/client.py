# SPDX-License-Identifier: MIT
"""The client of a Gatehouse service: the generated operations, with a session that renews itself, errors by code,
lists as iteration, and uploads that go on after a break."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from .generated.api.accounts_api import AccountsApi
from .generated.api.files_api import FilesApi
from .generated.api.organisations_api import OrganisationsApi
from .generated.api.service_api import ServiceApi
from .generated.models.file_record import FileRecord
from .generated.models.login_request import LoginRequest
from .generated.models.logout_request import LogoutRequest
from .generated.models.user import User
from .session import Tokens
from .transport import Transport, tokens_of
from .uploads import PIECE_BYTES, Progress, Upload, begin


class Gatehouse:
    """A service and, once somebody has signed in, their session. Threads may share it.

    `tokens` goes on with a session of before; `on_tokens` is told of new ones before they are used, so that a program
    can keep them (None: the session has ended). `timeout` is that of each wait for the service, in seconds; `ca_file`
    has the certificates to trust instead of the system's.
    """

    def __init__(self, base_url: str, *, tokens: Tokens | None = None,
                 on_tokens: Callable[[Tokens | None], None] | None = None, timeout: float = 30.0,
                 ca_file: str | None = None) -> None:
        self._transport = Transport(base_url.rstrip("/"), tokens, on_tokens, timeout, ca_file)
        #: People, sign-in, roles and permissions.
        self.accounts = AccountsApi(self._transport)
        #: Organisations.
        self.organisations = OrganisationsApi(self._transport)
        #: Files, links and lists of them.
        self.files = FilesApi(self._transport)
        #: The service: settings, cache, audit trail, health.
        self.service = ServiceApi(self._transport)

    @property
    def tokens(self) -> Tokens | None:
        """Those of the session; None: nobody is signed in."""
        return self._transport.session.tokens

    def sign_in(self, username: str, password: str, new_password: str | None = None) -> User:
        """Begins a session. A temporary password wants a new one beside it (NewPasswordRequiredError)."""
        request = LoginRequest(username=username, password=password)
        if new_password is not None:
            request.new_password = new_password
        reply = self.accounts.login(request)
        self._transport.session.keep(tokens_of(reply.tokens))
        return reply.user

    def sign_out(self, *, everywhere: bool = False) -> None:
        """Ends the session, or all sessions of the user."""
        self.accounts.logout(LogoutRequest(everywhere=everywhere))
        self._transport.session.keep(None)

    def upload(self, source: str | os.PathLike[str] | bytes | BinaryIO, *, bucket: str, type: str,
               name: str | None = None, tags: Sequence[str] = (), progress: Progress | None = None,
               on_begin: Callable[[str], None] | None = None, resume: str | None = None,
               piece_bytes: int = PIECE_BYTES) -> FileRecord:
        """Stores one file of any size, and goes on by itself after a break.

        `source` is a path, bytes, or an open file that can seek. `progress` is called with the bytes that are safe and
        the size. `on_begin` gets the id of the upload: a program that was stopped gives it as `resume`, with the same
        source, to go on within 24 hours.
        """
        with _opened(source) as file:
            size = file.seek(0, os.SEEK_END)
            send = self._transport.send
            identity = resume
            if identity is None:
                identity = begin(send, size, bucket, type, name or _name_of(source), tags)
                if on_begin is not None:
                    on_begin(identity)
            upload = Upload(send, identity, file, size, progress=progress, piece_bytes=piece_bytes)
            return upload.run(0 if resume is None else None)

    def upload_together(self, files: Mapping[str, bytes], *, bucket: str, type: str,
                        tags: Sequence[str] = ()) -> list[FileRecord]:
        """Stores up to ten files, by name, in one request: all of them or none. Their bytes are held in memory."""
        reply = self.files.upload_files(bucket=bucket, type=type, tags=list(tags), file=list(files.items()))
        return reply if isinstance(reply, list) else [reply]


class _Borrowed:
    """A file of the caller, which stays open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __enter__(self) -> BinaryIO:
        return self._file

    def __exit__(self, *_: object) -> None:
        pass


def _opened(source: str | os.PathLike[str] | bytes | BinaryIO) -> BinaryIO | _Borrowed:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if isinstance(source, (str, os.PathLike)):
        return open(source, "rb")
    return _Borrowed(source)


def _name_of(source: str | os.PathLike[str] | bytes | BinaryIO) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).name
    name = getattr(source, "name", None)
    if isinstance(name, str):
        return Path(name).name
    raise ValueError("bytes have no name: give one")
