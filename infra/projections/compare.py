"""Compares a bucket with its data in memory, key by key, while it is fed.

Each part of a value is read together with the bucket's checkpoint, and the data in memory are brought up to that
checkpoint before the two are compared. So nothing has to stand still, and nothing is written. Values are read,
because a server's own serialisation (DUMP) depends on the history of a value. The keys about the feeding of a
bucket are left out: checkpoint, hold, failures.

In memory a list of finished matches is whole. On the server older rows are in row pages, and a row that no list
needs there may be missing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import redis

from infra.projections.buckets import Bucket, Checkpoint, decode
from infra.projections.erasure import is_erased
from infra.projections.generations import BusyError, Generation, Generations
from infra.projections.memory import MemoryBucket
from infra.projections.paged_lists import PagedRows, is_about_pages, pages_key
from infra.projections.paged_projections import paged_rows
from infra.projections.row_pages import NO_PAGES, RowPages, unpack_entry

_PAGE: Final = 1_000
_KEYS: Final = 100
"""Keys of which the beginnings are read together."""

_SCANS: Final = {b"hash": "HSCAN", b"zset": "ZSCAN"}
_READS: Final = {b"hash": "HMGET", b"zset": "ZMSCORE"}


class Comparison:
    """A comparison of a generation with its buckets in memory.

    `advance` brings a bucket in memory up to a checkpoint; `done` is called after each part with the number of
    compared keys. Lists of finished matches have `pages`. `Refusal` if a page can't be read, `BusyError` if the
    generation is replaced.
    """

    def __init__(
        self,
        client: redis.Redis,
        generations: Generations,
        live: Generation,
        memory: Sequence[MemoryBucket],
        advance: Callable[[int, Checkpoint], None],
        *,
        done: Callable[[int], None] = lambda _: None,
        pages: RowPages = NO_PAGES,
    ) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._generations = generations
        self._live = live
        self._buckets = memory
        self._advance = advance
        self._on_progress = done
        self._paged = paged_rows(live.name)
        self._pages = pages
        self.keys = 0
        """Compared keys."""

    def first_difference(self) -> str:
        """Return the first key that differs, without its generation; empty if all are equal."""
        return next(filter(None, map(self._first_in, self._live.all)), "")

    def _first_in(self, bucket: Bucket) -> str:
        seen: set[str] = set()
        for names in self._generations.keys_of(bucket):
            seen.update(names)
            if found := self._first_of(bucket, names):
                return found
        # a key that is gone may be in the set of keys no longer
        mine = self._buckets[bucket.number]
        return self._first_of(bucket, [name for name in mine.names() if name not in seen])

    def _first_of(self, bucket: Bucket, names: Sequence[str]) -> str:
        wanted = [name for name in names if not is_about_pages(name)]
        for start in range(0, len(wanted), _KEYS):
            some = wanted[start : start + _KEYS]
            for name in self._unsettled(bucket, some):
                # a second look, because data of a deleted account may just have been erased
                if not any(self._is_equal(bucket, name) for _ in range(2)):
                    return name
            self.keys += len(some)
            self._on_progress(self.keys)
        return ""

    def _read(self, bucket: Bucket, *commands: Sequence[Any]) -> list[Any]:
        """Return the replies to commands on keys of a bucket, and have its data in memory of the same moment."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.get(bucket.checkpoint_key)
            for command, name, *words in commands:
                pipe.execute_command(command, bucket.key(name), *words)
            replies: list[Any] = pipe.execute()
        checkpoint, *found = replies
        if checkpoint is None:
            raise BusyError(f"{bucket.name} were replaced meanwhile; try again")
        self._advance(bucket.number, decode(checkpoint))
        return found

    def _unsettled(self, bucket: Bucket, names: Sequence[str]) -> list[str]:
        """Return those of some keys that are too large to be compared by one read, or seem to differ."""
        kinds = self._read(bucket, *(("TYPE", name) for name in names))
        found = self._read(bucket, *map(_beginning, names, kinds))
        mine = self._buckets[bucket.number]
        return [
            name
            for name, kind, reply in zip(names, kinds, found, strict=True)
            if not _is_all(mine, name, kind, reply)
        ]

    def _is_equal(self, bucket: Bucket, name: str) -> bool:
        (kind,) = self._read(bucket, ("TYPE", name))
        mine = self._buckets[bucket.number]
        if kind == b"none":
            spec = self._generations.spec
            return not mine.has(name) or is_erased(self._client, spec, name)
        if kind == b"list":
            return self._same_list(bucket, name)
        if kind not in _SCANS:  # which no projection keeps
            return False
        seen: set[bytes] = set()
        for found in self._parts(bucket, name, _SCANS[kind]):
            here = mine.members(name)
            if any(here.get(one) != value for one, value in found.items()):
                return False
            seen.update(found)
            self._on_progress(self.keys)
        if self._paged and self._paged.is_list(name):
            for found in self._paged_parts(self._paged, bucket, name):
                here = mine.members(name)
                if any(here.get(one) != value for one, value in found.items()):
                    return False
                seen.update(found)
        return self._has_others(bucket, name, _READS[kind], seen)

    def _same_list(self, bucket: Bucket, name: str) -> bool:
        for start in range(0, 1 << 62, _PAGE):
            (found,) = self._read(bucket, ("LRANGE", name, start, start + _PAGE - 1))
            mine = self._buckets[bucket.number].lists.get(name, [])
            if found != mine[start : start + _PAGE]:
                return False
            self._on_progress(self.keys)
            if len(found) < _PAGE:
                return True
        raise AssertionError("unreachable")

    def _parts(self, bucket: Bucket, name: str, scan: str) -> Iterator[dict[bytes, Any]]:
        cursor = None
        while cursor != 0:
            ((cursor, found),) = self._read(bucket, (scan, name, cursor or 0, "COUNT", _PAGE))
            yield dict(found)

    def _paged_parts(
        self, paged: PagedRows, bucket: Bucket, name: str
    ) -> Iterator[dict[bytes, float | None]]:
        """Return the members of each row page of a list with their scores; without a score if a row is another."""
        entries: list[bytes] = []
        while True:
            more = pages_key(name), len(entries), len(entries) + _PAGE - 1
            (found,) = self._read(bucket, ("LRANGE", *more))
            entries += found
            if len(found) < _PAGE:
                break
        for entry in map(unpack_entry, entries):
            members: dict[bytes, float | None] = {}
            for row in self._pages.read(bucket.name, bucket.generation, entry):
                board = paged.board_of(row.member)
                place = paged.row_bucket(self._live, bucket, board).number
                known = self._buckets[place].members(paged.rows).get(b"%d" % board)
                members[row.member] = row.at if known == row.row else None
            yield members
            self._on_progress(self.keys)

    def _has_others(self, bucket: Bucket, name: str, read: str, seen: set[bytes]) -> bool:
        """Return whether the bucket has what is in memory besides what was seen, if it needs to."""
        others = [one for one in self._buckets[bucket.number].members(name) if one not in seen]
        for start in range(0, len(others), _PAGE):
            some = others[start : start + _PAGE]
            (found,) = self._read(bucket, (read, name, *some))
            here = self._buckets[bucket.number].members(name)
            pairs = [(here.get(one), value) for one, value in zip(some, found, strict=True)]
            missing = [row for row, value in pairs if value is None and row is not None]
            if any(row != value for row, value in pairs if value is not None):
                return False
            if missing and not self._may_miss(bucket, name, missing):
                return False
        return True

    def _may_miss(self, bucket: Bucket, name: str, rows: Iterable[Any]) -> bool:
        """Return whether these are rows that no list in Redis needs."""
        paged = self._paged
        if paged is None or name != paged.rows:
            return False
        with self._client.pipeline(transaction=False) as pipe:
            for row in rows:
                if not paged.is_final(row):
                    return False
                for holder in paged.holders(self._live, row):
                    for one, member in holder.lists if holder.bucket == bucket else ():
                        pipe.zscore(one.bucket.key(one.name), member)
            return all(score is None for score in pipe.execute())


def _beginning(name: str, kind: bytes) -> Sequence[Any]:
    """Return the command that reads the beginning of a value."""
    if kind in _SCANS:
        return _SCANS[kind], name, 0, "COUNT", _KEYS
    return ("LRANGE", name, 0, _KEYS) if kind == b"list" else ("TYPE", name)


def _is_all(mine: MemoryBucket, name: str, kind: bytes, reply: Any) -> bool:
    """Return whether the reply to `_beginning` has all that is in memory, and nothing else."""
    if kind in _SCANS:
        cursor, found = reply
        return not cursor and dict(found) == mine.members(name)
    if kind == b"list":
        return bool(reply == mine.lists.get(name))
    return kind == reply == b"none" and not mine.has(name)
