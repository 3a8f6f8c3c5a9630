"""Ratings of players by game, now and after each match.

| key | what |
|---|---|
| `players:<game>` | hash: account -> packed `Rating` |
| `table:<game>` | sorted set of accounts; score: the skill's ordinal, in millionths |
| `series:<game>:<account>` | list of packed `RatingPoint`, in the order of the matches |
| `pending` | what waits for its turn, see `infra.projections.reorder` |

All of them are in the bucket of their game.

Rated matches of two and more that somebody won count. A rating depends on those of the opponents at
that time, so matches are rated in the order in which they ended, across all shards: the order is the
same in every rebuild. `domain.ratings` says what a rating means.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from domain.match.events import AccountId
from domain.ratings import UNIT, Skill
from infra.projections.buckets import RedisRead, RedisWrite
from infra.projections.projection import Fact, counted_result
from infra.projections.query import Query
from infra.projections.reorder import BufferedEvent, OrderedProjection
from infra.projections.specs import RATINGS

if TYPE_CHECKING:
    from openskill.models import PlackettLuce


class Rating(msgspec.Struct, frozen=True, array_like=True):
    """A player's present rating."""

    skill: Skill = Skill()
    matches: int = 0
    """Rated matches."""
    board: int = 0
    """Of the last match."""
    at: int = 0
    """When that ended, ms."""

    @property
    def display_value(self) -> int:
        """Return the rating as players see it."""
        return self.skill.rating


