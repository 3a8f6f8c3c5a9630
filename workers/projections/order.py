"""Projections whose result depends on the order of events of different matches.

All shards' events are taken in the order of (at, board, seq). The log of a shard is not in that order,
so an event is first laid aside, in the projection itself, and taken in its turn: when all shards
have been read up to where they stood at a watermark, everything older than the watermark's time is
there, and nothing older can come any more.

Only a clock that was set back breaks that. An event then comes whose place is before one that is
in already; that is seen here, kept in the checkpoint, and has the projection made anew.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from infra.projections.pending import PENDING, Due
from infra.projections.shelf import Checkpoint, Read, Write
from workers.projections.projection import Fact, Projection


class Ordered(Projection):
    """Facts are laid aside as they are read, and folded when their turn has come."""

    @abstractmethod
    def told(self, fact: Fact) -> str | None:
        """Give what has to be known of a fact in its turn; None where it tells nothing."""

    @abstractmethod
    def due_needs(self, due: Sequence[Due]) -> Sequence[Read]:
        """Name what must be read to fold these."""

    @abstractmethod
    def due_fold(self, due: Sequence[Due], found: Sequence[Any]) -> Sequence[Write]:
        """Give what these, in their order, lead to."""

    def laid(self, facts: Sequence[Fact]) -> list[Due]:
        """Give what is laid aside of some facts."""
        return [Due(fact.place, text) for fact in facts if (text := self.told(fact)) is not None]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Lay aside."""
        del found
        return [("ZADD", PENDING, due.place[0], due.member) for due in self.laid(facts)]

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact]) -> Checkpoint:
        """Note an event that comes too late for its place."""
        if any(due.place <= checkpoint.last for due in self.laid(facts)):
            return msgspec.structs.replace(checkpoint, late=True)
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Tell whether anything is laid aside."""
        return bool(self.laid(facts))
