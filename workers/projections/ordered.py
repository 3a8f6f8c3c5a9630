"""Projections whose result depends on the order of events of different matches.

The events of all shards are folded in the order of (time, board, seq). The log of a shard is not in that
order, so an event is first buffered, in the projection itself. Once all shards are read up to the ends of
a watermark, everything older than the watermark's time is in the buffer, nothing older can come any more,
and what is older is folded.

The time of an event, for this, is the least of its own and those of the events after it in its shard's
log, because it happened before them. With a clock that runs forwards that is its own time. If a clock ran
ahead and was put right, the events of the meantime are ordered before the first event after them, and do
not wait until the clock gets there again. The same logs always give the same order.

Only after a clock was set back can an event arrive that belongs before one that is folded already. The
checkpoint then says `late`, and the projection is rebuilt.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from infra.projections.pending import PENDING, Due, pending_of
from infra.projections.shelf import Checkpoint, Read, Write
from workers.projections.projection import Fact, Projection


class OrderedProjection(Projection):
    """Buffers facts as they are read, and folds them when their turn has come."""

    @abstractmethod
    def told(self, fact: Fact) -> str | None:
        """Return what to buffer of a fact; None if it does not matter."""

    @abstractmethod
    def due_needs(self, due: Sequence[Due]) -> Sequence[Read]:
        """Return the reads that folding these needs."""

    @abstractmethod
    def due_fold(self, due: Sequence[Due], found: Sequence[Any]) -> Sequence[Write]:
        """Return the writes for these, in their order."""

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Return the reads of what is buffered of the same logs with a later time than some of these."""
        return [
            ("ZRANGEBYSCORE", pending_of(shard), f"({_least(some)}", "+inf")
            for shard, some in _by_shard(facts).items()
        ]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Buffer the facts, and reorder what is buffered with too late a time."""
        writes: list[Write] = []
        for (shard, some), later in zip(_by_shard(facts).items(), found, strict=True):
            places = [(_least(some), member) for member in later]
            places += [(due.place[0], due.member) for due in self._buffered(some)]
            for at, member in places:
                writes += [("ZADD", key, at, member) for key in (PENDING, pending_of(shard))]
        return writes

    def _buffered(self, facts: Sequence[Fact]) -> list[Due]:
        """Return what to buffer of some facts of one log, the last first."""
        found = []
        least = _least(facts[-1:])
        for fact in reversed(facts):
            at, board, seq = fact.place
            least = min(least, at)
            text = self.told(fact)
            if text is not None:
                found.append(Due((least, board, seq), text))
        return found

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact]) -> Checkpoint:
        """Return the checkpoint, `late` if a fact belongs before what is folded, or moves it."""
        buffered = [due for some in _by_shard(facts).values() for due in self._buffered(some)]
        late = any(fact.place[0] < checkpoint.last[0] for fact in facts)
        if late or any(due.place <= checkpoint.last for due in buffered):
            return msgspec.structs.replace(checkpoint, late=True)
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Return whether anything is buffered."""
        return any(self.told(fact) is not None for fact in facts)


def _by_shard(facts: Sequence[Fact]) -> dict[int, list[Fact]]:
    """Return the facts of each shard, in the order of its log."""
    found: dict[int, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.shard, []).append(fact)
    return found


def _least(facts: Sequence[Fact]) -> int:
    return min(fact.place[0] for fact in facts)
