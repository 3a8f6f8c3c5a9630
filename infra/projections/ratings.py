"""Ratings of players by pool, now and after each match.

A pool is a game, or a game's matches in which a bot plays (`pool_of`): these are rated apart, so that ratings
against people don't depend on programs. The ids of bots say what they are, so the log alone decides the pool.

| key | what |
|---|---|
| `players:<game>` | hash: account -> packed `Rating` |
| `table:<game>` | sorted set of accounts; score: the skill's ordinal, in millionths |
| `series:<game>:<account>` | list of packed `RatingPoint`, in the order of the matches |
| `changes:<game>:<block>` | hash: board -> packed `RatingChange` of each seat; a block is 256 boards |
| `pending` | what waits for its turn, see `infra.projections.reorder` |

`<game>` is the pool. All of them are in its bucket.

Rated matches of two and more that somebody won count. A rating depends on those of the opponents at
that time, so matches are rated in the order in which they ended, across all shards: the order is the
same in every rebuild. `domain.ratings` says what a rating means.

Where a ruling takes a result away, the change that the match made to its players' skills is taken back, and a new
result is rated after that, both at the time of the ruling. What was rated in between stays as it is: ratings
of others, and the changes of later matches, were made with the skills of their time.

Blocks of changes are small
hashes, which a server stores in a few bytes a match.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from domain.match.state import is_bot
from domain.ratings import PROVISIONAL_MATCHES, UNIT, Skill
from domain.records import AccountId
from infra.projections.buckets import RATINGS, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.projection import Fact, counted_result, revoked_result
from infra.projections.reorder import BufferedEvent, OrderedProjection
from infra.redis.reads import Read, read_one

if TYPE_CHECKING:
    from openskill.models import PlackettLuce


_BLOCK: Final = 256

_WITH_BOTS: Final = "+bots"


def pool_of(game: str, accounts: Iterable[AccountId]) -> str:
    """Return the pool in which a match of these accounts is rated: the game, or that of its bots."""
    return pool_with_bots(game) if any(map(is_bot, accounts)) else game


def pool_with_bots(game: str) -> str:
    """Return the pool of a game's matches in which a bot plays."""
    return game + _WITH_BOTS


