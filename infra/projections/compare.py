"""Compares two generations of a projection, bucket by bucket and key by key.

Values are read, because a server's own serialisation (DUMP) depends on the history of a value. The keys
of a bucket are those in its set of keys. Those about its feeding are left out: checkpoint, hold, failures.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

import redis

from infra.projections.buckets import Bucket
from infra.projections.generations import Generation, Generations

_PAGE: Final = 1_000
_MISSING: Final = b"none"


class Comparison:
    """A comparison; `done` is called after each page with the number of compared keys."""

    def __init__(
        self,
        client: redis.Redis,
        generations: Generations,
        done: Callable[[int], None] = lambda _: None,
    ) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._generations = generations
        self._on_progress = done
        self.keys = 0
        """Compared keys."""

    def first_difference(self, one: Generation, other: Generation) -> str:
        """Return the first key that differs, without its generation; empty if all are equal.

        Both have the same number of buckets.
        """
        pairs = zip(one.all, other.all, strict=True)
        return next(filter(None, (self._first_in(mine, theirs) for mine, theirs in pairs)), "")

    def _first_in(self, one: Bucket, other: Bucket) -> str:
        for names in self._generations.keys_of(one):
            for name in names:
                # a second look, because data of a deleted account may just have been erased
                if not any(self._is_equal(one.key(name), other.key(name)) for _ in range(2)):
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
            return {name for name, found in zip(names, pipe.execute(), strict=True) if found}

    def _is_equal(self, one: str, other: str) -> bool:
        self.keys += 1
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
