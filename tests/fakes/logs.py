"""A store of which only the logs are there, filled by hand: any event, any time, any order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import cast

from domain.match.events import Event
from domain.match.history import NO_HASH, AnchorLeaf, EventEnvelope, RefusedLeaf, encode_event
from domain.records import SCHEMA
from infra.redis.keys import shard_of
from infra.store.layout import Layout
from infra.store.log_streams import MOST_NEXT, NextLeaves
from infra.store.port import Store, Watermark

COMMAND = b"c" * 16
REFUSAL = encode_event(RefusedLeaf(SCHEMA, 1, 1, COMMAND, b"account.", "illegal-move", "a1", None))
ANCHOR = encode_event(AnchorLeaf(SCHEMA, 0, 1, bytes(32)))


class Logs:
    """The logs of four shards; `mark` is the time up to which they are complete."""

    def __init__(self, shards: int = 4) -> None:
        self.mark = 1 << 50
        self.shown = 1 << 50
        """How many leaves of each log there are to be seen."""
        self._shards = shards
        self._logs: dict[int, list[bytes]] = defaultdict(list)
        self._events: dict[int, list[bytes]] = defaultdict(list)

    @property
    def store(self) -> Store:
        return cast("Store", self)

    def add(self, board: int, at: int, actor: bytes, *bodies: Event) -> None:
        for body in bodies:
            seq = len(self._events[board]) + 1
            data = encode_event(
                EventEnvelope(SCHEMA, board, seq, at, COMMAND, actor, NO_HASH, body)
            )
            self._events[board].append(data)
            self.add_leaf(shard_of(board, self._shards), data)

    def add_leaf(self, shard: int, leaf: bytes) -> None:
        self._logs[shard].append(leaf)

    def replace(self, shard: int, index: int, leaf: bytes) -> bytes:
        old, self._logs[shard][index] = self._logs[shard][index], leaf
        return old

    def layout(self) -> Layout:
        return Layout(self._shards, 1)

    @property
    def shards(self) -> int:
        return self._shards

    def shard_of(self, board: int) -> int:
        return shard_of(board, self._shards)

    def events(self, board: int) -> list[bytes]:
        return list(self._events[board])

    def first_events(self, boards: Sequence[int]) -> list[bytes | None]:
        return [next(iter(self._events[board]), None) for board in boards]

    def snapshots(self, boards: Sequence[int]) -> list[bytes | None]:
        return [None for _ in boards]

    def leaves(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        end = min(self._end(shard), start + count)
        return list(enumerate(self._logs[shard][start:end], start))

    def are_durable(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        del leaves
        return True

    def next_leaves(self, starts: Mapping[int, int]) -> NextLeaves:
        found = {shard: self.leaves(shard, one, MOST_NEXT) for shard, one in starts.items()}
        return {shard: rows for shard, rows in found.items() if rows}

    def watermark(self, beyond: int = 0) -> Watermark:
        del beyond
        return Watermark(self.mark, tuple(map(self._end, range(self._shards))))

    def _end(self, shard: int) -> int:
        return min(self.shown, len(self._logs[shard]))
