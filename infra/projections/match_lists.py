"""Lists of matches: of each player, and the running ones of each game.

| key | what |
|---|---|
| `rows` | hash: board -> packed `MatchListRow` |
| `next:<account>` | sorted set: matches that wait for the player; score: since when, ms |
| `active:<account>` | sorted set: running matches; score: board |
| `asked:<account>` | sorted set: matches with an offer or an invitation that waits for the player; score: board |
| `proposed:<account>` | sorted set: matches by name that not all have accepted, for their players alone; score: board |
| `over:<account>` | sorted set: matches that have ended; score: when, ms |
| `open:<game>` | sorted set: all running matches of a game; score: board |

Members are `<game>:<board>`. A row is in the bucket of its board and in that of each player, so that each
bucket depends on its own rows alone, and a player's page is read from one bucket. A player's lists are in
the player's bucket; of a game's running matches each bucket has those of its boards. Older rows of long lists of
matches that have ended are in row pages, see `infra.projections.paged_lists`.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from heapq import merge
from itertools import islice
from typing import Any, Final

import msgspec
import redis

from domain.match.current_offer import CurrentOffer
from domain.match.events import AccountId
from domain.rules import Seat
from infra.projections.buckets import Bucket
from infra.projections.finished_matches import FinishedMatches
from infra.projections.generations import Generation
from infra.projections.paged_lists import ListKey, PagedLists, PagedRows, RowHolder, pages_key
from infra.projections.query import Query
from infra.projections.row_pages import NO_PAGES, PAGE_ROWS, ListedRow, RowPages
from infra.projections.specs import LISTS
from infra.redis.reads import Read

ROWS: Final = "rows"


class MatchListRow(msgspec.Struct, frozen=True, array_like=True):
    """A match in a list."""

    board: int
    seq: int
    """Of the last event that was folded."""
    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    waits: tuple[Seat, ...]
    """The seats that are to act: the one to move, or those to accept, commit or reveal."""
    since: int
    """When their turn began, ms."""
    ply: int
    at: int
    """Of the last event, ms."""
    started: bool = True
    """False while the match waits for consent before its draw."""
    left: tuple[Seat, ...] = ()
    """Seats that have left the match while others play on, in that order."""
    winners: tuple[Seat, ...] | None = None
    """None while it runs; all tied seats for a draw, empty for a match that does not count."""
    reason: str = ""
    """Why it ended."""
    offer: CurrentOffer | None = None
    """The open offer."""
    sealed: bool = False
    """Whether the seats in `waits` are to reveal the texts that they have committed to."""
    ended: int = 0
    """When it got its result, ms; 0 while it runs."""
    invited: tuple[Seat, ...] = ()
    """The seats that have yet to accept the match by name; until then nobody else has it in a list."""

    @property
    def game(self) -> str:
        """Return the game's key, such as `pow2`."""
        return self.rules.partition("/")[0]

    @property
    def over(self) -> bool:
        """Return whether it has ended."""
        return self.winners is not None

    @property
    def next(self) -> Seat | None:
        """Return the seat to move; None if the match is over or waits for consent."""
        return self.waits[0] if self.started and self.waits else None

    @property
    def asked(self) -> tuple[Seat, ...]:
        """Return the seats that have not answered the offer."""
        if self.offer is None or self.over:
            return ()
        settled = {self.offer.seat, *self.offer.accepted, *self.left}
        return tuple(seat for seat in range(len(self.seats)) if seat not in settled)

    @property
    def member(self) -> str:
        """Return its member of the sorted sets."""
        return f"{self.game}:{self.board}"


class MatchFilter(StrEnum):
    """A filter of a player's matches."""

    NEXT = "next"
    """Those that wait for the player, the longest first."""
    ACTIVE = "active"
    """Running matches, the newest board first."""
    INACTIVE = "inactive"
    """Those that have ended, the last ended first."""
    ALL = "all"
    """Running matches, then those that have ended."""


