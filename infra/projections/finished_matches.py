"""Finished matches of each game, player and pair.

| key | what |
|---|---|
| `rows` | hash: board -> packed `FinishedMatchRow` |
| `game:<game>` | sorted set of boards; score: when the match ended, ms; each bucket has those of its boards |
| `player:<game>:<account>` | the same, of one player |
| `pair:<game>:<account>:<account>` | the same, of matches in which both played; the lesser id first |

A row is in the bucket of its board, and a pair in that of its lesser id.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Final

import msgspec

from domain.match.events import AccountId
from infra.projections.buckets import Owner
from infra.projections.projection import Fact, MatchResult, OwnedWrite, StatelessProjection
from infra.projections.query import Query
from infra.projections.specs import HISTORY

ROWS: Final = "rows"


class FinishedMatchRow(msgspec.Struct, frozen=True, array_like=True):
    """A finished match."""

    board: int
    at: int
    """When it ended, ms."""
    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    winners: tuple[int, ...]
    """All tied seats for a draw, none for a match that does not count."""
    ranks: tuple[int, ...]
    """For each seat its place, 1 for the first."""
    reason: str
    plies: int
    rated: bool

    @property
    def game(self) -> str:
        """Return the game's key, such as `pow2`."""
        return self.rules.partition("/")[0]


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(FinishedMatchRow).decode


def game_key(game: str) -> str:
    """Return the key of a game's finished matches."""
    return f"game:{game}"


def player_key(game: str, account: AccountId) -> str:
    """Return the key of a player's finished matches of a game."""
    return f"player:{game}:{account.hex()}"


def pair_key(game: str, one: AccountId, other: AccountId) -> str:
    """Return the key of the finished matches of a game in which both played."""
    first, second = sorted([one, other])
    return f"pair:{game}:{first.hex()}:{second.hex()}"


class FinishedMatches(Query):
    """Queries of finished matches."""

    spec = HISTORY

    def of(
        self,
        game: str,
        account: AccountId | None = None,
        opponent: AccountId | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[FinishedMatchRow]:
        """Return finished matches of a game, the last ended first, from the `start`th on.

        With an account those of that player, with two those of both. O(log n + start + count), and
        buckets times that without an account.
        """
        generation = self._generation()
        end = start + count
        if accounts := sorted(a for a in (account, opponent) if a is not None):
            key = generation.of(accounts[0]).key(_key(game, accounts))
            boards = self._client.zrange(key, start, end - 1, desc=True)
        else:
            boards = islice(self._merged(generation, game_key(game)), start, end)
        rows = self._rows(generation, ROWS, map(int, boards))
        return [unpack(row) for row in rows if row is not None]

    def count(
        self, game: str, account: AccountId | None = None, opponent: AccountId | None = None
    ) -> int:
        """Return their number; O(1), and O(buckets) without an account."""
        generation = self._generation()
        if accounts := sorted(a for a in (account, opponent) if a is not None):
            return int(self._client.zcard(generation.of(accounts[0]).key(_key(game, accounts))))
        return self._count(generation, game_key(game))

    def rows(self, boards: Iterable[int]) -> list[FinishedMatchRow | None]:
        """Return matches by board, None for those that have not ended; O(number of boards)."""
        found = self._rows(self._generation(), ROWS, boards)
        return [None if row is None else unpack(row) for row in found]


def _key(game: str, accounts: list[AccountId]) -> str:
    return player_key(game, *accounts) if len(accounts) == 1 else pair_key(game, *accounts)


class FinishedMatchesProjection(StatelessProjection):
    """A row for each match that has ended, and the sets it is in."""

    spec = HISTORY

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the board and the players of a match that has ended."""
        return (fact.event.match, *fact.setup.seats) if fact.result else ()

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Add a match that has ended."""
        if fact.result:
            yield from _match_writes(fact, fact.result)


def _match_writes(fact: Fact, finished: MatchResult) -> Iterator[OwnedWrite]:
    event, cast = fact.event, fact.setup
    row = FinishedMatchRow(
        board=event.match,
        at=event.at,
        rules=cast.rules,
        options=cast.options,
        seats=cast.seats,
        winners=finished.winners,
        ranks=finished.ranks,
        reason=finished.reason,
        plies=finished.plies,
        rated=finished.rated,
    )
    yield event.match, ("HSET", ROWS, event.match, pack(row))
    lists: list[tuple[Owner, str]] = [(event.match, game_key(cast.game))]
    lists += [(account, player_key(cast.game, account)) for account in cast.seats]
    lists += [(min(pair), pair_key(cast.game, *pair)) for pair in combinations(cast.seats, 2)]
    for owner, key in lists:
        yield owner, ("ZADD", key, event.at, event.match)
