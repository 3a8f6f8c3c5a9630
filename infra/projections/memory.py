"""A bucket's data in memory: what the server would have after the same writes, for a check that writes nothing."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from infra.projections.buckets import Arg, RedisRead, RedisWrite

_LAST = b"\xff" * 64
"""Comes after every member of a sorted set."""


class MemorySortedSet:
    """A sorted set; its order is kept from the first read in order on."""

    def __init__(self) -> None:
        self.scores: dict[bytes, float] = {}
        self._ordered: list[tuple[float, bytes]] | None = None

    def put(self, member: bytes, score: float) -> None:
        """Set the score of a member."""
        self.drop(member)
        self.scores[member] = score
        if self._ordered is not None:
            insort(self._ordered, (score, member))

    def drop(self, member: bytes) -> None:
        """Remove a member, if it is there."""
        score = self.scores.pop(member, None)
        if score is not None and self._ordered is not None:
            del self._ordered[bisect_left(self._ordered, (score, member))]

    def ordered(self) -> list[tuple[float, bytes]]:
        """Return all scores and members in their order."""
        if self._ordered is None:
            self._ordered = sorted((score, member) for member, score in self.scores.items())
        return self._ordered

    def above(self, score: float) -> list[bytes]:
        """Return the members with a greater score, in their order."""
        rows = self.ordered()
        return [member for _, member in rows[bisect_right(rows, (score, _LAST)) :]]


class MemoryBucket:
    """The data of a bucket, by the names of its keys."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[bytes, bytes]] = {}
        self.sorted_sets: dict[str, MemorySortedSet] = {}
        self.lists: dict[str, list[bytes]] = {}

    def names(self) -> Iterator[str]:
        """Return the names of the keys that have data."""
        for some in (self.hashes, self.lists):
            yield from (name for name, found in some.items() if found)
        yield from (name for name, found in self.sorted_sets.items() if found.scores)

    def has(self, name: str) -> bool:
        """Return whether a key has data."""
        return bool(self.members(name) or self.lists.get(name))

    def members(self, name: str) -> dict[bytes, Any]:
        """Return the fields and values of a hash, or the members and scores of a sorted set."""
        found = self.sorted_sets.get(name)
        return found.scores if found else self.hashes.get(name, {})

    def ordered(self, name: str) -> list[tuple[float, bytes]]:
        """Return the scores and members of a sorted set in their order."""
        return self._sorted_set(name).ordered()

    def read(self, wanted: RedisRead) -> Any:
        """Return the reply to one of the reads that projections need."""
        command, name, *words = wanted
        key = str(name)
        match command:
            case "HMGET":
                found = self.hashes.get(key, {})
                return [found.get(_bytes(field)) for field in words]
            case "LRANGE":
                return self.lists.get(key, [])
            case "ZRANGE":
                rows = self.ordered(key)
                return [member for _, member in rows[int(words[0]) : int(words[1]) + 1]]
            case "ZRANGEBYSCORE":  # from a score, exclusive, on
                return self._sorted_set(key).above(float(str(words[0]).lstrip("(")))
        raise ValueError(f"no projection reads by {command!r}")

    def write(self, writes: Iterable[RedisWrite]) -> None:
        """Carry out writes of projections."""
        for command, name, *words in writes:
            self._write(str(command), str(name), words)

    def _write(  # noqa: C901, PLR0912 - one case a command
        self, command: str, name: str, words: Sequence[Arg]
    ) -> None:
        match command:
            case "HSET":
                fields = self.hashes.setdefault(name, {})
                fields.update(
                    (_bytes(one), _bytes(value))
                    for one, value in zip(words[::2], words[1::2], strict=True)
                )
            case "HDEL":
                for field in words:
                    self.hashes.get(name, {}).pop(_bytes(field), None)
            case "HINCRBY":
                fields, field = self.hashes.setdefault(name, {}), _bytes(words[0])
                fields[field] = _bytes(int(fields.get(field, 0)) + int(words[1]))
            case "ZADD":
                for score, member in zip(words[::2], words[1::2], strict=True):
                    self._sorted_set(name).put(_bytes(member), float(score))
            case "ZREM":
                for member in words:
                    self._sorted_set(name).drop(_bytes(member))
            case "ZINCRBY":
                member, rows = _bytes(words[1]), self._sorted_set(name)
                rows.put(member, rows.scores.get(member, 0.0) + float(words[0]))
            case "ZREMRANGEBYRANK":
                rows = self._sorted_set(name)
                for _, member in rows.ordered()[int(words[0]) : int(words[1]) + 1 or None]:
                    rows.drop(member)
            case "RPUSH":
                self.lists.setdefault(name, []).extend(map(_bytes, words))
            case _:
                raise ValueError(f"no projection writes by {command}")

    def _sorted_set(self, name: str) -> MemorySortedSet:
        return self.sorted_sets.setdefault(name, MemorySortedSet())


def _bytes(word: Arg) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()
