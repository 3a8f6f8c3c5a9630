"""A bucket's data in memory: what the server would have after the same writes, for a check that writes nothing."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Any

from infra.projections.buckets import Arg, RedisRead, RedisWrite


class MemoryBucket:
    """The data of a bucket, by the names of its keys."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[bytes, bytes]] = {}
        self.sorted_sets: dict[str, dict[bytes, float]] = {}
        self.lists: dict[str, list[bytes]] = {}

    def names(self) -> Iterator[str]:
        """Return the names of the keys that have data."""
        for some in (self.hashes, self.sorted_sets, self.lists):
            yield from (name for name, found in some.items() if found)

    def has(self, name: str) -> bool:
        """Return whether a key has data."""
        return bool(self.members(name) or self.lists.get(name))

    def members(self, name: str) -> dict[bytes, Any]:
        """Return the fields and values of a hash, or the members and scores of a sorted set."""
        return self.sorted_sets.get(name) or self.hashes.get(name, {})

    def ordered(self, name: str) -> list[tuple[float, bytes]]:
        """Return the scores and members of a sorted set in their order."""
        return sorted((score, member) for member, score in self.sorted_sets.get(name, {}).items())

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
                least = float(str(words[0]).lstrip("("))
                later = [pair for pair in self.members(key).items() if pair[1] > least]
                return [member for member, _ in sorted(later, key=lambda one: one[::-1])]
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
                rows = self.sorted_sets.setdefault(name, {})
                for score, member in zip(words[::2], words[1::2], strict=True):
                    rows[_bytes(member)] = float(score)
            case "ZREM":
                for member in words:
                    self.sorted_sets.get(name, {}).pop(_bytes(member), None)
            case "ZINCRBY":
                rows, member = self.sorted_sets.setdefault(name, {}), _bytes(words[1])
                rows[member] = rows.get(member, 0.0) + float(words[0])
            case "ZREMRANGEBYRANK":
                rows = self.sorted_sets.get(name, {})
                over = len(rows) + int(words[1]) + 1  # from the first one, up to one before the end
                for member in nsmallest(max(0, over), rows, key=lambda one: (rows[one], one)):
                    del rows[member]
            case "RPUSH":
                self.lists.setdefault(name, []).extend(map(_bytes, words))
            case _:
                raise ValueError(f"no projection writes by {command}")


def _bytes(word: Arg) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()