class MatchCounts(msgspec.Struct, frozen=True):
    """Numbers of a player's matches."""

    next: int
    active: int
    inactive: int


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(MatchListRow).decode


def next_key(account: AccountId) -> str:
    """Return the key of the matches that wait for a player."""
    return f"next:{account.hex()}"


def active_key(account: AccountId) -> str:
    """Return the key of a player's running matches."""
    return f"active:{account.hex()}"


def asked_key(account: AccountId) -> str:
    """Return the key of the matches in which an offer waits for a player's answer."""
    return f"asked:{account.hex()}"


def proposed_key(account: AccountId) -> str:
    """Return the key of the matches by name of a player that not all have accepted."""
    return f"proposed:{account.hex()}"


def over_key(account: AccountId) -> str:
    """Return the key of a player's matches that have ended."""
    return f"over:{account.hex()}"


def open_key(game: str) -> str:
    """Return the key of a game's running matches."""
    return f"open:{game}"


class PagedMatchLists(PagedRows):
    """The lists of players' matches that have ended."""

    spec = LISTS
    prefixes = ("over:",)

    def board_of(self, member: bytes) -> int:
        """Return the board of a member."""
        return board_of(member)

    def row_bucket(self, generation: Generation, bucket: Bucket, board: int) -> Bucket:
        """Return the bucket of the list itself."""
        del generation, board
        return bucket

    def is_final(self, row: bytes) -> bool:
        """Return whether the match has ended."""
        return unpack(row).over

    def holders(self, generation: Generation, row: bytes) -> list[RowHolder]:
        """Return the buckets of the board and of the players, where the lists of the same bucket need it."""
        found = unpack(row)
        member = found.member.encode()
        lists = [(ListKey(generation.of(one), over_key(one)), member) for one in found.seats]
        buckets = dict.fromkeys([generation.of(found.board), *(one.bucket for one, _ in lists)])
        return [
            RowHolder(bucket, [pair for pair in lists if pair[0].bucket == bucket])
            for bucket in buckets
        ]


