"""Projections: pure functions from facts, and the data so far, to writes.

A projection does no I/O. `needs` names its reads beforehand, so that those of all projections share a
round trip; its writes are committed together with the new checkpoint, if the old one is unchanged, so
that every fact is folded exactly once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from domain.match.events import AccountId, EventEnvelope
from domain.rules import Seat
from infra.projections.generations import Checkpoint, EventPosition, RedisRead, RedisWrite
from infra.projections.specs import Spec


class MatchSetup(msgspec.Struct, frozen=True):
    """The terms of a match that its first event fixes."""

    rules: str
    game: str
    """The rules' key, without their version."""
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]


class MatchResult(msgspec.Struct, frozen=True):
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
    history: tuple[EventEnvelope, ...]


class Fact(msgspec.Struct, frozen=True):
    """An event with the data of its match that a fold needs."""

    event: EventEnvelope
    setup: MatchSetup
    result: MatchResult | None = None
    """For the event that ends a match."""
    shard: int = 0
    """The shard of its log."""

    @property
    def place(self) -> EventPosition:
        """Return its position among all events."""
        return self.event.at, self.event.match, self.event.seq

    @property
    def others(self) -> tuple[AccountId, ...]:
        """Return the players other than its actor."""
        return tuple(account for account in self.setup.seats if account != self.event.actor)


class Projection(ABC):
    """A fold; facts of one match come in their order, those of several matches in any."""

    spec: Spec

    def needs(self, facts: Sequence[Fact]) -> Sequence[RedisRead]:
        """Return the reads that the fold of these facts needs."""
        del facts
        return ()

    @abstractmethod
    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[RedisWrite]:
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
    def writes(self, fact: Fact) -> Iterable[RedisWrite]:
        """Return the writes for one fact."""

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[RedisWrite]:
        """Return the writes for each fact."""
        del found
        return [write for fact in facts for write in self.writes(fact)]


def counted_result(fact: Fact) -> MatchResult | None:
    """Return the result of a match, if it has ended and counts.

    It counts if somebody won it against others, and if all players have moved, because nobody loses a
    match without having played.
    """
    finished = fact.result
    against = len(fact.setup.seats) > 1
    return finished if finished and finished.winners and finished.played and against else None
