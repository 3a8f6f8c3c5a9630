"""Wins, draws, losses and points of each player, by game.

| key | what |
|---|---|
| `table:<game>` | sorted set of accounts; score: points, in parts of `POINT` |
| `tally:<game>` | hash: `<account>:<what>` -> count; what: `played`, `won`, `drawn`, `lost` |
| `refused` | hash: account -> draws that it knew, or could know, and then refused to play |

Tables are in the bucket of their game, and refused draws in that of the account.

A win is one point, a shared one a part of it. Matches of one player, and those that do not count, are
left out; unrated matches are included.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from domain.match.events import AccountId, Declined, MatchStarted, Withheld
from domain.match.state import Reason
from infra.projections.buckets import Owner
from infra.projections.projection import (
    Fact,
    MatchResult,
    OwnedWrite,
    StatelessProjection,
    counted_result,
)
from infra.projections.query import Query
from infra.projections.specs import STANDINGS

POINT: Final = 60
"""Units of a point, so that sums of thirds are whole numbers, in whatever order they are added."""

REFUSED: Final = "refused"

COUNTS: Final = ("played", "won", "drawn", "lost")


class StandingRow(msgspec.Struct, frozen=True):
    """A player's place in a game's table."""

    account: AccountId
    points: float
    played: int
    won: int
    drawn: int
    """Matches in which the player shared the win."""
    lost: int


def table_key(game: str) -> str:
    """Return the key of a game's table."""
    return f"table:{game}"


def tally_key(game: str) -> str:
    """Return the key of a game's counts."""
    return f"tally:{game}"


def tally_field(account: AccountId, what: str) -> str:
    """Return the field of one count of a player."""
    return f"{account.hex()}:{what}"


class StandingsQuery(Query):
    """Queries of the tables."""

    spec = STANDINGS

    def of(self, game: str, start: int = 0, count: int = 50) -> list[StandingRow]:
        """Return a game's table, most points first, from the `start`th on; O(log n + count)."""
        bucket = self._generation().of(game)
        key = bucket.key(table_key(game))
        found = self._client.zrange(key, start, start + count - 1, desc=True, withscores=True)
        points = {AccountId.fromhex(account.decode()): score for account, score in found}
        fields = [tally_field(account, what) for account in points for what in COUNTS]
        counts = iter(self._fields(bucket.key(tally_key(game)), fields))
        return [
            StandingRow(account, score / POINT, *(int(next(counts) or 0) for _ in COUNTS))
            for account, score in points.items()
        ]

    def player(self, game: str, account: AccountId) -> StandingRow:
        """Return one player's counts, all 0 without a finished match; O(1)."""
        bucket = self._generation().of(game)
        score = self._client.zscore(bucket.key(table_key(game)), account.hex())
        fields = [tally_field(account, what) for what in COUNTS]
        counts = self._fields(bucket.key(tally_key(game)), fields)
        return StandingRow(account, (score or 0) / POINT, *(int(count or 0) for count in counts))

    def refused(self, account: AccountId) -> int:
        """Return how many draws a player knew, or could know, and then refused to play; O(1)."""
        bucket = self._generation().of(account)
        (found,) = self._fields(bucket.key(REFUSED), [account.hex()])
        return int(found or 0)

    def count(self, game: str) -> int:
        """Return the number of players in a game's table; O(1)."""
        return int(self._client.zcard(self._generation().of(game).key(table_key(game))))


class StandingsProjection(StatelessProjection):
    """Counts the results and the points of each player, and the draws that were refused."""

    spec = STANDINGS

    def owners(self, fact: Fact) -> Iterator[Owner]:
        """Return the game of a match that counts, and the players of a declined one."""
        if counted_result(fact):
            yield fact.setup.game
        if fact.result and fact.result.reason == Reason.DECLINED:
            yield from fact.setup.seats

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Count a match that has ended."""
        if finished := counted_result(fact):
            yield from _standing_writes(fact, finished)
        yield from _refusal_writes(fact)


def _refusal_writes(fact: Fact) -> Iterator[OwnedWrite]:
    """Count players who refused to play once the draw was known to them, or could be."""
    if fact.result is None or fact.result.reason != Reason.DECLINED:
        return
    drawn = False
    for event in fact.result.history:
        body = event.body
        drawn = drawn or (isinstance(body, MatchStarted) and body.draw is not None)
        if isinstance(body, Withheld) or (drawn and isinstance(body, Declined)):
            account = fact.setup.seats[body.seat]
            yield account, ("HINCRBY", REFUSED, account.hex(), 1)


def _standing_writes(fact: Fact, finished: MatchResult) -> Iterator[OwnedWrite]:
    game, winners = fact.setup.game, finished.winners
    for seat, account in enumerate(fact.setup.seats):
        result, points = "lost", 0
        if seat in winners:
            result, points = (
                "won" if len(winners) == 1 else "drawn",
                POINT // len(winners),
            )
        for what in ("played", result):
            field = tally_field(account, what)
            yield game, ("HINCRBY", tally_key(game), field, 1)
        yield game, ("ZINCRBY", table_key(game), points, account.hex())
