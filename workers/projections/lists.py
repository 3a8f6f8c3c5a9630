"""Who plays what: `infra.projections.lists` says what is kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

import msgspec

from domain.match.events import (
    Absent,
    Answered,
    Called,
    Challenged,
    Committed,
    Declined,
    Ended,
    Envelope,
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
from domain.match.state import Offering
from domain.rules import Seat
from infra.projections.lists import (
    ROWS,
    Row,
    active_key,
    asked_key,
    next_key,
    open_key,
    over_key,
    pack,
    unpack,
)
from infra.projections.shelf import Read, Write
from infra.projections.specs import LISTS
from workers.projections.projection import Cast, Fact, Projection

_FIELDS: Final = 1_000
"""Rows in one command: a script's call has a limited number of arguments."""

Memberships = Mapping[tuple[str, str], int]
"""In which sorted set, as which member, with which score."""


class ListsProjection(Projection):
    """A row a match, and the lists it is in."""

    spec = LISTS

    def needs(self, facts: Sequence[Fact]) -> Sequence[Read]:
        """Ask for the rows of the matches concerned."""
        boards = _boards(facts)
        return [("HMGET", ROWS, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Bring rows up to date, and move matches between lists."""
        if not facts:
            return []
        data = dict(zip(_boards(facts), found[0], strict=True))
        before = {board: unpack(row) for board, row in data.items() if row is not None}
        rows = dict(before)
        for fact in facts:
            board = fact.event.match
            rows[board] = evolve(rows.get(board), fact)
        return [*_row_writes(rows), *_list_writes(before, rows)]


def _boards(facts: Iterable[Fact]) -> list[int]:
    return list(dict.fromkeys(fact.event.match for fact in facts))


def evolve(row: Row | None, fact: Fact) -> Row:
    """Return a match's row after an event; one that is in already changes nothing."""
    event = fact.event
    seq = row.seq if row else 0
    if event.seq <= seq:
        return row or _first(fact.cast, event)
    if event.seq != seq + 1:
        raise ValueError(f"event {event.seq} of match {event.match} comes after event {seq}")
    old = row or _first(fact.cast, event)
    new = _evolved(old, event)
    turned = new.waits != old.waits or new.ply != old.ply or row is None
    since = event.at if turned else old.since
    return msgspec.structs.replace(new, seq=event.seq, at=event.at, since=since)


def _first(cast: Cast, event: Envelope) -> Row:
    return Row(
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


def _evolved(  # noqa: C901, PLR0911, PLR0912 - one case an event
    row: Row, event: Envelope
) -> Row:
    body = event.body
    replace = msgspec.structs.replace
    match body:
        case Moved():
            offer = row.offer if row.offer and row.offer.outlives(body.seat) else None
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=offer)
        case Undone():
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=None)
        case MatchStarted():
            return replace(row, waits=_turn(body.next), started=True, sealed=False)
        case Challenged():
            return replace(row, waits=_called(body), started=False)
        case Sealed():
            # what the server keeps is revealed with the seal
            return replace(row, waits=body.waits, sealed=True)
        case Gathered() | Committed() | Revealed():
            return replace(row, waits=tuple(seat for seat in row.waits if seat != body.seat))
        case Resigned() | Flagged():
            left = (*row.left, body.seat)
            return replace(row, waits=_turn(body.next), left=left, offer=None)
        case Ended():
            return replace(row, waits=(), winners=body.winners, reason=body.reason, offer=None)
        case Offered():
            return replace(row, offer=Offering(body.kind, body.seat))
        case Answered():
            return replace(row, offer=_answered(row, body))
        case Declined() | Withheld() | Nagged():
            return row
        case Paused() | Resumed() | Absent() | Returned():
            return row
        case _:  # pragma: no cover - the union is closed
            assert_never(body)


def _called(event: Challenged) -> tuple[Seat, ...]:
    """Return who is to accept a match that was called for."""
    if isinstance(event, Called):
        return tuple(seat for seat, one in enumerate(event.commitments) if not one.digest)
    return tuple(range(1, len(event.seats)))


def _turn(seat: Seat | None) -> tuple[Seat, ...]:
    return () if seat is None else (seat,)


def _answered(row: Row, body: Answered) -> Offering | None:
    playing = [seat for seat in range(len(row.seats)) if seat not in row.left]
    return row.offer and row.offer.answered(body.seat, accept=body.accept, playing=playing)


def memberships(row: Row) -> Memberships:
    """Return the lists a match is in."""
    member = row.member
    if row.over:
        return {(over_key(account), member): row.at for account in row.seats}
    active = {(active_key(account), member): row.board for account in row.seats}
    turns = {(next_key(row.seats[seat]), member): row.since for seat in row.waits}
    asked = {(asked_key(row.seats[seat]), member): row.board for seat in row.asked}
    return {**active, **turns, **asked, (open_key(row.game), member): row.board}


def _row_writes(rows: Mapping[int, Row]) -> Iterator[Write]:
    packed = [(board, pack(row)) for board, row in rows.items()]
    for start in range(0, len(packed), _FIELDS):
        pairs = packed[start : start + _FIELDS]
        yield ("HSET", ROWS, *(word for pair in pairs for word in pair))


def _list_writes(before: Mapping[int, Row], after: Mapping[int, Row]) -> Iterator[Write]:
    """Return what changes in the lists, and nothing else."""
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
