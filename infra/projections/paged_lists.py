"""Lists of finished matches whose older rows are in row pages, read as one.

A list is a sorted set, which has its newest rows, and the entries of its pages, the oldest first:

| key | what |
|---|---|
| `pages:<list>` | list of packed `PageEntry`, each of 256 rows, later than those of the entry before |
| `offloaded` | list of members whose rows in Redis may be needed by no list any longer |
| `deleted:<token>` | the entries of a deleted account's list, until its pages are deleted |

A row that came late may be older than the last page; until the next page is written it is in the sorted set. So a
reader merges: sorted set, late rows and pages are sorted sequences of blocks, and whole blocks before the rows that
are wanted are skipped without reading them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import chain, islice
from typing import Any, Final, NamedTuple

import redis

from domain.errors import Code, Refusal
from infra.projections.buckets import Bucket
from infra.projections.generations import Generation
from infra.projections.row_pages import (
    PAGE_ROWS,
    ListedRow,
    PageEntry,
    Place,
    RowPages,
    unpack_entry,
)
from infra.projections.specs import Spec
from infra.sentences import SAY

OFFLOADED: Final = "offloaded"
_PAGES: Final = "pages:"
_DELETED: Final = "deleted:"

_ENTRIES: Final = 128
"""Entries that are read together."""

_ROWS: Final = 500
"""Rows that are read together."""

_FIRST: Final[Place] = (0, b"")
"""The place before all rows."""

_ATTEMPTS: Final = 5
"""A list may change between two reads, but not each time."""


def pages_key(name: str) -> str:
    """Return the key of the entries of a list's pages."""
    return _PAGES + name


def deleted_key(token: str) -> str:
    """Return a key for the entries of a deleted account's list."""
    return _DELETED + token


def is_deleted_key(name: str) -> bool:
    """Return whether a key has entries of pages to delete."""
    return name.startswith(_DELETED)


def is_about_pages(name: str) -> bool:
    """Return whether a key is about pages, and so differs between equal generations."""
    return name == OFFLOADED or name.startswith((_PAGES, _DELETED))


class ListKey(NamedTuple):
    """A list: its bucket, and its key in there."""

    bucket: Bucket
    name: str


class RowHolder(NamedTuple):
    """A bucket that has a row, and the lists that need it there."""

    bucket: Bucket
    lists: Sequence[tuple[ListKey, bytes]]
    """Each with the row's member."""


class PagedRows(ABC):
    """A description of the lists of finished matches of a projection."""

    spec: Spec
    rows: str = "rows"
    """The hash of rows by board."""
    prefixes: tuple[str, ...]
    """The beginnings of the keys of its lists."""

    def is_list(self, name: str) -> bool:
        """Return whether a key is such a list."""
        return name.startswith(self.prefixes)

    @abstractmethod
    def board_of(self, member: bytes) -> int:
        """Return the board of a member."""

    @abstractmethod
    def row_bucket(self, generation: Generation, bucket: Bucket, board: int) -> Bucket:
        """Return the bucket that has the row of a member of a list in `bucket`."""

    @abstractmethod
    def is_final(self, row: bytes) -> bool:
        """Return whether a row is of a finished match, so that it can't change."""

    def other_list(self, one: ListKey) -> ListKey | None:
        """Return a list with all rows of another that does not keep its own in Redis; None if it does."""
        del one
        return None

    @abstractmethod
    def holders(self, generation: Generation, row: bytes) -> list[RowHolder]:
        """Return the buckets that have a row, each with the lists that need it."""


class _Block(NamedTuple):
    """A sorted part of a list; the next one of its sequence is older."""

    size: int
    first: Place
    """No row of it is older, and all rows of later blocks are."""
    load: Callable[[], Iterable[ListedRow]]
    """Returns its rows, the newest first; those of the sorted set without their bytes."""


class _ChangedError(Exception):
    """The list has changed since it was first looked at."""


