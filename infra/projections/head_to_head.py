"""Results of pairs of players, in each game.

| key | what |
|---|---|
| `pairs:<game>` | hash: `<account>:<account>:<what>` -> count; the lesser id first; what: `first` was placed before the other, `second`, or `level` |

A pair is in the bucket of its lesser id. In a match of three, each pair is counted by its places. Matches
that do not count are left out.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import msgspec

from domain.records import AccountId
from infra.projections.buckets import HEAD_TO_HEAD
from infra.projections.generations import Query
from infra.projections.projection import (
    Fact,
    MatchResult,
    OwnedWrite,
    StatelessProjection,
    counted_result,
    revoked_result,
)

FIRST: Final = "first"
SECOND: Final = "second"
LEVEL: Final = "level"


class PairRecord(msgspec.Struct, frozen=True):
    """Results of one player against another."""

    won: int
    lost: int
    drawn: int
    """Matches in which both had the same place."""

    @property
    def played(self) -> int:
        """Return the number of matches."""
        return self.won + self.lost + self.drawn


def pairs_key(game: str) -> str:
    """Return the key of a game's counts."""
    return f"pairs:{game}"


def pair_field(first: AccountId, second: AccountId, what: str) -> str:
    """Return the field of one count of a pair; the lesser id is the first."""
    return f"{first.hex()}:{second.hex()}:{what}"


class HeadToHeadQuery(Query):
    """Queries of the results of pairs."""

    spec = HEAD_TO_HEAD

    def of(self, game: str, account: AccountId, opponent: AccountId) -> PairRecord:
        """Return the results of `account` against `opponent`; O(1)."""
        first, second = sorted([account, opponent])
        fields = [pair_field(first, second, what) for what in (FIRST, SECOND, LEVEL)]
        found = self._fields(self._generation().of(first).key(pairs_key(game)), fields)
        ahead, behind, level = (int(count or 0) for count in found)
        if account == first:
            return PairRecord(ahead, behind, level)
        return PairRecord(behind, ahead, level)


class HeadToHeadProjection(StatelessProjection):
    """Counts which of two players was placed before the other."""

    spec = HEAD_TO_HEAD
    settled_only = True

    def owners(self, fact: Fact) -> Sequence[AccountId]:
        """Return the players, if the match counts."""
        return fact.setup.seats if counted_result(fact) or revoked_result(fact) else ()

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Count the pairs of a match that has ended, and take back those of a result that is revoked."""
        if revoked := revoked_result(fact):
            yield from _pair_writes(fact, revoked, -1)
        if finished := counted_result(fact):
            yield from _pair_writes(fact, finished, 1)


def _pair_writes(fact: Fact, finished: MatchResult, count: int) -> Iterator[OwnedWrite]:
    places = sorted(zip(fact.setup.seats, finished.ranks, strict=True))
    for (first, place), (second, other) in combinations(places, 2):
        what = LEVEL
        if place != other:
            what = FIRST if place < other else SECOND
        field = pair_field(first, second, what)
        yield first, ("HINCRBY", pairs_key(fact.setup.game), field, count)
