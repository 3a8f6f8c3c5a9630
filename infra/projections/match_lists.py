"""Lists of running matches: of each player, and of each game.

| key | what |
|---|---|
| `rows` | hash: board -> packed `MatchListRow` |
| `next:<account>` | sorted set: matches that wait for the player; score: since when, ms |
| `active:<account>` | sorted set: running matches; score: board |
| `asked:<account>` | sorted set: matches with an offer or an invitation that waits for the player; score: board |
| `proposed:<account>` | sorted set: matches by name that not all have accepted, for their players alone; score: board |
| `open:<game>` | sorted set: all running matches of a game; score: board |

Members are `<game>:<board>`. A row is in the bucket of its board and in that of each player, so that each
bucket depends on its own rows alone, and a player's page is read from one bucket. A player's lists are in
the player's bucket; of a game's running matches each bucket has those of its boards. A match that
ends leaves all of them: matches that have ended are in `infra.projections.finished_matches`, and queries of both read both.

The lists of matches as a player's home page needs them, in few round trips.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from heapq import merge
from itertools import chain, islice
from typing import Any, Final, TypeAlias

import msgspec
import redis

from domain.match.state import CurrentOffer
from domain.records import AccountId
from domain.rules import Seat
from infra.projections.archived_places import last_of, queue_last, queue_size, size_of
from infra.projections.buckets import LISTS, Bucket
from infra.projections.finished_matches import FinishedMatches, FinishedMatchRow
from infra.projections.generations import Query
from infra.redis.reads import Read, read_one

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
    tournament: int = 0
    """The number of its tournament; 0 without one."""

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


def open_key(game: str) -> str:
    """Return the key of a game's running matches."""
    return f"open:{game}"


def finished_row(row: FinishedMatchRow) -> MatchListRow:
    """Return a match that has ended as the row of a list, with all that is shown of it."""
    return MatchListRow(
        board=row.board,
        seq=0,
        rules=row.rules,
        options=row.options,
        seats=row.seats,
        waits=(),
        since=row.at,
        ply=row.plies,
        at=row.updated,
        winners=row.winners,
        reason=row.reason,
        ended=row.at,
        tournament=row.tournament,
    )


