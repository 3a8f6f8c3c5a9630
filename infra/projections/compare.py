"""Compares two generations of a projection, bucket by bucket and key by key.

Values are read, because a server's own serialisation (DUMP) depends on the history of a value. The keys
of a bucket are those in its set of keys. Those about its feeding are left out: checkpoint, hold, failures.

Two equal lists of finished matches may have different parts in row pages. So such a list is compared row by row,
wherever its rows are, and a row in Redis that no list needs there may be missing in the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

import redis

from infra.projections.buckets import Bucket
from infra.projections.generations import Generation, Generations
from infra.projections.paged_lists import ListKey, PagedLists, PagedRows, is_about_pages
from infra.projections.row_pages import NO_PAGES, RowPages

_PAGE: Final = 1_000
_MISSING: Final = b"none"

_Part = tuple[Generation, Bucket]
"""A bucket with its generation."""


class Comparison:
    """A comparison; `done` is called after each page with the number of compared keys.

    Lists of finished matches are of `paged`, None for a projection without such lists, and have `pages`.
    `Refusal` if a page can't be read.
    """

    def __init__(
        self,
        client: redis.Redis,
        generations: Generations,
        done: Callable[[int], None] = lambda _: None,
        paged: PagedRows | None = None,
        pages: RowPages = NO_PAGES,
    ) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._generations = generations
        self._on_progress = done
        self._paged = paged
        self._lists = PagedLists(client, pages, paged) if paged else None
        self.keys = 0
        """Compared keys."""

    def first_difference(self, one: Generation, other: Generation) -> str:
        """Return the first key that differs, without its generation; empty if all are equal.

        Both have the same number of buckets.
        """
        pairs = zip(one.all, other.all, strict=True)
        differences = (self._first_in((one, mine), (other, theirs)) for mine, theirs in pairs)
        return next(filter(None, differences), "")

    def _first_in(self, mine: _Part, theirs: _Part) -> str:
        one, other = mine[1], theirs[1]
        for names in self._generations.keys_of(one):
            for name in names:
                if is_about_pages(name):
                    continue
                # a second look, because data of a deleted account may just have been erased
                if not any(self._is_equal(name, mine, theirs) for _ in range(2)):
                    return name
            self._on_progress(self.keys)
        # all keys of `one` are equal; the other may have more
        for names in self._generations.keys_of(other):
            more = sorted(self._existing(other, names) - self._existing(one, names))
            if more:
                return more[0]
        return ""

    def _existing(self, bucket: Bucket, names: Sequence[str]) -> set[str]:
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.exists(bucket.key(name))
            found = zip(names, pipe.execute(), strict=True)
            return {name for name, is_there in found if is_there and not is_about_pages(name)}

    def _is_equal(self, name: str, mine: _Part, theirs: _Part) -> bool:
        self.keys += 1
        if self._paged and name == self._paged.rows:
            return self._same_rows(self._paged, mine[1].key(name), theirs[1].key(name))
        if self._lists and self._paged and self._paged.is_list(name):
            lists = ListKey(mine[1], name), ListKey(theirs[1], name)
            if any(map(self._lists.has_pages, lists)):
                return self._same_list(self._lists, mine, theirs, name)
        return self._same_key(mine[1].key(name), theirs[1].key(name))

    def _same_list(self, lists: PagedLists, mine: _Part, theirs: _Part, name: str) -> bool:
        """Return whether two lists have the same rows in the same order, in Redis or in pages."""
        walks = [
            lists.walk(generation, ListKey(bucket, name)) for generation, bucket in (mine, theirs)
        ]
        for number, (one, other) in enumerate(zip_longest(*walks)):
            if one != other:
                return False
            if number % _PAGE == 0:
                self._on_progress(self.keys)
        return True

    def _same_rows(self, paged: PagedRows, one: str, other: str) -> bool:
        """Return whether two hashes have the same rows, apart from final ones that are missing in one."""
        for here, there in ((one, other), (other, one)):
            for page in self._field_pages(here):
                rows = self._client.hmget(there, list(page))
                for row, found in zip(page.values(), rows, strict=True):
                    if row != found and not (found is None and paged.is_final(row)):
                        return False
        return True

    def _same_key(self, one: str, other: str) -> bool:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.type(one)
            pipe.type(other)
            kind, same = pipe.execute()
        if kind != same or kind == _MISSING:
            return bool(kind == same)
        if kind == b"hash":
            return self._same_fields(one, other)
        pages = self._pages(kind, one), self._pages(kind, other)
        return all(mine == theirs for mine, theirs in zip_longest(*pages))

    def _pages(self, kind: bytes, name: str) -> Iterator[Any]:
        """Return the contents of an ordered value, in pages."""
        if kind == b"string":
            yield self._client.get(name)
            return
        for start in range(0, 1 << 62, _PAGE):
            page = self._page(kind, name, start)
            yield page
            self._on_progress(self.keys)
            if len(page) < _PAGE:
                return

    def _page(self, kind: bytes, name: str, start: int) -> Sequence[Any]:
        end = start + _PAGE - 1
        if kind == b"zset":
            return list(self._client.zrange(name, start, end, withscores=True))
        if kind == b"list":
            return list(self._client.lrange(name, start, end))
        raise TypeError(f"{name} is a {kind.decode()}, which no projection keeps")

    def _same_fields(self, one: str, other: str) -> bool:
        """Return whether two hashes have the same fields; their order does not count."""
        if self._client.hlen(one) != self._client.hlen(other):
            return False
        return all(
            list(page.values()) == self._client.hmget(other, list(page))
            for page in self._field_pages(one)
        )

    def _field_pages(self, name: str) -> Iterable[dict[bytes, bytes]]:
        cursor = 0
        while True:
            cursor, page = self._client.hscan(name, cursor, count=_PAGE)
            if page:
                yield page
            self._on_progress(self.keys)
            if not cursor:
                return
