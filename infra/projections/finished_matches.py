"""Finished matches of each game, player and pair: the one place where lists of them are.

| key | what |
|---|---|
| `rows` | hash: board -> packed `FinishedMatchRow`, of a match that is not in the archive |
| `game:<game>` | list of boards, by when the match ended |
| `account:<account>` | the same, of one player |
| `player:<game>:<account>` | the same, of one player in one game |
| `pair:<game>:<account>:<account>` | the same, of matches in which both played; the lesser id first |

A row is in the bucket of its board, and a list in that of its owner: the game, the player, the lesser id of a pair. So
each list is in one bucket. When a match goes into the archive, its row is in the directory page there, and
its places in the lists are packed; see `infra.projections.archived_places`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final, TypeAlias

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.archive.directory_pages import DirectoryEntry
from infra.projections.archived_places import FinishedLists, ListKey, Place
from infra.projections.buckets import HISTORY, Bucket, Owner, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.projection import (
    OF_DISPUTES,
    Fact,
    MatchResult,
    OwnedWrite,
    Projection,
)
from infra.redis.reads import Read
from infra.sentences import SAY

ROWS: Final = "rows"

Entries: TypeAlias = Callable[[Sequence[int]], Sequence[DirectoryEntry | None]]
"""Returns what the archive has of matches, None for those that are not there; `Refusal` if it can't be read."""


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
    updated: int
    """When its last event was, ms."""
    tournament: int = 0
    """The number of its tournament; 0 without one."""

    @property
    def game(self) -> str:
        """Return the game's key, such as `pow2`."""
        return self.rules.partition("/")[0]


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(FinishedMatchRow).decode


def game_key(game: str) -> str:
    """Return the key of a game's finished matches."""
    return f"game:{game}"


def account_key(account: AccountId) -> str:
    """Return the key of a player's finished matches of all games."""
    return f"account:{account.hex()}"


def player_key(game: str, account: AccountId) -> str:
    """Return the key of a player's finished matches of a game."""
    return f"player:{game}:{account.hex()}"


def pair_key(game: str, one: AccountId, other: AccountId) -> str:
    """Return the key of the finished matches of a game in which both played."""
    first, second = sorted([one, other])
    return f"pair:{game}:{first.hex()}:{second.hex()}"


def row_of_entry(entry: DirectoryEntry, at: int) -> FinishedMatchRow:
    """Return the row of a match in the archive, which got its result at a time in ms."""
    found = entry.summary
    assert found is not None  # of a tournament, which is in none of these lists
    return FinishedMatchRow(
        board=entry.board,
        at=at,
        rules=found.rules,
        options=found.options,
        seats=found.seats,
        winners=found.winners,
        ranks=found.ranks,
        reason=found.reason,
        plies=found.plies,
        rated=found.rated,
        updated=entry.last_at,
        tournament=found.tournament,
    )


def lists_of(game: str, seats: Sequence[AccountId]) -> list[tuple[Owner, str]]:
    """Return all lists that a match is in, each with its owner."""
    lists: list[tuple[Owner, str]] = [(game, game_key(game))]
    for account in seats:
        lists += [(account, account_key(account)), (account, player_key(game, account))]
    return lists + [(min(pair), pair_key(game, *pair)) for pair in combinations(seats, 2)]


def is_list(name: str) -> bool:
    """Return whether a key is one of these lists."""
    return name.startswith(("game:", "account:", "player:", "pair:"))


def no_entries(boards: Sequence[int]) -> Sequence[None]:
    """Return that no match is in the archive."""
    return [None for _ in boards]


