"""A projection: a pure function from facts, and what is stored so far, to writes.

It does no I/O. It names its reads beforehand (`needs`), so that those of all projections travel together.
Its writes are committed together with the checkpoint, if that is still the one it was computed on, so
that each fact is folded exactly once.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from domain.match.events import AccountId, Envelope
from domain.rules import Seat
from infra.projections.shelf import Checkpoint, Place, Read, Write
from infra.projections.specs import Spec


class Cast(msgspec.Struct, frozen=True):
    """What the first event of a match says, which never changes."""

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
    """The rank of each seat, 1 for the winners; see `domain.ratings.ranking`."""
    plies: int
    rated: bool
    played: bool
    """Whether every seat has moved."""
    history: tuple[Envelope, ...]


class Fact(msgspec.Struct, frozen=True):
    """An event with all that a projection needs to understand it alone."""

    event: Envelope
    cast: Cast
    finished: Finished | None = None
    """Set for the event that ends a match."""
    shard: int = 0
    """The shard in whose log it is."""

    @property
    def place(self) -> Place:
        """Its place in the order of all events."""
        return self.event.at, self.event.match, self.event.seq

    @property
    def others(self) -> tuple[AccountId, ...]:
        """All players but the one who caused it."""
        return tuple(account for account in self.cast.seats if account != self.event.actor)


class Projection(ABC):
    """Receives the facts of one match in their order, and those of several in any order."""

    spec: Spec

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Return the reads that folding these needs."""
        del facts
        return ()

    @abstractmethod
    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Return the writes for these facts; `found` has the answers to `needs`.

        An exception stops this projection, in the shard of the facts, and no other.
        """

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact]) -> Checkpoint:
        """Return the checkpoint, changed where these facts concern it beyond having been read."""
        del facts
        return checkpoint

    def defers(self, facts: Sequence[Fact]) -> bool:
        """Return whether some of these facts are buffered until their turn."""
        del facts
        return False