class PagedLists:
    """Reads the lists of one projection. Errors of the server pass through; `Refusal` as of `RowPages`."""

    def __init__(self, client: redis.Redis, pages: RowPages, kind: PagedRows) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._pages = pages
        self._kind = kind

    def read(
        self, generation: Generation, lists: Sequence[ListKey], start: int, count: int
    ) -> list[bytes]:
        """Return rows of lists as if they were one, the newest first, from the `start`th on.

        O(log n + start + count) in rows that are in Redis; beyond them O(start / 256), and a page for each 256 rows.
        """
        rows: list[bytes] = []
        for _ in range(_ATTEMPTS):
            rows = self.rows_of(generation, self.listed(lists, start, count))
            # a row that is missing is in a page by now, or its bucket is behind and never had it
            if all(rows):
                break
        return [row for row in rows if row]

    def listed(
        self, lists: Sequence[ListKey], start: int, count: int
    ) -> list[tuple[ListKey, ListedRow]]:
        """Return the rows of `read` with their lists, most of them without their bytes."""
        for _ in range(_ATTEMPTS):
            found = self._newest(lists, start, count)
            if found is None and start >= self.count(lists):
                return []
            if found is None:
                found = self._merged(lists, start, count)
            if found is not None:
                return found
        raise Refusal(Code.UNAVAILABLE, SAY("list-busy"))

    def count(self, lists: Sequence[ListKey]) -> int:
        """Return the number of rows of lists; O(number of lists)."""
        return sum(self._count(one) for one in lists)

    def _count(self, one: ListKey) -> int:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zcard(one.bucket.key(one.name))
            pipe.llen(one.bucket.key(pages_key(one.name)))
            rows, pages = pipe.execute()
        return int(rows) + PAGE_ROWS * int(pages)

    def _newest(
        self, lists: Sequence[ListKey], start: int, count: int
    ) -> list[tuple[ListKey, ListedRow]] | None:
        """Return rows of one list if all are in the sorted set, and in their places; otherwise None."""
        if len(lists) != 1:
            return None
        one = lists[0]
        rows, pages = one.bucket.key(one.name), one.bucket.key(pages_key(one.name))
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zrange(rows, start, start + count - 1, desc=True, withscores=True)
            pipe.zrange(rows, 0, 0, withscores=True)
            pipe.zcard(rows)
            pipe.lindex(pages, -1)
            found, oldest, size, last = pipe.execute()
        if last is not None:
            late = oldest and _row(*oldest[0]).place <= unpack_entry(last).last
            if late or start + count > size:
                return None
        return [(one, _row(*each)) for each in found]

    def _merged(
        self, lists: Sequence[ListKey], start: int, count: int
    ) -> list[tuple[ListKey, ListedRow]] | None:
        """Return rows of lists, those of the sorted sets without their bytes; None if a list has changed."""
        try:
            most = max(1, min(start + count, _ROWS))
            sources = [(one, source) for one in lists for source in self._sources(one, most)]
            heads, start = _skip([source for _, source in sources], start)
            rows = [
                _rows_of(one, head, source)
                for (one, source), head in zip(sources, heads, strict=True)
                if head is not None
            ]
            found = merge(*rows, key=lambda pair: pair[1].place, reverse=True)
            return list(islice(found, start, start + count))
        except _ChangedError:
            return None

    def _sources(self, one: ListKey, most: int) -> list[Iterator[_Block]]:
        """Return the list as sequences of blocks, each sequence the newest first.

        At most `most` rows are read together from the sorted set, and only the blocks that are used.
        """
        pages = one.bucket.key(pages_key(one.name))
        with self._client.pipeline(transaction=True) as pipe:
            pipe.llen(pages)
            pipe.lrange(pages, -_ENTRIES, -1)
            size, entries = pipe.execute()
        if not entries:
            return [self._row_blocks(one, most, b"")]
        last = unpack_entry(entries[-1]).last
        timely = self._row_blocks(one, most, entries[-1], after=last)
        late = self._row_blocks(one, most, entries[-1], last=last)
        return [chain(timely, self._page_blocks(one, int(size), entries)), late]

    def _row_blocks(
        self,
        one: ListKey,
        most: int,
        entry: bytes,
        after: Place = _FIRST,
        last: Place | None = None,
    ) -> Iterator[_Block]:
        """Return the blocks of a list's sorted set with the rows after a place, up to the place `last`.

        `_ChangedError` if `entry` is not that of the last page any longer.
        """
        rows, pages = one.bucket.key(one.name), one.bucket.key(pages_key(one.name))
        at: float | str = last[0] if last else "+inf"
        same = 0  # rows of that time that were read
        while True:
            with self._client.pipeline(transaction=True) as pipe:
                pipe.zrange(
                    rows,
                    at,
                    after[0],
                    desc=True,
                    byscore=True,
                    offset=same,
                    num=most,
                    withscores=True,
                )
                pipe.lindex(pages, -1)
                found, newest = pipe.execute()
            if (newest or b"") != entry:
                raise _ChangedError
            read = [_row(*each) for each in found]
            if some := [
                row for row in read if after < row.place and (not last or row.place <= last)
            ]:
                yield _Block(len(some), some[-1].place, partial(iter, some))
            if len(read) < most:
                return
            oldest = read[-1].at
            same = sum(row.at == oldest for row in read) + (same if oldest == at else 0)
            at = oldest

    def _page_blocks(self, one: ListKey, size: int, newest: Sequence[bytes]) -> Iterator[_Block]:
        """Return the blocks of a list's pages; `_ChangedError` if the entries are others meanwhile."""
        entries, pages = newest, one.bucket.key(pages_key(one.name))
        end = size
        while entries:
            for data in reversed(entries):
                entry = unpack_entry(data)
                yield _Block(PAGE_ROWS, entry.first, partial(self._load, one.bucket, entry))
            end -= len(entries)
            if not end:
                return
            with self._client.pipeline(transaction=True) as pipe:
                pipe.lrange(pages, max(0, end - _ENTRIES), end - 1)
                pipe.lindex(pages, size - 1)
                entries, last = pipe.execute()
            if last != newest[-1]:
                raise _ChangedError

    def _load(self, bucket: Bucket, entry: PageEntry) -> Iterator[ListedRow]:
        return reversed(self._pages.read(bucket.name, bucket.generation, entry))

    def rows_of(
        self, generation: Generation, found: Sequence[tuple[ListKey, ListedRow]]
    ) -> list[bytes]:
        """Return the bytes of rows of lists, from Redis where they are not known; empty for missing ones."""
        rows = self._from_redis(generation, found)
        missing: dict[ListKey, list[Place]] = {}
        for (one, row), data in zip(found, rows, strict=True):
            if not data:
                missing.setdefault(self._kind.other_list(one) or one, []).append(row.place)
        paged = {other: self._from_pages(other, places) for other, places in missing.items()}
        return [
            data or paged.get(self._kind.other_list(one) or one, {}).get(row.place, b"")
            for (one, row), data in zip(found, rows, strict=True)
        ]

    def _from_pages(self, one: ListKey, places: Sequence[Place]) -> dict[Place, bytes]:
        """Return the rows of a list at these places, of those that are in its pages."""
        key = one.bucket.key(pages_key(one.name))
        size = int(self._client.llen(key))
        entries: dict[int, PageEntry] = {}
        low, high = dict.fromkeys(places, 0), dict.fromkeys(places, size)
        for _ in range(size.bit_length()):
            middles = {place: (low[place] + high[place]) // 2 for place in low}
            self._read_entries(key, sorted({*middles.values()} - entries.keys()), entries)
            for place, middle in middles.items():
                if middle in entries and entries[middle].last < place:
                    low[place] = middle + 1
                else:
                    high[place] = middle
        found: dict[Place, bytes] = {}
        for number in {*high.values()} & entries.keys():
            page = self._pages.read(one.bucket.name, one.bucket.generation, entries[number])
            found.update({row.place: row.row for row in page if row.place in high})
        return found

    def _read_entries(
        self, key: str, numbers: Iterable[int], entries: dict[int, PageEntry]
    ) -> None:
        """Add the entries with these numbers, as far as there are any."""
        wanted = list(numbers)
        with self._client.pipeline(transaction=False) as pipe:
            for number in wanted:
                pipe.lindex(key, number)
            for number, data in zip(wanted, pipe.execute(), strict=True):
                if data is not None:
                    entries[number] = unpack_entry(data)

    def _from_redis(
        self, generation: Generation, found: Sequence[tuple[ListKey, ListedRow]]
    ) -> list[bytes]:
        """Return the bytes of rows, those that are not known from their hashes; empty for missing ones."""
        kind = self._kind
        missing: dict[Bucket, dict[int, bytes]] = {}
        places = []
        for one, row in found:
            board = kind.board_of(row.member)
            bucket = kind.row_bucket(generation, one.bucket, board)
            places.append((bucket, board))
            if not row.row:
                missing.setdefault(bucket, {})[board] = b""
        with self._client.pipeline(transaction=False) as pipe:
            for bucket, boards in missing.items():
                pipe.hmget(bucket.key(kind.rows), list(boards))
            for boards, rows in zip(missing.values(), pipe.execute(), strict=True):
                boards.update(zip(boards, (row or b"" for row in rows), strict=True))
        return [
            row.row or missing[bucket][board]
            for (_, row), (bucket, board) in zip(found, places, strict=True)
        ]


def _row(member: bytes, score: float) -> ListedRow:
    return ListedRow(int(score), member, b"")


def _rows_of(
    one: ListKey, head: _Block, blocks: Iterator[_Block]
) -> Iterator[tuple[ListKey, ListedRow]]:
    return ((one, row) for block in chain([head], blocks) for row in block.load())


def _skip(sources: Sequence[Iterator[_Block]], start: int) -> tuple[list[_Block | None], int]:
    """Skip blocks before the `start`th row; return the next block of each, and the rows still to skip.

    The first blocks of all together have every row that can come before the oldest one of the block which
    ends first. If all their rows are to be skipped, that block is skipped.
    """
    heads = [next(source, None) for source in sources]
    while (size := sum(head.size for head in heads if head)) and size <= start:
        ends = [(head.first, number, head.size) for number, head in enumerate(heads) if head]
        _, number, rows = max(ends)
        start -= rows
        heads[number] = next(sources[number], None)
    return heads, start
