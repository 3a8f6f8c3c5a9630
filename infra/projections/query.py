"""Base of the queries of projections, which read the live generation."""

import time
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, ClassVar, Final

import redis

from infra.projections.buckets import Bucket
from infra.projections.generations import Generation, parse_pointer
from infra.projections.specs import Spec
from infra.redis import keys

_PAGE: Final = 500

_LIVE_SECONDS: Final = 1.0
"""A page makes many queries within this time."""


class Query:
    """Reads one projection. Errors of the server pass through.

    Without a live generation all results are empty. `LookupError`, with a sentence, while the data
    are of another version than this program's, until the projection worker has rebuilt them.
    """

    spec: ClassVar[Spec]

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._live: tuple[float, Generation] | None = None
        """When the live generation was read, by the monotonic clock, and which it was."""

    def _generation(self) -> Generation:
        """Return the live generation; an empty one if there is none.

        Read again after `_LIVE_SECONDS`: a replaced generation expires later than that.
        """
        if self._live and time.monotonic() - self._live[0] < _LIVE_SECONDS:
            return self._live[1]
        name = self.spec.name
        found = parse_pointer(name, self._client.get(keys.projection(name, "live")))
        if found is None:
            return Generation(name, 0, 1)
        version, generation = found
        if version != self.spec.version:
            raise LookupError(
                f"the projection `{name}` has version {version} and is being rebuilt for this server, "
                f"which reads version {self.spec.version}; try again later"
            )
        self._live = time.monotonic(), generation
        return generation

    def _fields(self, key: str, fields: Iterable[Any]) -> list[bytes | None]:
        """Return fields of a hash, None for missing ones."""
        wanted = list(fields)
        return list(self._client.hmget(key, wanted)) if wanted else []

    def _rows(self, generation: Generation, key: str, boards: Iterable[int]) -> list[bytes | None]:
        """Return fields, by board, of a hash that each bucket has of its own boards."""
        wanted = list(boards)
        groups = self._by_bucket(generation, wanted)
        with self._client.pipeline(transaction=False) as pipe:
            for bucket, some in groups.items():
                pipe.hmget(bucket.key(key), some)
            pages = zip(groups.values(), pipe.execute(), strict=True)
            found = {board: row for some, page in pages for board, row in zip(some, page)}  # noqa: B905 - of one length
        return [found[board] for board in wanted]

    @staticmethod
    def _by_bucket(generation: Generation, boards: Iterable[int]) -> dict[Bucket, list[int]]:
        """Return the buckets of boards, each with its own."""
        groups: dict[Bucket, list[int]] = {}
        for board in boards:
            groups.setdefault(generation.of(board), []).append(board)
        return groups

    def _count(self, generation: Generation, key: str) -> int:
        """Return the number of members of a sorted set of which each bucket has a part."""
        with self._client.pipeline(transaction=False) as pipe:
            for bucket in generation.all:
                pipe.zcard(bucket.key(key))
            return sum(map(int, pipe.execute()))

    def _members(self, key: str, *, newest: bool) -> Iterator[bytes]:
        """Return the members of a sorted set, read in pages as they are asked for."""
        return (member for _, member in self._scored(key, newest=newest))

    def _merged(self, generation: Generation, key: str) -> Iterator[bytes]:
        """Return the members of a sorted set of which each bucket has a part, the greatest first."""
        parts: Sequence[Iterator[tuple[float, bytes]]] = [
            self._scored(bucket.key(key), newest=True) for bucket in generation.all
        ]
        return (member for _, member in merge(*parts, reverse=True))

    def _scored(self, key: str, *, newest: bool) -> Iterator[tuple[float, bytes]]:
        """Return score and member of each in a sorted set, read in pages."""
        for start in range(0, 1 << 62, _PAGE):
            end = start + _PAGE - 1
            page = self._client.zrange(key, start, end, desc=newest, withscores=True)
            yield from ((score, member) for member, score in page)
            if len(page) < _PAGE:
                return
