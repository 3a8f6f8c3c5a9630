"""Finished matches of each game, player and pair.

| key | what |
|---|---|
| `rows` | hash: board -> packed `FinishedMatchRow` |
| `game:<game>` | sorted set of boards; score: when the match ended, ms; each bucket has those of its boards |
| `player:<game>:<account>` | the same, of one player |
| `pair:<game>:<account>:<account>` | the same, of matches in which both played; the lesser id first |

A row is in the bucket of its board, and a pair in that of its lesser id. Older rows of long lists are in row
pages, see `infra.projections.paged_lists`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

import msgspec
import redis

from domain.match.events import AccountId
from infra.projections.buckets import Bucket, Owner
from infra.projections.generations import Generation
from infra.projections.paged_lists import ListKey, PagedLists, PagedRows, RowHolder
from infra.projections.projection import (
    Fact,
    MatchResult,
    MatchSetup,
    OwnedWrite,
    StatelessProjection,
)
from infra.projections.query import Query
from infra.projections.row_pages import NO_PAGES, RowPages
from infra.projections.specs import HISTORY

ROWS: Final = "rows"


class FinishedMatchRow(msgspec.Struct, frozen=True, array_like=True):
    """A finished match."""

    board: int
    at: int
    """When it got its result, ms."""
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


class PagedHistory(PagedRows):
    """The lists of finished matches by game, player and pair."""

    spec = HISTORY
    prefixes = ("game:", "player:", "pair:")

    def board_of(self, member: bytes) -> int:
        """Return the board, which is all that a member has."""
        return int(member)

    def row_bucket(self, generation: Generation, bucket: Bucket, board: int) -> Bucket:
        """Return the bucket of the board."""
        del bucket
        return generation.of(board)

    def is_final(self, row: bytes) -> bool:
        """Return True, because all matches are finished."""
        del row
        return True

    def holders(self, generation: Generation, row: bytes) -> list[RowHolder]:
        """Return the bucket of the board, where the lists of the game and the players find the row."""
        found = unpack(row)
        member = str(found.board).encode()
        lists = [
            (ListKey(generation.of(owner), key), member)
            for owner, key in _own_lists(found.board, found.game, found.seats)
        ]
        return [RowHolder(generation.of(found.board), lists)]

    def other_list(self, one: ListKey) -> ListKey | None:
        """Return for the list of a pair that of the player with the lesser id, which is in the same bucket."""
        kind, _, rest = one.name.partition(":")
        if kind != "pair":
            return None
        game, account, _ = rest.split(":")
        return ListKey(one.bucket, player_key(game, AccountId.fromhex(account)))


class FinishedMatches(Query):
    """Queries of finished matches. They raise `Refusal` where older rows can't be read now, or are damaged."""

    spec = HISTORY

    def __init__(self, client: redis.Redis, pages: RowPages = NO_PAGES) -> None:
        super().__init__(client)
        self._lists = PagedLists(client, pages, PagedHistory())

    def of(
        self,
        game: str,
        account: AccountId | None = None,
        opponent: AccountId | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[FinishedMatchRow]:
        """Return finished matches of a game, the last ended first, from the `start`th on.

        With an account those of that player, with two those of both. O(log n + count) in those that are in Redis,
        then O(start / 256 + count); with several buckets O(start + count) of each, without an account.
        """
        generation = self._generation()
        lists = _keys(generation, game, account, opponent)
        return [unpack(row) for row in self._lists.read(generation, lists, start, count)]

    def places(
        self, game: str, account: AccountId, start: int, count: int
    ) -> list[tuple[int, int]]:
        """Return the times and boards of a player's finished matches of a game, as `of` lists them."""
        found = self._lists.listed(_keys(self._generation(), game, account, None), start, count)
        return [(row.at, int(row.member)) for _, row in found]

    def count(
        self, game: str, account: AccountId | None = None, opponent: AccountId | None = None
    ) -> int:
        """Return their number; O(1), and O(buckets) without an account."""
        return self._lists.count(_keys(self._generation(), game, account, opponent))

    def rows(self, boards: Iterable[int]) -> list[FinishedMatchRow | None]:
        """Return matches by board, None for those that have not ended or whose rows are in pages."""
        found = self._rows(self._generation(), ROWS, boards)
        return [None if row is None else unpack(row) for row in found]


def _keys(
    generation: Generation, game: str, account: AccountId | None, opponent: AccountId | None
) -> list[ListKey]:
    """Return the lists of a game's matches: of one player, of two, or of all, which each bucket has a part of."""
    match sorted(one for one in (account, opponent) if one is not None):
        case [one]:
            return [ListKey(generation.of(one), player_key(game, one))]
        case [one, other]:
            return [ListKey(generation.of(one), pair_key(game, one, other))]
        case _:
            return [ListKey(bucket, game_key(game)) for bucket in generation.all]


def _own_lists(board: int, game: str, seats: Sequence[AccountId]) -> list[tuple[Owner, str]]:
    """Return the lists of the game and of the players that a match is in, each with its owner."""
    lists: list[tuple[Owner, str]] = [(board, game_key(game))]
    return lists + [(account, player_key(game, account)) for account in seats]


def _lists(board: int, game: str, seats: Sequence[AccountId]) -> list[tuple[Owner, str]]:
    """Return all lists that a match is in, each with its owner."""
    pairs = [(min(pair), pair_key(game, *pair)) for pair in combinations(seats, 2)]
    return [*_own_lists(board, game, seats), *pairs]


class FinishedMatchesProjection(StatelessProjection):
    """A row for each match that has ended, and the sets it is in."""

    spec = HISTORY

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the board and the players of a match that has ended, or whose result is taken away."""
        return (fact.event.match, *fact.setup.seats) if fact.result or fact.revoked else ()

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Add a match that has ended, and remove one that goes on again."""
        if fact.result:
            yield from _match_writes(fact, fact.result)
        elif fact.revoked:
            yield from _removals(fact.event.match, fact.setup)


def _removals(board: int, cast: MatchSetup) -> Iterator[OwnedWrite]:
    yield board, ("HDEL", ROWS, board)
    for owner, key in _lists(board, cast.game, cast.seats):
        yield owner, ("ZREM", key, board)


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
    for owner, key in _lists(event.match, cast.game, cast.seats):
        yield owner, ("ZADD", key, event.at, event.match)
