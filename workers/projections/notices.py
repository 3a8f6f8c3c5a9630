"""What players are told of their matches: `infra.projections.notices` says what is kept."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, assert_never

from domain.match.events import (
    THE_SERVER,
    Absent,
    AccountId,
    Answered,
    Called,
    Challenged,
    Committed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    MatchStarted,
    Moved,
    Nagged,
    Offered,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Revealed,
    Sealed,
    Undone,
    Withheld,
)
from domain.match.state import Reason
from domain.rules import Seat
from infra.projections.notices import (
    KEPT,
    TABLES,
    Kind,
    Notice,
    Table,
    box_key,
    pack_table,
    unpack_table,
)
from infra.projections.shelf import Read, Write
from infra.projections.specs import NOTICES
from workers.projections.projection import Fact, Projection

_MANY: Final = 3
"""Players from which it must be known who has left."""

_NOBODY: Final = Table(None)

Told = tuple[AccountId, Kind]


class NoticesProjection(Projection):
    """The newest notices of each account; nobody is told of what they did themselves."""

    spec = NOTICES

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Ask who has left the tables of three and more."""
        boards = _tables(facts)
        return [("HMGET", TABLES, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Add notices, and take away what is beyond the newest."""
        boards = _tables(facts)
        data = zip(boards, found[0] if boards else (), strict=True)
        tables = {board: unpack_table(table) for board, table in data if table is not None}
        boxes: dict[AccountId, dict[str, int]] = {}
        for fact in facts:
            event = fact.event
            table = tables.get(event.match, _NOBODY)
            for account, kind in told(fact, table):
                notice = Notice(event.at, event.match, event.seq, kind)
                boxes.setdefault(account, {})[notice.member] = event.at
            if len(fact.cast.seats) >= _MANY:
                tables[event.match] = seated(table, event.body)
        return [*_box_writes(boxes), *_table_writes(facts, tables)]


def _tables(facts: Iterable[Fact]) -> list[int]:
    many = (fact.event.match for fact in facts if len(fact.cast.seats) >= _MANY)
    return list(dict.fromkeys(many))


def seated(table: Table, event: Event) -> Table:
    """Return a table after an event."""
    match event:
        case MatchStarted() | Moved() | Undone():
            return Table(event.next, table.left)
        case Resigned() | Flagged():
            return Table(event.next, (*table.left, event.seat))
        case _:
            return table


def told(fact: Fact, table: Table) -> Iterator[Told]:
    """Return who is told what of an event; `table` is as it was before it."""
    body = fact.event.body
    match body:
        case MatchStarted():
            yield from _all(fact.others, Kind.STARTED)
            yield from _turn(fact, body.next)
        case Moved():
            if body.queued:
                yield fact.cast.seats[body.seat], Kind.REPLIED
            yield from _turn(fact, body.next)
        case Undone():
            yield from _turn(fact, body.next)
        case Resigned() | Flagged():
            yield from _left(fact, body, table)
        case Nagged():
            yield fact.cast.seats[body.seat], Kind.REMINDER
        case Ended():
            if body.reason != Reason.DECLINED:
                yield from _all(fact.others, Kind.OVER)
        case _:
            yield from _plain(fact, body, table)


Plain = (
    Challenged
    | Offered
    | Answered
    | Resumed
    | Declined
    | Gathered
    | Paused
    | Absent
    | Returned
    | Committed
    | Sealed
    | Revealed
    | Withheld
)


def _plain(  # noqa: PLR0911 - one return an event
    fact: Fact, body: Plain, table: Table
) -> Iterator[Told]:
    """Return who is told of an event that is one notice for all concerned, or none."""
    match body:
        case Challenged():
            return _all(_asked(fact, body), Kind.CHALLENGED)
        case Sealed():
            waits = [fact.cast.seats[seat] for seat in body.waits]
            return _all([one for one in waits if one in fact.others], Kind.REVEAL)
        case Declined() | Withheld():
            return _declined(fact, body.seat)
        case Offered():
            return _all(_staying(fact, table), Kind.OFFER)
        case Answered():
            return _all(_staying(fact, table), Kind.ANSWERED)
        case Resumed():
            return _all(_staying(fact, table), Kind.RESUMED)
        case Gathered() | Committed() | Revealed() | Paused() | Absent() | Returned():
            # the start tells it, or the answer before has; who is away is seen at the board
            return iter(())
        case _:  # pragma: no cover - the union is closed
            assert_never(body)


def _asked(fact: Fact, body: Challenged) -> list[AccountId]:
    """Return who is asked for consent: who committed before the match was called for has given it."""
    given = body.commitments if isinstance(body, Called) else ()
    committed = {fact.cast.seats[seat] for seat, one in enumerate(given) if one.digest}
    return [account for account in fact.others if account not in committed]


def _declined(fact: Fact, seat: Seat) -> Iterator[Told]:
    """Return who is told that a seat declined; a seat that was too late, that the match is over."""
    own = fact.cast.seats[seat]
    yield from _all((account for account in fact.others if account != own), Kind.DECLINED)
    if fact.event.actor == THE_SERVER:
        yield own, Kind.OVER


def _left(fact: Fact, body: Resigned | Flagged, table: Table) -> Iterator[Told]:
    """Return who is told that a seat has left; where that was the end, the end is what is told."""
    if body.next is None:
        return
    kind = Kind.RESIGNED if isinstance(body, Resigned) else Kind.FLAGGED
    yield from _all(_staying(fact, table), kind)
    if body.next != table.next:
        yield from _turn(fact, body.next)


def _all(accounts: Iterable[AccountId], kind: Kind) -> Iterator[Told]:
    return ((account, kind) for account in accounts)


def _turn(fact: Fact, seat: Seat | None) -> Iterator[Told]:
    if seat is not None and fact.cast.seats[seat] != fact.event.actor:
        yield fact.cast.seats[seat], Kind.YOUR_TURN


def _staying(fact: Fact, table: Table) -> list[AccountId]:
    """Return the other players that have not left."""
    left = {fact.cast.seats[seat] for seat in table.left}
    return [account for account in fact.others if account not in left]


def _box_writes(boxes: dict[AccountId, dict[str, int]]) -> Iterator[Write]:
    for account, notices in boxes.items():
        key = box_key(account)
        yield ("ZADD", key, *(word for member, at in notices.items() for word in (at, member)))
        yield "ZREMRANGEBYRANK", key, 0, -KEPT - 1


def _table_writes(facts: Iterable[Fact], tables: dict[int, Table]) -> Iterator[Write]:
    over = {fact.event.match for fact in facts if fact.finished}
    for board, table in tables.items():
        if board in over:
            yield "HDEL", TABLES, board
        else:
            yield "HSET", TABLES, board, pack_table(table)
