"""Takes the rows of matches in the archive out of Redis: their directory pages have all that lists show.

The rows of a page's matches go together, after the places of their lists were packed where there are enough. Killed in
between, the rows are still there, and say what is left to do. So rows of matches in the archive are leftovers: of a run
that was killed, or of a rebuild, which makes all rows again.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import redis

from domain.tournament.state import Phase
from infra.archive.store import boards_in_archive
from infra.process.failpoints import failpoint
from infra.projections.archived_places import ArchivedPlaces, ListKey
from infra.projections.buckets import HISTORY, TOURNAMENTS, Spec
from infra.projections.finished_matches import ROWS, lists_of, unpack
from infra.projections.generations import Generation, Generations
from infra.projections.tournaments import LISTS_OF_PHASES
from infra.redis import keys

_LOOKED_AT: Final = 256
"""Rows that are looked at together."""


def has_leftovers(client: redis.Redis, shards: int) -> bool:
    """Return whether Redis has more rows of finished matches than finished matches."""
    generation = _live(client, HISTORY)
    if generation is None:
        return False
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        for bucket in generation.all:
            pipe.hlen(bucket.key(ROWS))
        for shard in range(shards):
            pipe.zcard(keys.ended(shard))
        found = pipe.execute()
    rows, ended = found[: generation.buckets], found[generation.buckets :]
    return bool(sum(rows) > sum(ended) - _ended_tournaments(client, shards))


def _ended_tournaments(client: redis.Redis, shards: int) -> int:
    """Count the tournaments that are over and in Redis, as far as their projection has read."""
    generation = _live(client, TOURNAMENTS)
    if generation is None:
        return 0
    pipe: Any
    with client.pipeline(transaction=False) as pipe:
        for bucket in generation.all:
            pipe.zrange(bucket.key(LISTS_OF_PHASES[Phase.CONFIRMED]), 0, -1)
        numbers = [int(one) for page in pipe.execute() for one in page]
    return len(numbers) - len(boards_in_archive(client, shards, numbers))


class ArchivedRows:
    """The rows of finished matches in the generation that is read. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, shards: int) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._shards = shards
        self._in_archive = partial(boards_in_archive, client, shards)
        self._places = ArchivedPlaces(client, self._in_archive)
        self._leftovers: Iterator[int] | None = None

    def take(self, boards: Sequence[int]) -> int:
        """Take out the rows of matches that are in the archive; return how many went."""
        generation = _live(self._client, HISTORY)
        if generation is None or not boards:
            return 0
        groups: dict[str, list[int]] = {}
        for board in boards:
            groups.setdefault(generation.of(board).key(ROWS), []).append(board)
        with self._client.pipeline(transaction=False) as pipe:
            for key, some in groups.items():
                pipe.hmget(key, some)
            rows = [unpack(row) for found in pipe.execute() for row in found if row is not None]
        self._places.pack(
            ListKey(generation.of(owner), name)
            for row in rows
            for owner, name in lists_of(row.game, row.seats)
        )
        failpoint("retire.listed")
        with self._client.pipeline(transaction=False) as pipe:
            for key, some in groups.items():
                pipe.hdel(key, *some)
            return sum(pipe.execute())

    def take_leftovers(self) -> int | None:
        """Take out some leftovers; return how many went, None at the end."""
        if self._leftovers is None:
            self._leftovers = self._all_leftovers()
        return next(self._leftovers, None)

    def _all_leftovers(self) -> Iterator[int]:
        """Take them out, wherever they are among all rows."""
        generation = _live(self._client, HISTORY)
        if generation is None or not has_leftovers(self._client, self._shards):
            return
        for bucket in generation.all:
            cursor = 0
            while True:
                cursor, rows = self._client.hscan(bucket.key(ROWS), cursor, count=_LOOKED_AT)
                found = self._in_archive([int(board) for board in rows])
                yield self.take(sorted(found))
                if not cursor:
                    break


def _live(client: redis.Redis, spec: Spec) -> Generation | None:
    """Return the generation of this program's version; None if there is none."""
    live = Generations(client, spec).live()
    return live[1] if live is not None and live[0] == spec.version else None