class RatingPoint(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating after a match."""

    board: int
    at: int
    """When the match ended, ms."""
    skill: Skill

    @property
    def display_value(self) -> int:
        """Return the rating as players see it."""
        return self.skill.rating


class RatedPlayer(msgspec.Struct, frozen=True):
    """A player in a game's table."""

    account: AccountId
    rating: Rating


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(Rating).decode
_unpack_point: Final = msgspec.msgpack.Decoder(RatingPoint).decode


def players_key(game: str) -> str:
    """Return the key of a game's ratings."""
    return f"players:{game}"


def table_key(game: str) -> str:
    """Return the key of a game's players by rating."""
    return f"table:{game}"


def series_key(game: str, account: AccountId) -> str:
    """Return the key of a player's ratings after each match."""
    return f"series:{game}:{account.hex()}"


class RatingsQuery(Query):
    """Queries of the ratings."""

    spec = RATINGS

    def of(self, game: str, start: int = 0, count: int = 50) -> list[RatedPlayer]:
        """Return a game's players, the best first, from the `start`th on; O(log n + count)."""
        bucket = self._generation().of(game)
        members = self._client.zrange(
            bucket.key(table_key(game)), start, start + count - 1, desc=True
        )
        rows = self._fields(bucket.key(players_key(game)), members)
        return [
            RatedPlayer(AccountId.fromhex(member.decode()), unpack(row))
            for member, row in zip(members, rows, strict=True)
            if row is not None
        ]

    def player(self, game: str, account: AccountId) -> Rating:
        """Return a player's rating, that of a newcomer if there is none; O(1)."""
        key = self._generation().of(game).key(players_key(game))
        (row,) = self._fields(key, [account.hex()])
        return Rating() if row is None else unpack(row)

    def place(self, game: str, account: AccountId) -> int | None:
        """Return a player's place in the table, from 1; None without a rating; O(log n)."""
        key = self._generation().of(game).key(table_key(game))
        above = self._client.zrevrank(key, account.hex())
        return None if above is None else int(above) + 1

    def series(
        self, game: str, account: AccountId, start: int = 0, count: int = 1_000
    ) -> list[RatingPoint]:
        """Return a player's rating after each match, from the `start`th on; O(start + count)."""
        key = self._generation().of(game).key(series_key(game, account))
        return [_unpack_point(data) for data in self._client.lrange(key, start, start + count - 1)]

    def count(self, game: str) -> int:
        """Return the number of players of a game with a rating; O(1)."""
        return int(self._client.zcard(self._generation().of(game).key(table_key(game))))


@cache
def _model() -> "PlackettLuce":
    from openskill.models import PlackettLuce as Model  # noqa: PLC0415 - slow, and queries need none

    return Model()


Player = tuple[str, AccountId]
"""A game and a player."""


def rate(skills: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """Return the skills after a match with these places, 1 for the first."""
    teams = [[_model().create_rating([skill.mu / UNIT, skill.sigma / UNIT])] for skill in skills]
    rated = _model().rate(teams, ranks=[float(rank) for rank in ranks])
    return [Skill(round(team[0].mu * UNIT), round(team[0].sigma * UNIT)) for team in rated]


class RatingsProjection(OrderedProjection):
    """Keeps a rating for each player and game, and its value after each match."""

    spec = RATINGS

    def owners(self, fact: Fact) -> Sequence[str]:
        """Return the game of a match that counts."""
        finished = counted_result(fact)
        return (fact.setup.game,) if finished and finished.rated else ()

    def buffered_text(self, fact: Fact) -> str | None:
        """Return game, players and places of a match that counts."""
        finished = counted_result(fact)
        if finished is None or not finished.rated:
            return None
        seats = zip(fact.setup.seats, finished.ranks, strict=True)
        places = ",".join(f"{account.hex()}={rank}" for account, rank in seats)
        return f"{fact.setup.game}|{places}"

    def ordered_needs(self, due: Sequence[BufferedEvent]) -> Sequence[RedisRead]:
        """Return the reads of the players' ratings."""
        return [
            ("HMGET", players_key(game), *(account.hex() for account in accounts))
            for game, accounts in _players(due).items()
        ]

    def ordered_fold(
        self, due: Sequence[BufferedEvent], found: Sequence[Any]
    ) -> Sequence[RedisWrite]:
        """Return the writes of one match after the other."""
        ratings = _ratings_before(due, found)
        writes = [write for turn in due for write in _match_writes(turn, ratings)]
        return [*writes, *_table_writes(ratings)]


def _read(turn: BufferedEvent) -> tuple[str, dict[AccountId, int]]:
    """Return the game of a match, and the place of each player."""
    game, _, places = turn.text.partition("|")
    pairs = (place.split("=") for place in places.split(","))
    return game, {AccountId.fromhex(account): int(rank) for account, rank in pairs}


def _players(due: Sequence[BufferedEvent]) -> dict[str, list[AccountId]]:
    """Return the players by game."""
    found: dict[str, dict[AccountId, None]] = {}
    for turn in due:
        game, places = _read(turn)
        found.setdefault(game, {}).update(dict.fromkeys(places))
    return {game: list(accounts) for game, accounts in found.items()}


def _ratings_before(due: Sequence[BufferedEvent], found: Sequence[Any]) -> dict[Player, Rating]:
    """Return the ratings before."""
    return {
        (game, account): Rating() if data is None else unpack(data)
        for (game, accounts), row in zip(_players(due).items(), found, strict=True)
        for account, data in zip(accounts, row, strict=True)
    }


def _match_writes(turn: BufferedEvent, ratings: dict[Player, Rating]) -> Iterator[RedisWrite]:
    """Rate a match: update `ratings`, and return one more point for each player."""
    game, places = _read(turn)
    at, board, _ = turn.place
    before = [ratings[game, account] for account in places]
    after = rate([rating.skill for rating in before], list(places.values()))
    for account, rating, skill in zip(places, before, after, strict=True):
        ratings[game, account] = Rating(skill, rating.matches + 1, board, at)
        yield "RPUSH", series_key(game, account), pack(RatingPoint(board, at, skill))


def _table_writes(ratings: Mapping[Player, Rating]) -> Iterator[RedisWrite]:
    for (game, account), rating in ratings.items():
        yield "HSET", players_key(game), account.hex(), pack(rating)
        yield "ZADD", table_key(game), rating.skill.ordinal, account.hex()
