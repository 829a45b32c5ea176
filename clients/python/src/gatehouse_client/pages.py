# SPDX-License-Identifier: MIT
"""Lists as iteration: page after page is asked for as the items are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item", covariant=True)


class Page(Protocol[Item]):
    """What every list with pages answers."""

    @property
    def items(self) -> Sequence[Item]: ...

    @property
    def next_cursor(self) -> Any: ...


def iterate(operation: Callable[..., Page[Item]], /, *path: Any, **filters: Any) -> Iterator[Item]:
    """Every item of a list: `iterate(client.files.list_files, name="report")`. The filters are those of the operation;
    what it takes before them, such as the id of the file whose links are listed, comes first."""
    cursor = filters.pop("cursor", None)
    while True:
        page = operation(*path, **filters, **({} if cursor is None else {"cursor": cursor}))
        yield from page.items
        if page.next_cursor is None:
            return
        cursor = str(page.next_cursor)
