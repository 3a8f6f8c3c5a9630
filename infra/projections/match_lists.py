"""Lists of matches: of each player, and the running ones of each game.

| key | what |
|---|---|
| `rows` | hash: board -> packed `MatchListRow` |
| `next:<account>` | sorted set: matches that wait for the player; score: since when, ms |
| `active:<account>` | sorted set: running matches; score: board |
| `asked:<account>` | sorted set: matches with an offer that waits for the player; score: board |
| `over:<account>` | sorted set: matches that have ended; score: when, ms |
| `open:<game>` | sorted set: all running matches of a game; score: board |

Members are `<game>:<board>`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, Final, assert_never

import msgspec

from domain.match import events
from domain.match.events import AccountId, EventEnvelope
from domain.match.state import CurrentOffer
from domain.rules import Seat
from infra.projections.generations import RedisRead, RedisWrite
from infra.projections.projection import Fact, MatchSetup, Projection
from infra.projections.query import Query
from infra.projections.specs import LISTS

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


def over_key(account: AccountId) -> str:
    """Return the key of a player's matches that have ended."""
    return f"over:{account.hex()}"


def open_key(game: str) -> str:
    """Return the key of a game's running matches."""
    return f"open:{game}"


class MatchLists(Query):
    """Queries of the lists."""

    spec = LISTS

    def of(
        self,
        account: AccountId,
        state: MatchFilter = MatchFilter.ALL,
        game: str | None = None,
        start: int = 0,
        count: int = 50,
    ) -> list[MatchListRow]:
        """Return some of a player's matches, of one game if it is named, from the `start`th on.

        O(log n + start + count) in the matches of that state; with a game O(n) at worst, because
        those of other games are skipped.
        """
        sources = {
            MatchFilter.NEXT: [(next_key, False)],
            MatchFilter.ACTIVE: [(active_key, True)],
            MatchFilter.INACTIVE: [(over_key, True)],
            MatchFilter.ALL: [(active_key, True), (over_key, True)],
        }[state]
        wanted = [(key(account), newest) for key, newest in sources]
        return self._some(wanted, game, start, count)

    def waiting(self, account: AccountId) -> list[MatchListRow]:
        """Return all matches that wait for a move, consent or answer of the player; O(their number)."""
        sources = [(key(account), False) for key in (asked_key, next_key)]
        found = {row.board: row for row in self._some(sources, None, 0, None)}
        return list(found.values())

    def others(self, account: AccountId, start: int = 0, count: int = 50) -> list[MatchListRow]:
        """Return running matches that do not wait for the player, the newest board first.

        O(n) in the player's running matches.
        """
        mine = set(self._boards_of(account, (asked_key, next_key)))
        boards = [one for one in self._boards_of(account, (active_key,)) if one not in mine]
        return self._rows(boards[::-1][start : start + count])

    def count_playing(self, game: str) -> int:
        """Return the number of running matches of a game; O(1)."""
        return int(self._client.zcard(self._generation().key(open_key(game))))

    def playing(self, game: str, start: int = 0, count: int = 50) -> list[MatchListRow]:
        """Return running matches of a game, the newest board first; O(log n + start + count)."""
        return self._some([(open_key(game), True)], game, start, count)

    def counts(self, account: AccountId) -> MatchCounts:
        """Return the numbers of a player's matches; O(1)."""
        generation = self._generation()
        with self._client.pipeline(transaction=False) as pipe:
            for key in (next_key, active_key, over_key):
                pipe.zcard(generation.key(key(account)))
            return MatchCounts(*pipe.execute())

    def rows(self, boards: Sequence[int]) -> list[MatchListRow | None]:
        """Return matches by board, None for unknown ones; O(number of boards)."""
        found = self._fields(self._generation().key(ROWS), boards)
        return [None if data is None else unpack(data) for data in found]

    def _some(
        self, sources: Iterable[tuple[str, bool]], game: str | None, start: int, count: int | None
    ) -> list[MatchListRow]:
        end = None if count is None else start + count
        return self._rows(islice(self._boards(sources, game), start, end))

    def _boards_of(
        self, account: AccountId, lists: Iterable[Callable[[AccountId], str]]
    ) -> list[bytes]:
        return list(self._boards(((key(account), False) for key in lists), None))

    def _boards(self, sources: Iterable[tuple[str, bool]], game: str | None) -> Iterator[bytes]:
        """Return the boards in sorted sets, each with whether its newest come first."""
        generation = self._generation()
        beginning = b"" if game is None else f"{game}:".encode()
        for key, newest in sources:
            for member in self._members(generation.key(key), newest=newest):
                if member.startswith(beginning):
                    yield board_of(member)

    def _rows(self, boards: Iterable[bytes]) -> list[MatchListRow]:
        found = self._fields(self._generation().key(ROWS), boards)
        # a match that ended between the two reads is in both lists or in none
        return [unpack(data) for data in found if data is not None]


def board_of(member: bytes) -> bytes:
    """Return the board of a member of a sorted set."""
    return member.rpartition(b":")[2]


_FIELDS: Final = 1_000
"""Rows in one command, because a call of a script has a limited number of arguments."""

Memberships = Mapping[tuple[str, str], int]
"""Score by sorted set and member."""