class RatingChange(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating before and after a match, as players see it."""

    before: int
    after: int

    @property
    def difference(self) -> int:
        """The points gained; negative for points lost."""
        return self.after - self.before


MatchChanges: TypeAlias = tuple[RatingChange, ...]
"""The change of each seat; empty for a match that is not rated, or not rated yet."""

RatedMatch: TypeAlias = tuple[str, int]
"""A pool and a board."""

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(MatchChanges).decode


def changes_key(game: str, board: int) -> str:
    """Return the key of the changes of a block of boards."""
    return f"changes:{game}:{board // _BLOCK}"


def changes_of(data: bytes | None) -> MatchChanges:
    """Return the changes of a match as they are stored; none for None."""
    return () if data is None else _unpack(data)


def change_writes(changes: Mapping[RatedMatch, Sequence[RatingChange]]) -> list[RedisWrite]:
    """Return the writes of changes; a match without any has lost those it had."""
    return [
        ("HSET", changes_key(game, board), board, _pack(found))
        if found
        else ("HDEL", changes_key(game, board), board)
        for (game, board), found in changes.items()
    ]


class Rating(msgspec.Struct, frozen=True, array_like=True):
    """A player's present rating."""

    skill: Skill = Skill()
    matches: int = 0
    """Rated matches."""
    board: int = 0
    """Of the last match or ruling."""
    at: int = 0
    """When that was, ms."""

    @property
    def display_value(self) -> int:
        """Return the rating as players see it."""
        return self.skill.rating

    @property
    def provisional(self) -> bool:
        """Return whether it still changes much with each match."""
        return self.matches < PROVISIONAL_MATCHES


class RatingPoint(msgspec.Struct, frozen=True, array_like=True):
    """A player's rating after a match, or after its change was taken back by a ruling."""

    board: int
    at: int
    """When the match ended, or the time of the ruling, ms."""
    skill: Skill

    @property
    def display_value(self) -> int:
        """Return the rating as players see it."""
        return self.skill.rating


class RatedPlayer(msgspec.Struct, frozen=True):
    """A player in a game's table."""

    account: AccountId
    rating: Rating


Player = tuple[str, AccountId]
"""A pool and a player."""


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
    """Queries of the ratings; what is named `game` is a pool."""

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

    def players(self, game: str, accounts: Sequence[AccountId]) -> list[Rating | None]:
        """Return the ratings of players, None for a newcomer, in one round trip; O(players)."""
        return read_one(self._client, self.read_known(game, accounts))

    def read_known(self, game: str, accounts: Sequence[AccountId]) -> Read[list[Rating | None]]:
        """Return the read of `players`."""
        key = self._generation().of(game).key(players_key(game))
        return Read(
            lambda pipe: pipe.hmget(key, [account.hex() for account in accounts]),
            lambda replies: [None if row is None else unpack(row) for row in replies[0]],
        )

    def read_players(self, wanted: Sequence[Player]) -> Read[list[Rating]]:
        """Return the read of players' ratings, each in a game; that of a newcomer for none."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for game, account in wanted:
                pipe.hget(generation.of(game).key(players_key(game)), account.hex())

        return Read(queue, lambda rows: [Rating() if row is None else unpack(row) for row in rows])

    def place(self, game: str, account: AccountId) -> int | None:
        """Return a player's place in the table, from 1; None without a rating; O(log n)."""
        return read_one(self._client, self.read_place(game, account))

    def read_place(self, game: str, account: AccountId) -> Read[int | None]:
        """Return the read of `place`."""
        key = self._generation().of(game).key(table_key(game))
        return Read(
            lambda pipe: pipe.zrevrank(key, account.hex()),
            lambda replies: None if replies[0] is None else int(replies[0]) + 1,
        )

    def series(
        self, game: str, account: AccountId, start: int = 0, count: int = 1_000
    ) -> list[RatingPoint]:
        """Return a player's rating after each match, from the `start`th on; O(start + count)."""
        return read_one(self._client, self.read_series(game, account, start, count))

    def read_series(
        self, game: str, account: AccountId, start: int, count: int
    ) -> Read[list[RatingPoint]]:
        """Return the read of `series`."""
        key = self._generation().of(game).key(series_key(game, account))
        return Read(
            lambda pipe: pipe.lrange(key, start, start + count - 1),
            lambda replies: [_unpack_point(data) for data in replies[0]],
        )

    def changes(self, matches: Sequence[RatedMatch]) -> list[MatchChanges]:
        """Return what each match changed in the ratings of its seats; O(1) a match."""
        return read_one(self._client, self.read_changes(matches))

    def read_changes(self, matches: Sequence[RatedMatch]) -> Read[list[MatchChanges]]:
        """Return the read of `changes`."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for game, board in matches:
                pipe.hget(generation.of(game).key(changes_key(game, board)), str(board))

        return Read(queue, lambda found: list(map(changes_of, found)))

    def count(self, game: str) -> int:
        """Return the number of players of a game with a rating; O(1)."""
        return int(self._client.zcard(self._generation().of(game).key(table_key(game))))


@cache
def _model() -> "PlackettLuce":
    from openskill.models import PlackettLuce as Model  # noqa: PLC0415 - slow, and queries need none

    return Model()


def rate(skills: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """Return the skills after a match with these places, 1 for the first."""
    teams = [[_model().create_rating([skill.mu / UNIT, skill.sigma / UNIT])] for skill in skills]
    rated = _model().rate(teams, ranks=[float(rank) for rank in ranks])
    return [Skill(round(team[0].mu * UNIT), round(team[0].sigma * UNIT)) for team in rated]


class RatingsProjection(OrderedProjection):
    """Keeps a rating for each player and game, and its value after each match."""

    spec = RATINGS

    def owners(self, fact: Fact) -> Sequence[str]:
        """Return the pool of a match that counts."""
        results = counted_result(fact), revoked_result(fact)
        return (_pool(fact),) if any(one and one.rated for one in results) else ()

    def buffered_text(self, fact: Fact) -> str | None:
        """Return pool, players and places of a match that counts, and the players of a result taken away."""
        finished, revoked, seats = counted_result(fact), revoked_result(fact), fact.setup.seats
        text = _pool(fact)
        if finished and finished.rated:
            ranks = zip(seats, finished.ranks, strict=True)
            text += "|" + ",".join(f"{account.hex()}={rank}" for account, rank in ranks)
        if revoked and revoked.rated:
            text += "|" + ",".join(account.hex() for account in seats)
        return text if "|" in text else None

    def ordered_needs(self, due: Sequence[BufferedEvent]) -> Sequence[RedisRead]:
        """Return the reads of the players' ratings, and of all ratings of those who lose a result."""
        return [
            *(
                ("HMGET", players_key(game), *(account.hex() for account in accounts))
                for game, accounts in _players(due).items()
            ),
            *(("LRANGE", series_key(*player), 0, -1) for player in _losing(due)),
        ]

    def ordered_fold(
        self, due: Sequence[BufferedEvent], found: Sequence[Any]
    ) -> Sequence[RedisWrite]:
        """Return the writes of one match after the other."""
        players = _players(due)
        ratings = _ratings_before(players, found[: len(players)])
        series = {
            player: [_unpack_point(data) for data in points]
            for player, points in zip(_losing(due), found[len(players) :], strict=True)
        }
        changes: dict[RatedMatch, list[RatingChange]] = {}
        points = [point for turn in due for point in _points(turn, ratings, series, changes)]
        pushes = [("RPUSH", series_key(*player), pack(point)) for player, point in points]
        return [*pushes, *_table_writes(ratings), *change_writes(changes)]


def _pool(fact: Fact) -> str:
    return pool_of(fact.setup.game, fact.setup.seats)


class _RatedResult(msgspec.Struct, frozen=True):
    """The buffered part of an event."""

    game: str
    places: Mapping[AccountId, int]
    """Empty if there is no result, or one that does not count."""
    losing: tuple[AccountId, ...]
    """The players of a result that was taken away."""


def _read(turn: BufferedEvent) -> _RatedResult:
    game, *parts = turn.text.split("|")
    ranked = [part for part in parts if "=" in part]
    losing = [part for part in parts if "=" not in part]
    pairs = [one.split("=") for part in ranked for one in part.split(",")]
    return _RatedResult(
        game,
        {AccountId.fromhex(account): int(rank) for account, rank in pairs},
        tuple(AccountId.fromhex(account) for part in losing for account in part.split(",")),
    )


def _players(due: Sequence[BufferedEvent]) -> dict[str, list[AccountId]]:
    """Return the players by game."""
    found: dict[str, dict[AccountId, None]] = {}
    for one in map(_read, due):
        found.setdefault(one.game, {}).update(dict.fromkeys([*one.places, *one.losing]))
    return {game: list(accounts) for game, accounts in found.items()}


def _losing(due: Sequence[BufferedEvent]) -> list[Player]:
    """Return the players of results that were taken away."""
    return list(dict.fromkeys((one.game, who) for one in map(_read, due) for who in one.losing))


def _ratings_before(
    players: Mapping[str, Sequence[AccountId]], found: Sequence[Any]
) -> dict[Player, Rating]:
    """Return the ratings before."""
    return {
        (game, account): Rating() if data is None else unpack(data)
        for (game, accounts), row in zip(players.items(), found, strict=True)
        for account, data in zip(accounts, row, strict=True)
    }


def _points(
    turn: BufferedEvent,
    ratings: dict[Player, Rating],
    series: dict[Player, list[RatingPoint]],
    changes: dict[RatedMatch, list[RatingChange]],
) -> Iterator[tuple[Player, RatingPoint]]:
    """Return one more point for each player, first without a result that is gone, then with a new one.

    They are added to `ratings`, and to the `series` that are there; `changes` gets what the match changed.
    """
    one, (at, board, _) = _read(turn), turn.place
    changes[one.game, board] = []
    for account in one.losing:
        player = one.game, account
        matches = ratings[player].matches - 1
        skill = _without(ratings, series, player, board) if matches else Skill()
        ratings[player] = Rating(skill, matches, board, at)
        yield _record(player, RatingPoint(board, at, skill), series)
    if not one.places:
        return
    before = [ratings[one.game, account] for account in one.places]
    after = rate([rating.skill for rating in before], list(one.places.values()))
    for account, rating, skill in zip(one.places, before, after, strict=True):
        changes[one.game, board].append(RatingChange(rating.display_value, skill.rating))
        ratings[one.game, account] = Rating(skill, rating.matches + 1, board, at)
        yield _record((one.game, account), RatingPoint(board, at, skill), series)


def _record(
    player: Player, point: RatingPoint, series: dict[Player, list[RatingPoint]]
) -> tuple[Player, RatingPoint]:
    if player in series:
        series[player].append(point)
    return player, point


def _without(
    ratings: Mapping[Player, Rating],
    series: Mapping[Player, Sequence[RatingPoint]],
    player: Player,
    board: int,
) -> Skill:
    """Return a player's skill without the change that the last result of a match made."""
    skill, points = ratings[player].skill, series[player]
    last = max(number for number, point in enumerate(points) if point.board == board)
    before = points[last - 1].skill if last else Skill()
    change = points[last].skill
    # a deviation is never 0, because skills are divided by it
    sigma = max(1, skill.sigma - (change.sigma - before.sigma))
    return Skill(skill.mu - (change.mu - before.mu), sigma)


def _table_writes(ratings: Mapping[Player, Rating]) -> Iterator[RedisWrite]:
    for (game, account), rating in ratings.items():
        if rating.matches:
            yield "HSET", players_key(game), account.hex(), pack(rating)
            yield "ZADD", table_key(game), rating.skill.ordinal, account.hex()
        else:
            yield "HDEL", players_key(game), account.hex()
            yield "ZREM", table_key(game), account.hex()
