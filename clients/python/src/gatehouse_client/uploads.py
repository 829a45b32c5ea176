# SPDX-License-Identifier: MIT
"""Uploads that go on after a break, by the protocol tus 1.0.0 at /system/uploads.

The file is sent in pieces. After a broken connection, or an answer that the service is not there for the moment or
has too much to do, the upload waits, asks how many bytes are safe and goes on behind them. A piece that is sent at
the end of a file that is whole already answers its record once more, so that a lost last answer does no harm.

The request that makes the upload is sent again only where the service has refused it and says how long to wait: nothing
was made then. Without an answer an upload may have been made, and another one would be left behind."""

from __future__ import annotations

import base64
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, Protocol

from .errors import GatehouseError, NotFoundError, RateLimitedError, UnavailableError
from .generated.models.file_record import FileRecord

PATH = "/system/uploads"
VERSION = {"Tus-Resumable": "1.0.0"}
PIECE_BYTES = 4 * 1024 * 1024
# How long to wait before each try that follows a break; a try that brings the upload on begins at the first again.
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# An answer that asks for a longer wait ends the upload: the program decides when it goes on.
LONGEST_WAIT = 60.0
# What passes: another request that writes still, and an offset that HEAD puts right.
PASSING = {"upload.locked", "upload.offset"}


class Reply(Protocol):
    """An answer below 400."""

    status: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def data(self) -> bytes | None: ...


Send = Callable[[str, str, Mapping[str, str], bytes | None], Reply]
Progress = Callable[[int, int], None]


def metadata(fields: Mapping[str, str]) -> str:
    """The header Upload-Metadata."""
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in fields.items())


def begin(send: Send, size: int, bucket: str, kind: str, name: str, tags: Sequence[str]) -> str:
    """Makes an upload of a file of that size, and returns its id."""
    fields = {"bucket": bucket, "type": kind, "filename": name, **({"tags": "\n".join(tags)} if tags else {})}
    headers = {**VERSION, "Upload-Length": str(size), "Upload-Metadata": metadata(fields)}
    for failed in itertools.count():
        try:
            reply = send("POST", PATH, headers, None)
            break
        except (RateLimitedError, UnavailableError) as error:
            if error.retry_after is None:
                raise
            _wait(error, WAITS, failed)
    # The service names itself by its own address, which need not be the one that it was reached by.
    return reply.headers["Location"].rsplit("/", 1)[1]


class Upload:
    """One file on its way: `send` makes the calls, `source` has the bytes, `identity` is what `begin` returned."""

    def __init__(self, send: Send, identity: str, source: BinaryIO, size: int, *, progress: Progress | None = None,
                 piece_bytes: int = PIECE_BYTES, waits: Sequence[float] = WAITS) -> None:
        self._send = send
        self._path = f"{PATH}/{identity}"
        self._source = source
        self._size = size
        self._progress = progress
        self._piece_bytes = piece_bytes
        self._waits = waits

    def run(self, offset: int | None = 0) -> FileRecord:
        """Sends what is missing behind the offset (None: asks for it), and returns the record of the file."""
        failed = 0
        reached = -1
        while True:
            try:
                if offset is None:
                    offset = self._safe()
                if offset > reached:
                    failed, reached = 0, offset
                self._tell(offset)
                offset, record = self._piece(offset)
                if record is not None:
                    self._tell(self._size)
                    return record
            except GatehouseError as error:
                if not _passes(error):
                    raise
                _wait(error, self._waits, failed)
                failed += 1
                offset = None

    def _tell(self, offset: int) -> None:
        if self._progress is not None:
            self._progress(offset, self._size)

    def _safe(self) -> int:
        """How many bytes the service has. Raises ValueError where the upload is that of a file of another size."""
        try:
            headers = self._send("HEAD", self._path, VERSION, None).headers
        except NotFoundError as error:  # the answer to HEAD has no body to say it
            raise NotFoundError(error.status, "upload.expired" if error.status == 410 else "upload.unknown",
                                "There is no such upload any more. Begin a new one.",
                                request_id=error.request_id) from error
        length = headers.get("Upload-Length")
        if length is not None and int(length) != self._size:
            raise ValueError(f"the upload is that of a file of {length} bytes, but the source has {self._size}")
        return int(headers["Upload-Offset"])

    def _piece(self, offset: int) -> tuple[int, FileRecord | None]:
        """Sends a piece. Returns where the next one begins, and the record of a file that is whole."""
        self._source.seek(offset)
        data = self._source.read(min(self._piece_bytes, self._size - offset))
        reply = self._send("PATCH", self._path, {
            **VERSION, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream",
            "Accept": "application/json"}, data)
        if reply.status == 200 and reply.data:
            return self._size, FileRecord.model_validate_json(reply.data)
        reached = int(reply.headers["Upload-Offset"])
        if reached <= offset:
            message = (f"The upload does not go on: {len(data)} bytes were sent at {offset} of {self._size}, and the "
                       f"service is at {reached}.")
            raise GatehouseError(reply.status, "upload.stopped", message,
                                 request_id=reply.headers.get("X-Request-Id"))
        return reached, None


def _passes(error: GatehouseError) -> bool:
    return isinstance(error, (RateLimitedError, UnavailableError)) or error.code in PASSING


def _wait(error: GatehouseError, waits: Sequence[float], failed: int) -> None:
    """Waits before the try that follows that many failed ones. Raises the error where there is to be none."""
    asked = error.retry_after or 0.0
    if failed >= len(waits) or asked > LONGEST_WAIT:
        raise error
    time.sleep(max(waits[failed], asked))
