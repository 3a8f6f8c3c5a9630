"""Wins, draws, losses and points of each player, by game.

| key | what |
|---|---|
| `table:<game>` | sorted set of accounts; score: points, in parts of `POINT` |
| `tally:<game>` | hash: `<account>:<what>` -> count; what: `played`, `won`, `drawn`, `lost`, `timed` |
| `refused` | hash: account -> draws that it knew, or could know, and then refused to play |

Tables are in the bucket of their game, and refused draws in that of the account.

A win is one point, a shared one a part of it. Matches of one player, those that do not count, and those
with a robot or a bot are left out, because a table would else be of the people who play programs most; other
unrated matches are included.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from domain.match.events import Declined, MatchStarted, Withheld
from domain.match.state import Reason
from domain.records import AccountId
from infra.projections.buckets import STANDINGS, Bucket, Owner, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.projection import (
    Fact,
    MatchResult,
    OwnedWrite,
    StatelessProjection,
    counted_result,
    revoked_result,
)
from infra.redis.reads import Read, read_one

POINT: Final = 60
"""Units of a point, so that sums of thirds are whole numbers, in whatever order they are added."""

REFUSED: Final = "refused"

COUNTS: Final = ("played", "won", "drawn", "lost", "timed")


class StandingRow(msgspec.Struct, frozen=True):
    """A player's place in a game's table."""

    account: AccountId
    points: float
    played: int
    won: int
    drawn: int
    """Matches in which the player shared the win."""
    lost: int
    timed: int
    """Of the lost ones, those that ended because this player's time ran out."""


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
        return read_one(self._client, self.read_player(game, account))

    def read_player(self, game: str, account: AccountId) -> Read[StandingRow]:
        """Return the read of `player`."""
        bucket = self._generation().of(game)
        fields = [tally_field(account, what) for what in COUNTS]

        def queue(pipe: Any) -> None:
            pipe.zscore(bucket.key(table_key(game)), account.hex())
            pipe.hmget(bucket.key(tally_key(game)), fields)

        def parse(replies: list[Any]) -> StandingRow:
            score, counts = replies
            found = (int(count or 0) for count in counts)
            return StandingRow(account, (score or 0) / POINT, *found)

        return Read(queue, parse)

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
    settled_only = True
    shards_apart = False
    """Counts that a ruling takes back are read, because those that become 0 are deleted."""

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the game of a match that counts or counted, and the players of a declined one."""
        if fact.setup.has_program:
            return ()
        found: list[Owner] = []
        if counted_result(fact) or revoked_result(fact):
            found.append(fact.setup.game)
        if any(one and one.reason == Reason.DECLINED for one in (fact.result, fact.revoked)):
            found += fact.setup.seats
        return found

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Count a match that has ended, and take back the counts of a result that is revoked."""
        if fact.setup.has_program:
            return
        if revoked := revoked_result(fact):
            yield from _standing_writes(fact, revoked, -1)
        if finished := counted_result(fact):
            yield from _standing_writes(fact, finished, 1)
        yield from _refusal_writes(fact, fact.revoked, -1)
        yield from _refusal_writes(fact, fact.result, 1)

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the reads of the counts of players whose results are revoked."""
        return [
            ("HMGET", tally_key(game), *_fields(accounts))
            for game, accounts in _with_less(facts, bucket).items()
        ]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the writes; counts that become 0 are deleted, so that no row without a match stays."""
        writes = super().fold(facts, (), bucket)
        for (game, accounts), counts in zip(_with_less(facts, bucket).items(), found, strict=True):
            left = dict(zip(_fields(accounts), (int(count or 0) for count in counts), strict=True))
            for name, key, *words in writes:
                if name == "HINCRBY" and key == tally_key(game) and words[0] in left:
                    left[str(words[0])] += int(words[1])
            writes += [("HDEL", tally_key(game), field) for field, n in left.items() if not n]
            without = [one for one in accounts if not left[tally_field(one, COUNTS[0])]]
            writes += [("ZREM", table_key(game), account.hex()) for account in without]
        return writes


def _with_less(facts: Sequence[Fact], bucket: Bucket) -> dict[str, list[AccountId]]:
    """Return the players of the matches whose results are revoked, by game."""
    found: dict[str, dict[AccountId, None]] = {}
    for fact in facts:
        if revoked_result(fact) and not fact.setup.has_program and bucket.owns(fact.setup.game):
            found.setdefault(fact.setup.game, {}).update(dict.fromkeys(fact.setup.seats))
    return {game: list(accounts) for game, accounts in found.items()}


def _fields(accounts: Iterable[AccountId]) -> list[str]:
    return [tally_field(account, what) for account in accounts for what in COUNTS]


def _refusal_writes(fact: Fact, finished: MatchResult | None, count: int) -> Iterator[OwnedWrite]:
    """Count players who refused to play once the draw was known to them, or could be."""
    if finished is None or finished.reason != Reason.DECLINED:
        return
    drawn = False
    for event in finished.history:
        body = event.body
        drawn = drawn or (isinstance(body, MatchStarted) and body.draw is not None)
        if isinstance(body, Withheld) or (drawn and isinstance(body, Declined)):
            account = fact.setup.seats[body.seat]
            yield account, ("HINCRBY", REFUSED, account.hex(), count)


def _standing_writes(fact: Fact, finished: MatchResult, count: int) -> Iterator[OwnedWrite]:
    game, winners = fact.setup.game, finished.winners
    for seat, account in enumerate(fact.setup.seats):
        result, points = "lost", 0
        if seat in winners:
            result, points = (
                "won" if len(winners) == 1 else "drawn",
                POINT // len(winners),
            )
        # whose flag fell last is behind the winner; an earlier one did not end the match
        timed = finished.reason == Reason.TIME and finished.ranks[seat] == len(winners) + 1
        for what in ("played", result, *(("timed",) if timed else ())):
            field = tally_field(account, what)
            yield game, ("HINCRBY", tally_key(game), field, count)
        yield game, ("ZINCRBY", table_key(game), count * points, account.hex())
