"""Takes the rows of matches in the archive out of Redis: their directory pages have all that lists show.

The places of a match in its lists are packed first, and its row goes last. Killed in between, the row is still there,
and says what is left to do. So rows of matches in the archive are leftovers: of a run that was killed, or of a rebuild,
which makes all rows again.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final

import redis

from infra.archive.store import boards_in_archive
from infra.process.failpoints import failpoint
from infra.projections.archived_places import ArchivedPlaces, ListKey
from infra.projections.buckets import HISTORY
from infra.projections.finished_matches import ROWS, is_list_of_game, lists_of, unpack
from infra.projections.generations import Generation, Generations
from infra.redis import keys

_LOOKED_AT: Final = 256
"""Matches of a list that are looked at together."""


def has_leftovers(client: redis.Redis, shards: int) -> bool:
    """Return whether Redis has more rows of finished matches than finished matches."""
    generation = _live(client)
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
    return bool(sum(rows) > sum(ended))


class ArchivedRows:
    """The rows of finished matches in the generation that is read. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, shards: int) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._shards = shards
        self._places = ArchivedPlaces(client)
        self._leftovers: Iterator[int] | None = None

    def take(self, boards: Sequence[int]) -> int:
        """Take out the rows of matches that are in the archive; return how many went.

        Those stay whose place has too many older ones before it, or whose list is replaced now.
        """
        generation = _live(self._client)
        if generation is None:
            return 0
        groups: dict[str, list[int]] = {}
        for board in boards:
            groups.setdefault(generation.of(board).key(ROWS), []).append(board)
        with self._client.pipeline(transaction=False) as pipe:
            for key, some in groups.items():
                pipe.hmget(key, some)
            rows = [unpack(row) for found in pipe.execute() for row in found if row is not None]
        lists: dict[ListKey, list[int]] = {}
        for row in rows:
            for owner, name in lists_of(row.game, row.seats):
                lists.setdefault(ListKey(generation.of(owner), name), []).append(row.board)
        staying: set[int] = set()
        for one, some in lists.items():
            if not self._places.move(one, [b"%d" % board for board in some]):
                staying.update(some)
        failpoint("retire.listed")
        gone = [row.board for row in rows if row.board not in staying]
        with self._client.pipeline(transaction=False) as pipe:
            for board in gone:
                pipe.hdel(generation.of(board).key(ROWS), board)
            pipe.execute()
        return len(gone)

    def take_leftovers(self) -> int | None:
        """Take out some leftovers, the oldest first; return how many went, None at the end."""
        if self._leftovers is None:
            self._leftovers = self._all_leftovers()
        return next(self._leftovers, None)

    def _all_leftovers(self) -> Iterator[int]:
        """Take them out up to as many matches together of which none is in the archive."""
        generation = _live(self._client)
        if generation is None or not has_leftovers(self._client, self._shards):
            return
        generations = Generations(self._client, HISTORY)
        kept = {
            bucket.key(name): 0
            for bucket in generation.all
            for names in generations.keys_of(bucket)
            for name in filter(is_list_of_game, names)
        }
        while members := self._oldest(kept):
            found = boards_in_archive(self._client, self._shards, list(members))
            if not found:
                return
            gone = self.take(sorted(found))
            left = self._present([(key, board) for board, key in members.items()])
            for key, _ in left:
                kept[key] += 1
            yield gone

    def _oldest(self, kept: Mapping[str, int]) -> dict[int, str]:
        """Return the oldest boards of the lists together, each with its list, after those that are kept in each."""
        with self._client.pipeline(transaction=False) as pipe:
            for key, start in kept.items():
                pipe.zrange(key, start, start + _LOOKED_AT - 1, withscores=True)
            found = pipe.execute()
        parts = [
            [(at, int(member), key) for member, at in some]
            for key, some in zip(kept, found, strict=True)
        ]
        return {board: key for _, board, key in islice(merge(*parts), _LOOKED_AT)}

    def _present(self, places: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return those of some lists and boards of which the list still has the board."""
        with self._client.pipeline(transaction=False) as pipe:
            for key, board in places:
                pipe.zscore(key, board)
            scores = pipe.execute()
        return [place for place, score in zip(places, scores, strict=True) if score is not None]


def _live(client: redis.Redis) -> Generation | None:
    """Return the generation of this program's version; None if there is none."""
    live = Generations(client, HISTORY).live()
    return live[1] if live is not None and live[0] == HISTORY.version else None
