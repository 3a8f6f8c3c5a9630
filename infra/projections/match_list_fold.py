"""The fold of the lists of running matches, which `infra.projections.match_lists` describes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, assert_never

import msgspec

from domain.match import events
from domain.match.evolve import ply_after, replace_at, without_invited
from domain.match.history import EventEnvelope
from domain.match.state import CurrentOffer
from domain.records import AccountId
from domain.rules import Seat
from domain.tournament.events import TournamentEventBody
from infra.projections.buckets import LISTS, Arg, Bucket, Owner, RedisRead, RedisWrite
from infra.projections.match_lists import (
    ROWS,
    MatchListRow,
    active_key,
    asked_key,
    next_key,
    open_key,
    pack,
    proposed_key,
    unpack,
)
from infra.projections.projection import Fact, MatchSetup, Projection

_FIELDS: Final = 1_000
"""Rows in one command, because a call of a script has a limited number of arguments."""

Memberships = Mapping[tuple[Owner, str, str], int]
"""Score by owner, sorted set and member."""


class MatchListsProjection(Projection):
    """Keeps a row for each match that goes on, and the lists that it is in."""

    spec = LISTS

    def owners(self, fact: Fact) -> Sequence[Owner]:
        """Return the board and the players."""
        return (fact.event.match, *fact.players)

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the read of the matches' rows."""
        del bucket
        boards = _boards_in(facts)
        return [("HMGET", ROWS, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the changes of rows and lists."""
        if not facts:
            return []
        data = dict(zip(_boards_in(facts), found[0], strict=True))
        before = {board: unpack(row) for board, row in data.items() if row is not None}
        rows = dict(before)
        for fact in facts:
            board = fact.event.match
            if (after := evolve_kept(rows.get(board), fact)) is not None:
                rows[board] = after
        erased = frozenset().union(*(fact.erased for fact in facts))
        gone = {
            board
            for board, row in rows.items()
            if board in before and before[board].seats != row.seats and not _is_of(bucket, row)
        }
        return [*_row_writes(rows, gone), *_list_writes(before, rows, bucket, erased)]


def _is_of(bucket: Bucket, row: MatchListRow) -> bool:
    """Return whether a bucket has the row of a match; that of a player who has left no longer has."""
    return bucket.owns(row.board) or any(map(bucket.owns, row.seats))


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
    turned = (new.waits, new.ply, new.invited) != (old.waits, old.ply, old.invited) or row is None
    turned = turned or (
        isinstance(event.body, events.SeatTakenOver) and event.body.seat in new.waits
    )
    since = event.at if turned else old.since
    return msgspec.structs.replace(new, seq=event.seq, at=event.at, since=since)


def evolve_kept(row: MatchListRow | None, fact: Fact) -> MatchListRow | None:
    """Return a match's row after an event, where rows go with the end of their matches; None for one that is over.

    If the match goes on again by a ruling, its row is made from its history; that of a substitute, too.
    """
    if row is None and fact.event.seq > 1:
        goes_on = fact.revoked is not None and fact.result is None
        for event in fact.revoked.history if fact.revoked and goes_on else fact.before:
            row = evolve(row, Fact(event, fact.setup))
        if row is None:
            return None
    return evolve(row, fact)


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
        tournament=cast.pairing[0] if cast.pairing else 0,
    )


def _next_row(  # noqa: C901, PLR0911, PLR0912 - one case an event
    row: MatchListRow, event: EventEnvelope
) -> MatchListRow:
    body = event.body
    replace = msgspec.structs.replace
    if row.invited:
        row = replace(row, invited=without_invited(row.invited, body))
    match body:
        case events.Moved():
            offer = row.offer if row.offer and row.offer.survives_move_of(body.seat) else None
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=offer)
        case events.Undone():
            return replace(row, ply=body.ply, waits=_turn(body.next), offer=None)
        case events.OpeningGiven():
            return replace(row, ply=ply_after(body, 0))
        case events.MatchProposed():
            return replace(row, waits=_turn(body.next), invited=body.invited)
        case events.MatchStarted():
            return replace(row, waits=_turn(body.next), started=True, sealed=False, offer=None)
        case events.DealProposed():
            return replace(row, waits=_called(body), invited=_called(body), started=False)
        case events.Accepted():
            return row
        case events.Imported():
            left = tuple(seat for seat, _ in body.out)
            plies = len(body.moves.split())
            return replace(row, waits=_called(body), started=False, left=left, ply=plies)
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
        case events.SeatTakenOver():
            offer = row.offer and row.offer.without(body.seat)
            return replace(row, seats=replace_at(row.seats, body.seat, body.account), offer=offer)
        case events.OfferMade():
            return replace(row, offer=CurrentOffer(body.kind, body.seat))
        case events.OfferAnswered():
            return replace(row, offer=_offer_after(row, body))
        case events.SetBack():
            left = tuple(seat for seat in row.left if seat not in body.back)
            again = replace(row, winners=None, reason="", left=left, offer=None, ended=0)
            return replace(again, ply=body.ply, waits=_turn(body.next))
        case events.Ended() | events.ResultChanged():
            over = replace(row, winners=body.winners, reason=body.reason, ended=event.at)
            return replace(over, waits=(), offer=None, invited=())
        case events.Declined() | events.Withheld() | events.Nagged():
            return row
        case events.Claimed() | events.Ruled() | events.Appealed() | events.TimeGiven():
            return row
        case events.Paused() | events.Resumed() | events.Absent() | events.Returned():
            return row
        case TournamentEventBody():
            raise TypeError("an event of a tournament has no row among matches")
        case _:  # pragma: no cover - the union is closed
            assert_never(body)


def _called(event: events.Challenged) -> tuple[Seat, ...]:
    """Return the seats that are to accept a challenge."""
    if isinstance(event, events.Called):
        return tuple(seat for seat, one in enumerate(event.commitments) if not one.digest)
    first = 0 if isinstance(event, events.Imported) else 1
    return tuple(range(first, len(event.seats)))


def _turn(seat: Seat | None) -> tuple[Seat, ...]:
    return () if seat is None else (seat,)


def _offer_after(row: MatchListRow, body: events.OfferAnswered) -> CurrentOffer | None:
    playing = [seat for seat in range(len(row.seats)) if seat not in row.left]
    return row.offer and row.offer.after_answer(body.seat, accept=body.accept, playing=playing)


def memberships(row: MatchListRow) -> Memberships:
    """Return the lists that a match is in, each with its owner."""
    member, seats = row.member, row.seats
    if row.over:
        return {}
    if row.invited:
        invited = {seats[seat] for seat in row.invited}
        return {
            (account, key(account), member): row.board
            for account in seats
            for key in ((proposed_key, asked_key) if account in invited else (proposed_key,))
        }
    active: Memberships = {(account, active_key(account), member): row.board for account in seats}
    return {**active, (row.board, open_key(row.game), member): row.board, **_turns(row)}


def _turns(row: MatchListRow) -> Memberships:
    """Return the lists of a running match that change with its turns and offers."""
    member, seats = row.member, row.seats
    turns: dict[tuple[Owner, str, str], int] = {}
    for seat in row.waits:
        turns[seats[seat], next_key(seats[seat]), member] = row.since
    for seat in row.asked:
        turns[seats[seat], asked_key(seats[seat]), member] = row.board
    return turns


def _is_running(row: MatchListRow) -> bool:
    return not (row.over or row.invited)


def _row_writes(rows: Mapping[int, MatchListRow], gone: AbstractSet[int]) -> Iterator[RedisWrite]:
    """Return the changes of rows; those of `gone` matches are another bucket's now."""
    if over := [board for board, row in rows.items() if row.over or board in gone]:
        yield "HDEL", ROWS, *over
    packed = [
        (board, pack(row)) for board, row in rows.items() if not row.over and board not in gone
    ]
    for start in range(0, len(packed), _FIELDS):
        pairs = packed[start : start + _FIELDS]
        yield ("HSET", ROWS, *(word for pair in pairs for word in pair))


def _list_writes(
    before: Mapping[int, MatchListRow],
    after: Mapping[int, MatchListRow],
    bucket: Bucket,
    erased: AbstractSet[AccountId],
) -> Iterator[RedisWrite]:
    """Return the changes of a bucket's lists, and nothing else; one command for many members of a list."""
    gone: dict[str, list[Arg]] = {}
    added: dict[str, list[Arg]] = {}
    for board, row in after.items():
        old, new = _changing(before.get(board), row)
        for owner, key, member in old.keys() - new.keys():
            if bucket.owns(owner) and owner not in erased:
                gone.setdefault(key, []).append(member)
        for place, score in new.items():
            owner, key, member = place
            if old.get(place) != score and bucket.owns(owner) and owner not in erased:
                added.setdefault(key, []).extend((score, member))
    # a member is of one match, so no list loses and gets the same one
    for command, changes in (("ZREM", gone), ("ZADD", added)):
        for key, words in changes.items():
            for start in range(0, len(words), 2 * _FIELDS):
                yield (command, key, *words[start : start + 2 * _FIELDS])


def _changing(before: MatchListRow | None, after: MatchListRow) -> tuple[Memberships, Memberships]:
    """Return the lists that a match was in and is in, without some that stay."""
    if before is None:
        return {}, memberships(after)
    if before is after:
        return {}, {}
    if _is_running(before) and _is_running(after) and before.seats == after.seats:
        return _turns(before), _turns(after)
    return memberships(before), memberships(after)