class FinishedMatches(Query):
    """Queries of finished matches. They raise `Refusal` where older rows can't be read now, or are damaged."""

    spec = HISTORY

    def __init__(self, client: redis.Redis, entries: Entries = no_entries) -> None:
        super().__init__(client)
        self._lists = FinishedLists(client)
        self._entries = entries

    def of(
        self,
        game: str | None,
        account: AccountId | None = None,
        opponent: AccountId | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[FinishedMatchRow]:
        """Return finished matches of a game, the last ended first, from the `start`th on.

        With an account those of that player, with two those of both; without a game those of all, for which
        an account is needed. O(log n + count), and a directory page for each match that is in the archive.
        """
        generation = self._generation()
        found = self._lists.read(self.list_of(game, account, opponent), start, count)
        rows = self._rows(generation, ROWS, [int(member) for _, member in found])
        missing = [place for place, row in zip(found, rows, strict=True) if row is None]
        older = self._older(missing) if missing else {}
        pairs = zip(found, rows, strict=True)
        known = [older.get(place) if row is None else unpack(row) for place, row in pairs]
        # a match that goes on since the list was read has no row
        return [row for row in known if row is not None]

    def places(self, account: AccountId, start: int, count: int) -> list[Place]:
        """Return when matches of a player ended, each with its board, the last ended first; needs no archive."""
        return self._lists.read(self.list_of(None, account), start, count)

    def places_of_game(self, game: str, start: int, count: int) -> list[Place]:
        """Return the same of a game."""
        return self._lists.read(self.list_of(game), start, count)

    def _older(self, places: Sequence[Place]) -> dict[Place, FinishedMatchRow]:
        """Return the rows of matches in the archive."""
        try:
            entries = self._entries([int(member) for _, member in places])
        except Refusal as refusal:
            damaged = refusal.code is Code.DAMAGED
            text = SAY("older-damaged") if damaged else SAY("older-away")
            raise Refusal(refusal.code, text) from refusal
        return {
            place: row_of_entry(entry, place[0])
            for place, entry in zip(places, entries, strict=True)
            if entry is not None
        }

    def list_of(
        self, game: str | None, account: AccountId | None = None, opponent: AccountId | None = None
    ) -> ListKey:
        """Return the list of a game's matches: of all, of one player, or of two; ValueError for one of nothing."""
        generation = self._generation()
        match game, sorted(one for one in (account, opponent) if one is not None):
            case None, [one]:
                return ListKey(generation.of(one), account_key(one))
            case str(), []:
                return ListKey(generation.of(game), game_key(game))
            case str(), [one]:
                return ListKey(generation.of(one), player_key(game, one))
            case str(), [one, other]:
                return ListKey(generation.of(one), pair_key(game, one, other))
        raise ValueError(
            "there is no list of all matches of all games, nor of two players in all games"
        )

    def count(
        self, game: str | None, account: AccountId | None = None, opponent: AccountId | None = None
    ) -> int:
        """Return the number of matches in a list of `of`; O(1)."""
        return self._lists.count(self.list_of(game, account, opponent))

    def rows(self, boards: Iterable[int]) -> list[FinishedMatchRow | None]:
        """Return matches by board, None for those that have not ended or are in the archive."""
        found = self._rows(self._generation(), ROWS, boards)
        return [None if row is None else unpack(row) for row in found]

    def read_rows(self, boards: Iterable[int]) -> Read[dict[int, FinishedMatchRow]]:
        """Return the read of `rows` by board, without those that it does not have."""
        groups = self._by_bucket(self._generation(), boards)

        def queue(pipe: Any) -> None:
            for bucket, some in groups.items():
                pipe.hmget(bucket.key(ROWS), some)

        def parse(replies: list[Any]) -> dict[int, FinishedMatchRow]:
            known = [unpack(row) for some in replies for row in some if row is not None]
            return {row.board: row for row in known}

        return Read(queue, parse)


class FinishedMatchesProjection(Projection):
    """A row for each match that has ended, and the lists it is in."""

    spec = HISTORY
    settled_only = True

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return all owners for a match that has ended, or whose result is taken away; the board of a dispute."""
        board, setup = fact.event.match, fact.setup
        if fact.result or fact.revoked:
            return board, setup.game, *setup.seats
        return (board,) if isinstance(fact.event.body, OF_DISPUTES) else ()

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the read of the rows of matches with a dispute."""
        boards = _disputed(facts, bucket)
        return [("HMGET", ROWS, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the writes: a match that has ended is added, one that goes on again is removed."""
        data = zip(_disputed(facts, bucket), *found, strict=True) if found else ()
        rows = {board: unpack(row) for board, row in data if row is not None}
        writes: list[RedisWrite] = []
        for fact in facts:
            board = fact.event.match
            if fact.result:
                rows[board] = _row(fact, fact.result)
            elif fact.revoked:
                rows.pop(board, None)
            elif board in rows:
                rows[board] = msgspec.structs.replace(rows[board], updated=fact.event.at)
            writes += [
                write for owner, write in _writes(fact, rows.get(board)) if bucket.owns(owner)
            ]
        return writes


def _disputed(facts: Sequence[Fact], bucket: Bucket) -> list[int]:
    disputed = (one.event for one in facts if isinstance(one.event.body, OF_DISPUTES))
    boards = dict.fromkeys(event.match for event in disputed)
    return [board for board in boards if bucket.owns(board)]


def _writes(fact: Fact, row: FinishedMatchRow | None) -> Iterator[OwnedWrite]:
    """Return the writes for a fact, after which a match has this row."""
    board, setup = fact.event.match, fact.setup
    if row:
        yield board, ("HSET", ROWS, board, pack(row))
    elif fact.revoked:
        yield board, ("HDEL", ROWS, board)
    if not (fact.result or fact.revoked):
        return
    hidden = {account_key(account) for account in fact.erased}
    for owner, key in lists_of(setup.game, setup.seats):
        if key not in hidden:
            yield owner, ("ZADD", key, row.at, board) if row else ("ZREM", key, board)


def _row(fact: Fact, finished: MatchResult) -> FinishedMatchRow:
    event, setup = fact.event, fact.setup
    return FinishedMatchRow(
        board=event.match,
        at=event.at,
        rules=setup.rules,
        options=setup.options,
        seats=setup.seats,
        winners=finished.winners,
        ranks=finished.ranks,
        reason=finished.reason,
        plies=finished.plies,
        rated=finished.rated,
        updated=event.at,
        tournament=setup.pairing[0] if setup.pairing else 0,
    )