class MatchLists(Query):
    """Queries of a player's matches. They raise `Refusal` where older finished matches can't be read now."""

    spec = LISTS

    def __init__(self, client: redis.Redis, finished: FinishedMatches | None = None) -> None:
        super().__init__(client)
        self._finished = finished or FinishedMatches(client)

    def of(
        self,
        account: AccountId,
        state: MatchFilter = MatchFilter.ALL,
        game: str | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[MatchListRow]:
        """Return some of a player's matches, of one game if it is named, from the `start`th on.

        O(log n + count) in the matches of that state; of a game O(n) in the running ones, because those of other
        games are skipped.
        """
        if state is MatchFilter.NEXT:
            return self._some(account, next_key(account), game, start, count, newest=False)
        found: list[MatchListRow] = []
        if state is not MatchFilter.INACTIVE:
            found = self._some(account, active_key(account), game, start, count, newest=True)
        if state is MatchFilter.ACTIVE or len(found) == count:
            return found
        if state is MatchFilter.ALL:
            start -= self._count_active(account, game) if not found else start
        over = self._finished.of(game, account, None, max(0, start), count - len(found))
        return found + list(map(finished_row, over))

    def _count_active(self, account: AccountId, game: str | None) -> int:
        """Return the number of a player's running matches, of one game if it is named."""
        key = self._generation().of(account).key(active_key(account))
        if game is None:
            return int(self._client.zcard(key))
        beginning = f"{game}:".encode()
        return sum(member.startswith(beginning) for member in self._members(key, newest=True))

    def waiting(self, account: AccountId) -> list[MatchListRow]:
        """Return all matches that wait for a move, consent or answer of the player; O(their number)."""
        bucket = self._generation().of(account)
        names = [bucket.key(key(account)) for key in (asked_key, next_key)]
        members = chain.from_iterable(self._members(name, newest=False) for name in names)
        found = {row.board: row for row in self._rows_of(bucket, members)}
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
        bucket = self._generation().of(account)
        name = bucket.key(proposed_key(account))
        return self._rows_of(bucket, self._members(name, newest=True))

    def count_playing(self, game: str) -> int:
        """Return the number of running matches of a game; O(buckets)."""
        return read_one(self._client, self.read_count_playing(game))

    def read_count_playing(self, game: str) -> Read[int]:
        """Return the read of `count_playing`."""
        buckets = self._generation().all

        def queue(pipe: Any) -> None:
            for bucket in buckets:
                pipe.zcard(bucket.key(open_key(game)))

        return Read(queue, sum)

    def playing(self, game: str, start: int = 0, count: int = 50) -> list[MatchListRow]:
        """Return running matches of a game, the newest board first.

        O(log n + count), wherever they are; for the number of buckets see `_greatest`.
        """
        generation = self._generation()
        members = self._greatest(generation, open_key(game), start, count)
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
        bucket, over = self._generation().of(account), self._finished.list_of(None, account)
        with self._client.pipeline(transaction=False) as pipe:
            for key in (next_key, active_key):
                pipe.zcard(bucket.key(key(account)))
            queue_size(pipe, over)
            waiting, active, *size = pipe.execute()
        return MatchCounts(waiting, active, size_of(*size))

    def rows(self, boards: Sequence[int]) -> list[MatchListRow | None]:
        """Return matches by board, None for unknown ones and those in the archive."""
        bucket_rows = self._rows(self._generation(), ROWS, boards)
        found = {
            board: unpack(data)
            for board, data in zip(boards, bucket_rows, strict=True)
            if data is not None
        }
        others = [board for board in boards if board not in found]
        for row in self._finished.rows(others) if others else ():
            if row is not None:
                found[row.board] = finished_row(row)
        return [found.get(board) for board in boards]

    def _some(
        self,
        account: AccountId,
        key: str,
        game: str | None,
        start: int,
        count: int,
        *,
        newest: bool,
    ) -> list[MatchListRow]:
        """Return some of the matches in a player's sorted set; `newest` is whether those come first."""
        bucket = self._generation().of(account)
        members: Iterable[bytes]
        if game is None:
            members = self._client.zrange(bucket.key(key), start, start + count - 1, desc=newest)
        else:
            every = self._members(bucket.key(key), newest=newest)
            of_game = (one for one in every if one.startswith(f"{game}:".encode()))
            members = islice(of_game, start, start + count)
        return self._rows_of(bucket, members)

    def _rows_of(self, bucket: Bucket, members: Iterable[bytes]) -> list[MatchListRow]:
        found = self._fields(bucket.key(ROWS), map(board_of, members))
        # a match that ended between the two reads is in both lists or in none
        return [unpack(data) for data in found if data is not None]


def board_of(member: bytes) -> int:
    """Return the board of a member of a sorted set."""
    return int(member.rpartition(b":")[2])


Scored: TypeAlias = Sequence[tuple[bytes, float]]
"""Members of a sorted set with their scores."""


class HomeBoards(msgspec.Struct, frozen=True):
    """The boards of a player's home page."""

    bucket: Bucket
    """The player's, which has a row of each."""
    waiting: list[int]
    """All that wait for a move, consent or answer of the player."""
    others: list[int]
    """The other running ones, and those that others have yet to accept, the newest first."""
    mark: str
    """The text of `HomeLists.change_marks` for the player."""


class HomeLists(MatchLists):
    """Queries of the lists, and of all that a home page shows of them."""

    def read_boards(self, account: AccountId) -> Read[HomeBoards]:
        """Return the read of a player's boards; O(n) in the player's running matches."""
        bucket = self._generation().of(account)

        def queue(pipe: Any) -> None:
            _queue_waiting(pipe, bucket, account)
            pipe.zrange(bucket.key(active_key(account)), 0, -1)
            pipe.zrange(bucket.key(proposed_key(account)), 0, -1)

        def parse(replies: list[Any]) -> HomeBoards:
            waiting, active, proposed = replies
            mine = dict.fromkeys(board_of(member) for member, _ in waiting)
            running = sorted(map(board_of, (*active, *proposed)), reverse=True)
            others = [board for board in running if board not in mine]
            mark = _text(waiting, len(active), active[-1:], proposed)
            return HomeBoards(bucket, list(mine), others, mark)

        return Read(queue, parse)

    def read_waiting_counts(self, accounts: Sequence[AccountId]) -> Read[list[int]]:
        """Return the read of how many matches wait for each player; O(n) in their number."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                _queue_waiting(pipe, generation.of(account), account)

        return Read(queue, lambda found: list(map(len, found)))

    def read_activity(self, accounts: Sequence[AccountId]) -> Read[list[tuple[int, int, int]]]:
        """Return the read of each player's running and finished matches, and when the last ended, ms."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                over = self._finished.list_of(None, account)
                pipe.zcard(generation.of(account).key(active_key(account)))
                queue_size(pipe, over)
                queue_last(pipe, over)

        def parse(found: list[Any]) -> list[tuple[int, int, int]]:
            each = [found[at : at + 5] for at in range(0, len(found), 5)]
            return [(active, size_of(*found[:2]), last_of(*found[2:])) for active, *found in each]

        return Read(queue, parse)

    @staticmethod
    def read_rows(bucket: Bucket, boards: Sequence[int]) -> Read[dict[int, MatchListRow]]:
        """Return the read of rows by board from a player's bucket; without those it does not have."""
        wanted = list(dict.fromkeys(boards))

        def queue(pipe: Any) -> None:
            if wanted:
                pipe.hmget(bucket.key(ROWS), wanted)

        def parse(replies: list[Any]) -> dict[int, MatchListRow]:
            pairs = zip(wanted, replies[0] if wanted else (), strict=True)
            return {board: unpack(row) for board, row in pairs if row is not None}

        return Read(queue, parse)

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each player that changes with the lists of a home page."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                bucket = generation.of(account)
                _queue_waiting(pipe, bucket, account)
                pipe.zcard(bucket.key(active_key(account)))
                pipe.zrange(bucket.key(active_key(account)), -1, -1)
                pipe.zrange(bucket.key(proposed_key(account)), 0, -1)

        return Read(
            queue,
            lambda found: [_text(*found[at : at + 4]) for at in range(0, len(found), 4)],
        )


def _queue_waiting(pipe: Any, bucket: Bucket, account: AccountId) -> None:
    """Read the matches that wait for a player: for an answer, or for a move or consent."""
    pipe.zunion([bucket.key(key(account)) for key in (asked_key, next_key)], withscores=True)


def _text(waiting: Scored, active: int, newest: Sequence[bytes], proposed: Sequence[bytes]) -> str:
    """Return a text that changes with the matches that wait, and with the number and last of all."""
    return repr([waiting, active, newest, proposed])
