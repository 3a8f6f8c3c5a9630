"""Pagination of long lists."""

from collections.abc import Mapping
from typing import Final, Self
from urllib.parse import urlencode

import msgspec

PAGE_SIZE: Final = 50
"""Rows of a page."""


def first_row(page: int, size: int = PAGE_SIZE) -> int:
    """Return the index of the first row of a page, from its number."""
    return (page - 1) * size


class ListPart(msgspec.Struct, frozen=True):
    """The part of a list that a page shows, with the addresses of the parts beside it."""

    label: str
    """The name of the list, for screen readers."""
    start: int
    shown: int
    total: int
    size: int
    path: str
    query: Mapping[str, str] = {}

    @classmethod
    def of(
        cls,
        label: str,
        *,
        start: int,
        shown: int,
        total: int,
        path: str,
        size: int = PAGE_SIZE,
        query: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a part; the total is at least the number of rows up to its end."""
        total = max(total, start + shown) if shown else total
        return cls(label, start, shown, total, size, path, query or {})

    @property
    def needed(self) -> bool:
        """Whether the list has more rows than this part."""
        return self.total > self.shown

    @property
    def before(self) -> str:
        """Address of the previous page; empty for the first."""
        return self._url(max(0, self.start - self.size)) if self.start else ""

    @property
    def after(self) -> str:
        """Address of the next page; empty for the last."""
        end = self.start + self.shown
        return self._url(end) if self.shown and end < self.total else ""

    def _url(self, start: int) -> str:
        page = start // self.size + 1
        query = {**self.query, **({"page": str(page)} if page > 1 else {})}
        return f"{self.path}{'?' + urlencode(query) if query else ''}"
