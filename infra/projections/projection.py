"""What a projection is: a pure function from facts, and what is kept so far, to writes.

It does no I/O. What it must read is named beforehand (`needs`), so that all projections' reads
travel together; what it writes is committed with the checkpoint, from the one it was made on, so
that every fact is folded in exactly once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from domain.match.events import AccountId, Envelope
from domain.rules import Seat
from infra.projections.shelf import Checkpoint, Place, Read, Write
from infra.projections.specs import Spec


class Cast(msgspec.Struct, frozen=True):
    """What a match's first event fixes for ever."""

    rules: str
    game: str
    """The rules' key, without their version."""
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]


class Finished(msgspec.Struct, frozen=True):
    """How a match came out, by the events up to its end."""

    winners: tuple[Seat, ...]
    """All tied seats for a draw, none for a match that counts for nothing."""
    reason: str
    ranks: tuple[int, ...]
    """For each seat its place, 1 for the winners; see `domain.ratings.ranking`."""
    plies: int
    rated: bool
    played: bool
    """Whether every seat has moved."""
    history: tuple[Envelope, ...]


class Fact(msgspec.Struct, frozen=True):
    """An event with what it takes to understand it alone."""

    event: Envelope
    cast: Cast
    finished: Finished | None = None
    """Of the event that ends a match."""
    shard: int = 0
    """In whose log it is."""

    @property
    def place(self) -> Place:
        """Where it stands among all events."""
        return self.event.at, self.event.match, self.event.seq

    @property
    def others(self) -> tuple[AccountId, ...]:
        """The players that did not lead to it."""
        return tuple(account for account in self.cast.seats if account != self.event.actor)


class Projection(ABC):
    """Facts of one match come in their order; those of several in any."""

    spec: Spec

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Name what must be read to fold these."""
        del facts
        return ()

    @abstractmethod
    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Return what these facts, together with the answers to `needs`, lead to.

        Whatever it raises stops this projection at the facts' shard, and no other.
        """

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact]) -> Checkpoint:
        """Return the checkpoint with what these facts tell beyond having been read."""
        del facts
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Return whether some of these wait for their turn."""
        del facts
        return False


class StatelessProjection(Projection):
    """Reads nothing of what is kept, and folds each fact alone."""

    @abstractmethod
    def writes(self, fact: Fact) -> Iterable[Write]:
        """Return what one fact leads to."""

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Return what each fact leads to."""
        del found
        return [write for fact in facts for write in self.writes(fact)]


def counts(fact: Fact) -> Finished | None:
    """Return how a match came out, if it has ended and counts.

    It does if somebody won it against others, and if all have moved: nobody loses a match that
    they never took up.
    """
    finished = fact.finished
    against = len(fact.cast.seats) > 1
    return finished if finished and finished.winners and finished.played and against else None
