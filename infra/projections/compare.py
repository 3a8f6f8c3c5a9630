"""Compares a bucket with its data in memory, key by key, while it is fed.

Each part of a value is read together with the bucket's checkpoint, and the data in memory are brought up to that
checkpoint before the two are compared. So nothing has to stand still, and nothing is written. Values are read,
because a server's own serialisation (DUMP) depends on the history of a value. The keys about the feeding of a
bucket are left out: checkpoint, hold, failures.

In memory a list of finished matches is whole, and there is a row of each. On the server the places of matches in the
archive are packed, and their rows are in its directory pages.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import redis

from infra.projections.archived_places import (
    ARCHIVED_HEAD,
    Place,
    archived_key,
    is_archived_key,
    unpack_places,
)
from infra.projections.buckets import HISTORY, Bucket, Checkpoint, decode
from infra.projections.erasure import is_erased
from infra.projections.finished_matches import (
    ROWS,
    Entries,
    is_list,
    no_entries,
    row_of_entry,
    unpack,
)
from infra.projections.generations import BusyError, Generation, Generations
from infra.projections.memory import MemoryBucket

_PAGE: Final = 1_000
_KEYS: Final = 100
"""Keys of which the beginnings are read together."""

_SCANS: Final = {b"hash": "HSCAN", b"zset": "ZSCAN"}
_READS: Final = {b"hash": "HMGET", b"zset": "ZMSCORE"}


class Comparison:
    """A comparison of a generation with its buckets in memory.

    `advance` brings a bucket in memory up to a checkpoint; `done` is called after each part with the number of
    compared keys. Rows of finished matches that are not on the server are compared with the archive's `entries`.
    `Refusal` if the archive can't be read, `BusyError` if the generation is replaced.
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
        entries: Entries = no_entries,
    ) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._generations = generations
        self._live = live
        self._buckets = memory
        self._advance = advance
        self._on_progress = done
        self._is_history = live.name == HISTORY.name
        self._entries = entries
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
        wanted = [name for name in names if not is_archived_key(name)]
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
        if kind == b"none":
            spec, mine = self._generations.spec, self._buckets[bucket.number]
            if not mine.has(name) or is_erased(self._client, spec, name):
                return True
            # all of it may be archived
            kind = b"hash" if name == ROWS else b"zset"
            return self._is_history and self._has_same(bucket, name, kind)
        if kind == b"list":
            return self._same_list(bucket, name)
        # others no projection keeps
        return kind in _SCANS and self._has_same(bucket, name, kind)

    def _has_same(self, bucket: Bucket, name: str, kind: bytes) -> bool:
        """Return whether a hash or a sorted set has the same as in memory."""
        mine = self._buckets[bucket.number]
        seen: set[bytes] = set()
        for found in self._parts(bucket, name, _SCANS[kind]):
            here = mine.members(name)
            if any(here.get(one) != value for one, value in found.items()):
                return False
            seen.update(found)
            self._on_progress(self.keys)
        if self._is_history and is_list(name):
            # after the sorted set, because a place that is archived meanwhile is found here then
            for places in self._archived(bucket, archived_key(name)):
                here = mine.members(name)
                if not places or any(here.get(member) != at for at, member in places):
                    return False
                members = {member for _, member in places}
                if self._are_in_both(bucket, name, members & seen):
                    return False
                seen.update(members)
                self._on_progress(self.keys)
        return self._has_others(bucket, name, _READS[kind], seen)

    def _are_in_both(self, bucket: Bucket, name: str, archived: Collection[bytes]) -> bool:
        """Return whether some archived members are still in the sorted set in which they were seen."""
        if not archived:
            return False
        (scores,) = self._read(bucket, ("ZMSCORE", name, *archived))
        return any(score is not None for score in scores)

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
            if missing and not (self._is_history and name == ROWS and self._are_archived(missing)):
                return False
        return True

    def _archived(self, bucket: Bucket, name: str) -> Iterator[list[Place]]:
        """Yield the archived places of a list by chunk; an empty chunk where they are not as they must be."""
        before, number, left, last = None, 0, 0, (0, b"")
        while True:
            found, size = self._read(
                bucket, ("HMGET", name, *ARCHIVED_HEAD, number), ("HLEN", name)
            )
            *head, data = found
            if head != before:  # others were archived meanwhile
                before, number, left, last = head, 0, int(head[0] or 0), (0, b"")
                continue
            if not left:
                if (size, last[0]) != (number + len(head), int(head[1])) if size else number:
                    yield []
                return
            places = [] if data is None else unpack_places(data)
            if [last, *places] != sorted({last, *places}) or len(places) > left:
                places = []
            yield places
            number, left, last = number + 1, left - len(places), places[-1]

    def _are_archived(self, rows: Sequence[bytes]) -> bool:
        """Return whether the archive has the matches of these rows, and says the same of them."""
        wanted = list(map(unpack, rows))
        entries = self._entries([row.board for row in wanted])
        return all(
            entry is not None and row_of_entry(entry, row.at) == row
            for entry, row in zip(entries, wanted, strict=True)
        )


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
