"""Projections: pure functions from facts, and the data so far, to writes.

A projection does no I/O. `needs` names its reads beforehand, so that those of all projections share a
round trip; its writes are committed together with the new checkpoint, if the old one is unchanged, so
that every fact is folded exactly once.
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
    """The terms of a match that its first event fixes."""

    rules: str
    game: str
    """The rules' key, without their version."""
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]


class Finished(msgspec.Struct, frozen=True):
    """The result of a match, by the events up to its end."""

    winners: tuple[Seat, ...]
    """All tied seats for a draw, none for a match that does not count."""
    reason: str
    ranks: tuple[int, ...]
    """For each seat its place, 1 for the winners; see `domain.ratings.ranking`."""
    plies: int
    rated: bool
    played: bool
    """Whether every seat has moved."""
    history: tuple[Envelope, ...]


class Fact(msgspec.Struct, frozen=True):
    """An event with the data of its match that a fold needs."""

    event: Envelope
    cast: Cast
    finished: Finished | None = None
    """For the event that ends a match."""
    shard: int = 0
    """The shard of its log."""

    @property
    def place(self) -> Place:
        """Return its position among all events."""
        return self.event.at, self.event.match, self.event.seq

    @property
    def others(self) -> tuple[AccountId, ...]:
        """Return the players other than its actor."""
        return tuple(account for account in self.cast.seats if account != self.event.actor)


class Projection(ABC):
    """A fold; facts of one match come in their order, those of several matches in any."""

    spec: Spec

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Return the reads that the fold of these facts needs."""
        del facts
        return ()

    @abstractmethod
    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Return the writes for these facts; `found` has the replies to `needs`.

        An exception stops this projection at the facts' shard, and no other.
        """

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact]) -> Checkpoint:
        """Return the checkpoint after these facts, apart from the counts of leaves."""
        del facts
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Return whether some of these facts are buffered."""
        del facts
        return False


class StatelessProjection(Projection):
    """A fold of each fact alone, without reads."""

    @abstractmethod
    def writes(self, fact: Fact) -> Iterable[Write]:
        """Return the writes for one fact."""

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Return the writes for each fact."""
        del found
        return [write for fact in facts for write in self.writes(fact)]


def counts(fact: Fact) -> Finished | None:
    """Return the result of a match, if it has ended and counts.

    It counts if somebody won it against others, and if all players have moved, because nobody loses a
    match without having played.
    """
    finished = fact.finished
    against = len(fact.cast.seats) > 1
    return finished if finished and finished.winners and finished.played and against else None
