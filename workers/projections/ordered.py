"""Projections whose result depends on the order of events of different matches.

All shards' events are taken in the order of (time, board, seq). The log of a shard is not in that order,
so an event is first laid aside, in the projection itself, and taken in its turn: when all shards
have been read up to where they stood at a watermark, everything older than the watermark's time is
there, and nothing older can come any more.

The time of an event, for this, is the least of its own and those of the events behind it in its shard's
log, because it happened before them. With a clock that runs forwards that is its own time. Where a clock
ran ahead and was put right, what happened meanwhile takes its place before the first event after it,
and does not wait until the clock comes there again. The same logs give the same times, whoever reads them.

Only a clock that was set back has an event come whose place is before one that is in already; that is
seen here, kept in the checkpoint, and has the projection made anew.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from infra.projections.pending import PENDING, Due, pending_of
from infra.projections.shelf import Checkpoint, Read, Write
from workers.projections.projection import Fact, Projection


class OrderedProjection(Projection):
    """Facts are laid aside as they are read, and folded when their turn has come."""

    @abstractmethod
    def told(self, fact: Fact) -> str | None:
        """Return what has to be known of a fact in its turn; None where it tells nothing."""

    @abstractmethod
    def due_needs(self, due: Sequence[Due]) -> Sequence[Read]:
        """Name what must be read to fold these."""

    @abstractmethod
    def due_fold(self, due: Sequence[Due], found: Sequence[Any]) -> Sequence[Write]:
        """Return what these, in their order, lead to."""

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Ask for what waits of the same logs with a later time than some of these."""
        return [
            ("ZRANGEBYSCORE", pending_of(shard), f"({_least(some)}", "+inf")
            for shard, some in _by_shard(facts).items()
        ]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Lay aside, and put what waits too late in its place."""
        writes: list[Write] = []
        for (shard, some), later in zip(_by_shard(facts).items(), found, strict=True):
            places = [(_least(some), member) for member in later]
            places += [(due.place[0], due.member) for due in self._laid(some)]
            for at, member in places:
                writes += [("ZADD", key, at, member) for key in (PENDING, pending_of(shard))]
        return writes

    def _laid(self, facts: Sequence[Fact]) -> list[Due]:
        """Return what is laid aside of some facts of one log, in its order, backwards."""
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
        """Note an event that comes too late for its place, or changes that of one that is in."""
        laid = [due for some in _by_shard(facts).values() for due in self._laid(some)]
        late = any(fact.place[0] < checkpoint.last[0] for fact in facts)
        if late or any(due.place <= checkpoint.last for due in laid):
            return msgspec.structs.replace(checkpoint, late=True)
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Return whether anything is laid aside."""
        return any(self.told(fact) is not None for fact in facts)


def _by_shard(facts: Sequence[Fact]) -> dict[int, list[Fact]]:
    """Return the facts of each shard, in the order of its log."""
    found: dict[int, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.shard, []).append(fact)
    return found


def _least(facts: Sequence[Fact]) -> int:
    return min(fact.place[0] for fact in facts)