class MatchListsProjection(Projection):
    """Keeps a row for each match, and the lists that it is in."""

    spec = LISTS

    def needs(self, facts: Sequence[Fact]) -> Sequence[RedisRead]:
        """Return the read of the matches' rows."""
        boards = _boards_in(facts)
        return [("HMGET", ROWS, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[RedisWrite]:
        """Return the changes of rows and lists."""
        if not facts:
            return []
        data = dict(zip(_boards_in(facts), found[0], strict=True))
        before = {board: unpack(row) for board, row in data.items() if row is not None}
        rows = dict(before)
        for fact in facts:
            board = fact.event.match
            rows[board] = evolve(rows.get(board), fact)
        return [*_row_writes(rows), *_list_writes(before, rows)]


def _boards_in(facts: Iterable[Fact]) -> list[int]:
    return list(dict.fromkeys(fact.event.match for fact in facts))


def evolve(row: MatchListRow | None, fact: Fact) -> MatchListRow:
    """Return a match's row after an event; one that was folded before changes nothing."""
    event = fact.event
    seq = row.seq if row else 0
    if event.seq <= seq:
        return row or _first(fact.setup, event)
    if event.seq != seq + 1:
        raise ValueError(f"event {event.seq} of match {event.match} comes after event {seq}")
    old = row or _first(fact.setup, event)
    new = _next_row(old, event)
    turned = new.waits != old.waits or new.ply != old.ply or row is None
    since = event.at if turned else old.since
    return msgspec.structs.replace(new, seq=event.seq, at=event.at, since=since)


def _first(cast: MatchSetup, event: EventEnvelope) -> MatchListRow:
    return MatchListRow(
        board=event.match,
        seq=0,
        rules=cast.rules,
        options=cast.options,
        seats=cast.seats,
        waits=(),
        since=event.at,
        ply=0,
        at=event.at,
    )


def _next_row(  # noqa: C901, PLR0911, PLR0912 - one case an event
    row: MatchListRow, event: EventEnvelope
) -> MatchListRow:
    body = event.body
    replace = msgspec.structs.replace
    match body:
        case events.Moved():
            offer = row.offer if row.offer and row.offer.survives_move_of(body.seat) else None
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=offer)
        case events.Undone():
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=None)
        case events.MatchStarted():
            return replace(row, waits=_turn(body.next), started=True, sealed=False)
        case events.Challenged():
            return replace(row, waits=_called(body), started=False)
        case events.Sealed():
            # texts that the server keeps are revealed with the seal
            return replace(row, waits=body.waits, sealed=True)
        case events.Gathered() | events.Committed() | events.Revealed():
            return replace(row, waits=tuple(seat for seat in row.waits if seat != body.seat))
        case events.Resigned() | events.Flagged():
            left = (*row.left, body.seat)
            return replace(row, waits=_turn(body.next), left=left, offer=None)
        case events.Ended():
            return replace(row, waits=(), winners=body.winners, reason=body.reason, offer=None)
        case events.OfferMade():
            return replace(row, offer=CurrentOffer(body.kind, body.seat))
        case events.OfferAnswered():
            return replace(row, offer=_offer_after(row, body))
        case events.Declined() | events.Withheld() | events.Nagged():
            return row
        case events.Paused() | events.Resumed() | events.Absent() | events.Returned():
            return row
        case _:  # pragma: no cover - the union is closed
            assert_never(body)


def _called(event: events.Challenged) -> tuple[Seat, ...]:
    """Return the seats that are to accept a challenge."""
    if isinstance(event, events.Called):
        return tuple(seat for seat, one in enumerate(event.commitments) if not one.digest)
    return tuple(range(1, len(event.seats)))


def _turn(seat: Seat | None) -> tuple[Seat, ...]:
    return () if seat is None else (seat,)


def _offer_after(row: MatchListRow, body: events.OfferAnswered) -> CurrentOffer | None:
    playing = [seat for seat in range(len(row.seats)) if seat not in row.left]
    return row.offer and row.offer.after_answer(body.seat, accept=body.accept, playing=playing)


def memberships(row: MatchListRow) -> Memberships:
    """Return the lists a match is in."""
    member = row.member
    if row.over:
        return {(over_key(account), member): row.at for account in row.seats}
    active = {(active_key(account), member): row.board for account in row.seats}
    turns = {(next_key(row.seats[seat]), member): row.since for seat in row.waits}
    asked = {(asked_key(row.seats[seat]), member): row.board for seat in row.asked}
    return {**active, **turns, **asked, (open_key(row.game), member): row.board}


def _row_writes(rows: Mapping[int, MatchListRow]) -> Iterator[RedisWrite]:
    packed = [(board, pack(row)) for board, row in rows.items()]
    for start in range(0, len(packed), _FIELDS):
        pairs = packed[start : start + _FIELDS]
        yield ("HSET", ROWS, *(word for pair in pairs for word in pair))


def _list_writes(
    before: Mapping[int, MatchListRow], after: Mapping[int, MatchListRow]
) -> Iterator[RedisWrite]:
    """Return the changes of the lists, and nothing else."""
    for board, row in after.items():
        if row is before.get(board):
            continue
        old = memberships(before[board]) if board in before else {}
        new = memberships(row)
        for key, member in old.keys() - new.keys():
            yield "ZREM", key, member
        for (key, member), score in new.items():
            if old.get((key, member)) != score:
                yield "ZADD", key, score, member
