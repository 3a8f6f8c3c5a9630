"""Projections: pure functions from facts, and the data so far, to writes.

A projection does no I/O. `needs` names its reads beforehand, so that those of all projections share a
round trip; its writes are committed together with the new checkpoint, if the old one is unchanged, so
that every fact is folded exactly once.

Each bucket is a fold of its own, of the facts about its owners. What it reads and writes are keys of that
bucket, because the other buckets may stand at other positions. So a row that several owners need is kept
in the bucket of each.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import EventEnvelope
from domain.match.state import is_bot
from domain.records import AccountId
from domain.rules import Seat
from infra.projections.buckets import (
    Bucket,
    Checkpoint,
    EventPosition,
    Owner,
    RedisRead,
    RedisWrite,
    Spec,
    bucket_of,
)
from infra.projections.notices import TournamentNotice

OF_DISPUTES: Final = (Claimed, Ruled, Appealed)
"""Events of a dispute, which may come after the end of a match."""


class MatchSetup(msgspec.Struct, frozen=True, gc=False):
    """The terms of a match that its first event fixes, with the players of a later one."""

    rules: str
    game: str
    """The rules' key, without their version."""
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    """After the event; a substitute may take over one."""
    has_robot: bool = False
    """Whether a robot plays or has played in it."""
    pairing: tuple[int, int] | None = None
    """Tournament and pairing of a match of one."""

    @property
    def has_program(self) -> bool:
        """Whether a robot plays or has played in it, or a bot plays."""
        return self.has_robot or any(map(is_bot, self.seats))


NO_MATCH: Final = MatchSetup("", "", (), ())
"""The setup in the facts of a tournament's own events."""


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
    history: tuple[EventEnvelope, ...] = ()
    """All events up to the end, of a match for one and of a declined one; otherwise mostly empty."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """An event with the data of its match that a fold needs."""

    event: EventEnvelope
    setup: MatchSetup
    result: MatchResult | None = None
    """For the event that ends a match, or by which a ruling changes its result."""
    shard: int = 0
    """The shard of its log."""
    erased: frozenset[AccountId] = frozenset()
    """Its players, and those of its notices, whose accounts are deleted: they get no lists and no notices."""
    revoked: MatchResult | None = None
    """For the event by which a ruling takes a result away: that result, with all events before this one."""
    leaver: AccountId = b""
    """For the event by which a substitute takes over a seat: the account that had it; else empty."""
    before: tuple[EventEnvelope, ...] = ()
    """For that event: all events before it, because the substitute's lists know nothing of the match."""
    notices: tuple[TournamentNotice, ...] = ()
    """Those of an event of a tournament; see `infra.projections.tournament_notices`."""

    @property
    def place(self) -> EventPosition:
        """Return its position among all events."""
        return self.event.at, self.event.match, self.event.seq

    @property
    def players(self) -> tuple[AccountId, ...]:
        """Return the players, and the one whose seat was taken over by its event."""
        return (*self.setup.seats, self.leaver) if self.leaver else self.setup.seats

    @property
    def settles(self) -> bool:
        """Return whether it ends a match, changes its result, or is one of a dispute."""
        if self.result is not None or self.revoked is not None:
            return True
        return isinstance(self.event.body, OF_DISPUTES)

    @property
    def others(self) -> tuple[AccountId, ...]:
        """Return the players other than its actor."""
        return tuple(account for account in self.setup.seats if account != self.event.actor)


SAVE_SECONDS: Final = 30.0
"""The `save_seconds` of a projection that has none of its own: so long one that has read all may seem to be behind."""


class Projection(ABC):
    """A fold; facts of one match come in their order, those of several matches in any."""

    spec: Spec
    settled_only: bool = False
    """Whether no fact changes anything but one that `settles`, of which a match has few."""
    of_tournaments: bool = False
    """Whether it also folds the events of tournaments, whose facts have `NO_MATCH`."""
    shards_apart: bool = True
    """Whether a fold reads only what folds of the same shard's facts have written.

    Then the shards of a generation that is being built may be folded at the same time.
    """
    save_seconds: float = SAVE_SECONDS
    """How long a bucket in which nothing changes may keep to itself that it has read some leaves."""

    @abstractmethod
    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the owners of all data that depend on a fact; none if it changes nothing."""

    def route(self, facts: Sequence[Fact], buckets: int) -> list[list[Fact]]:
        """Return for each bucket the facts that it folds, in their order."""
        if not self.of_tournaments:
            facts = [fact for fact in facts if fact.setup is not NO_MATCH]
        if buckets == 1:
            return [[fact for fact in facts if self.owners(fact)]]
        parts: list[list[Fact]] = [[] for _ in range(buckets)]
        for fact in facts:
            for number in {bucket_of(owner, buckets) for owner in self.owners(fact)}:
                parts[number].append(fact)
        return parts

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the reads that the fold of these facts needs."""
        del facts, bucket
        return ()

    @abstractmethod
    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the writes for these facts to a bucket; `found` has the replies to `needs`.

        An exception stops this projection's bucket at the facts' shard, and no other.
        """

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact], bucket: Bucket) -> Checkpoint:
        """Return the checkpoint after these facts, apart from the counts of leaves."""
        del facts, bucket
        return checkpoint

    def defers(self, facts: Sequence[Fact], bucket: Bucket) -> bool:
        """Return whether some of these facts are buffered."""
        del facts, bucket
        return False


OwnedWrite = tuple[Owner, RedisWrite]


class StatelessProjection(Projection):
    """A fold of each fact alone, without reads."""

    @abstractmethod
    def writes(self, fact: Fact) -> Iterable[OwnedWrite]:
        """Return the writes for one fact, each with the owner of its data."""

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the writes for each fact."""
        del found
        owned = (one for fact in facts for one in self.writes(fact))
        return [write for owner, write in owned if bucket.owns(owner)]


def counted_result(fact: Fact) -> MatchResult | None:
    """Return the result of a match, if it has ended and counts."""
    return _if_it_counts(fact.result, fact)


def revoked_result(fact: Fact) -> MatchResult | None:
    """Return the result that a ruling has taken away, if it counted."""
    return _if_it_counts(fact.revoked, fact)


def _if_it_counts(finished: MatchResult | None, fact: Fact) -> MatchResult | None:
    """Return a result if it counts.

    It counts if somebody won it against others, and if all players have moved, because nobody loses a
    match without having played.
    """
    against = len(fact.setup.seats) > 1
    return finished if finished and finished.winners and finished.played and against else None