class MatchLists(Query):
    """Queries of the lists. They raise `Refusal` where older finished matches can't be read now."""

    spec = LISTS

    def __init__(self, client: redis.Redis, pages: RowPages = NO_PAGES) -> None:
        super().__init__(client)
        self._finished = PagedLists(client, pages, PagedMatchLists())
        self._history = FinishedMatches(client, pages)

    def of(
        self,
        account: AccountId,
        state: MatchFilter = MatchFilter.ALL,
        game: str | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[MatchListRow]:
        """Return some of a player's matches, of one game if it is named, from the `start`th on.

        O(log n + start + count) in the matches of that state; of a game O(n) in the running ones, because
        those of other games are skipped. Of older finished ones only the pages with the wanted are read.
        """
        if state is MatchFilter.NEXT:
            return self._some(account, [(next_key(account), False)], game, start, start + count)
        found: list[MatchListRow] = []
        if state is not MatchFilter.INACTIVE:
            sources = [(active_key(account), True)]
            found = self._some(account, sources, game, start, start + count)
        if state is MatchFilter.ACTIVE or len(found) == count:
            return found
        if state is MatchFilter.ALL:
            start -= self._count_active(account, game) if not found else start
        return found + self._ended(account, game, max(0, start), count - len(found))

    def _count_active(self, account: AccountId, game: str | None) -> int:
        """Return the number of a player's running matches, of one game if it is named."""
        key = self._generation().of(account).key(active_key(account))
        if game is None:
            return int(self._client.zcard(key))
        beginning = f"{game}:".encode()
        return sum(member.startswith(beginning) for member in self._members(key, newest=True))

    def _ended(
        self, account: AccountId, game: str | None, start: int, count: int
    ) -> list[MatchListRow]:
        """Return a player's matches that have ended, the last first; which are of a game the history knows."""
        generation = self._generation()
        one = ListKey(generation.of(account), over_key(account))
        if game is None:
            return list(map(unpack, self._finished.read(generation, [one], start, count)))
        found = [
            (one, ListedRow(at, f"{game}:{board}".encode(), b""))
            for at, board in self._history.places(game, account, start, count)
        ]
        rows = [unpack(row) for row in self._finished.rows_of(generation, found) if row]
        return [row for row in rows if row.over]

    def waiting(self, account: AccountId) -> list[MatchListRow]:
        """Return all matches that wait for a move, consent or answer of the player; O(their number)."""
        sources = [(key(account), False) for key in (asked_key, next_key)]
        found = {row.board: row for row in self._some(account, sources)}
        return list(found.values())

    def others(self, account: AccountId, start: int = 0, count: int = 50) -> list[MatchListRow]:
        """Return running matches that do not wait for the player, the newest board first.

        O(n) in the player's running matches.
        """
        bucket = self._generation().of(account)
        keys = (asked_key, next_key, proposed_key, active_key)
        names = [bucket.key(key(account)) for key in keys]
        asked, turns, *running = (list(self._members(name, newest=True)) for name in names)
        mine = {*asked, *turns}
        members = [one for one in merge(*running, key=board_of, reverse=True) if one not in mine]
        return self._rows_of(bucket, members[start : start + count])

    def proposed(self, account: AccountId) -> list[MatchListRow]:
        """Return the matches by name of a player that not all have accepted, the newest first."""
        return self._some(account, [(proposed_key(account), True)])

    def count_playing(self, game: str) -> int:
        """Return the number of running matches of a game; O(buckets)."""
        return self._count(self._generation(), open_key(game))

    def playing(self, game: str, start: int = 0, count: int = 50) -> list[MatchListRow]:
        """Return running matches of a game, the newest board first.

        O(log n + start + count), times the number of buckets.
        """
        generation = self._generation()
        members = islice(self._merged(generation, open_key(game)), start, start + count)
        rows = self._rows(generation, ROWS, map(board_of, members))
        return [unpack(data) for data in rows if data is not None]

    def read_newest(self, accounts: Sequence[AccountId], most: int) -> Read[set[int]]:
        """Return the read of the newest running matches of each player, at most so many of each."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                pipe.zrange(generation.of(account).key(active_key(account)), -most, -1)

        return Read(queue, lambda found: {board_of(one) for each in found for one in each})

    def counts(self, account: AccountId) -> MatchCounts:
        """Return the numbers of a player's matches; O(1)."""
        bucket = self._generation().of(account)
        # of one moment, because rows move to pages
        with self._client.pipeline(transaction=True) as pipe:
            for key in (next_key, active_key, over_key):
                pipe.zcard(bucket.key(key(account)))
            pipe.llen(bucket.key(pages_key(over_key(account))))
            waiting, active, over, pages = pipe.execute()
        return MatchCounts(waiting, active, over + PAGE_ROWS * pages)

    def rows(self, boards: Sequence[int]) -> list[MatchListRow | None]:
        """Return matches by board, None for unknown ones and those whose rows are in pages."""
        found = self._rows(self._generation(), ROWS, boards)
        return [None if data is None else unpack(data) for data in found]

    def _some(
        self,
        account: AccountId,
        sources: Iterable[tuple[str, bool]],
        game: str | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> list[MatchListRow]:
        """Return the matches in a player's sorted sets, each with whether its newest come first."""
        bucket = self._generation().of(account)
        beginning = b"" if game is None else f"{game}:".encode()
        members = (
            member
            for key, newest in sources
            for member in self._members(bucket.key(key), newest=newest)
            if member.startswith(beginning)
        )
        return self._rows_of(bucket, islice(members, start, end))

    def _rows_of(self, bucket: Bucket, members: Iterable[bytes]) -> list[MatchListRow]:
        found = self._fields(bucket.key(ROWS), map(board_of, members))
        # a match that ended between the two reads is in both lists or in none
        return [unpack(data) for data in found if data is not None]


def board_of(member: bytes) -> int:
    """Return the board of a member of a sorted set."""
    return int(member.rpartition(b":")[2])
