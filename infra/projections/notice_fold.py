"""The fold of the notices, which `infra.projections.notices` describes.

The players who hear of a command in a match, by mail and by notifications in browsers. Those who hear of an event
of a tournament come with its fact; see `infra.projections.tournament_notices`.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from heapq import nlargest
from typing import Any, Final, assert_never

import msgspec

from domain.match import events
from domain.match.events import Challenged, Event, MatchStarted
from domain.match.evolve import replace_at
from domain.match.history import EventEnvelope
from domain.match.state import Reason, robot_level
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import Seat
from domain.tournament.events import TournamentEventBody
from infra.projections.buckets import NOTICES, Bucket, RedisRead, RedisWrite
from infra.projections.notices import (
    MOST_NOTICES,
    NoticeDetail,
    NoticeKind,
    PlayerNotice,
    notices_key,
)
from infra.projections.projection import OF_DISPUTES, Fact, MatchSetup, Projection

TABLES: Final = "tables"


class SeatsLeft(msgspec.Struct, frozen=True, array_like=True):
    """The seats of a match of three or more that decide who gets a notice."""

    next: Seat | None
    gone: tuple[Seat, ...] = ()
    """Seats that have left while others play on."""


pack_seats: Final = msgspec.msgpack.Encoder().encode
unpack_seats: Final = msgspec.msgpack.Decoder(SeatsLeft).decode


_MANY: Final = 3
"""Players of a match from which on `SeatsLeft` is kept."""

_NOBODY: Final = SeatsLeft(None)

AddressedNotice = tuple[AccountId, NoticeKind]


class NoticesProjection(Projection):
    """Keeps the newest notices of each account."""

    spec = NOTICES
    of_tournaments = True
    save_seconds = 0.5
    """Streams of notices wait until all buckets have read a leaf."""

    def owners(self, fact: Fact) -> Sequence[AccountId]:
        """Return the players, or those who get a notice of a tournament's event."""
        return fact.setup.seats or [one.account for one in fact.notices]

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the read of the tables of matches with three or more players."""
        del bucket
        boards = _tables(facts)
        return [("HMGET", TABLES, *boards)] if boards else []

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Return the new notices, and the removal of the oldest."""
        boards = _tables(facts)
        data = zip(boards, found[0] if boards else (), strict=True)
        tables = {board: unpack_seats(table) for board, table in data if table is not None}
        boxes: dict[AccountId, dict[str, int]] = {}
        for fact in facts:
            event = fact.event
            table = tables.get(event.match, _NOBODY)
            if fact.revoked:
                # that of a match that was over is gone
                table = reduce(seats_after, (one.body for one in fact.revoked.history), _NOBODY)
            for account, kind in notices_of(fact, table):
                if account in fact.erased or not bucket.owns(account):
                    continue
                notice = PlayerNotice(event.at, event.match, event.seq, kind, detail_of(event.body))
                boxes.setdefault(account, {})[notice.member] = event.at
            for account, kind, detail in fact.notices:
                if account not in fact.erased and bucket.owns(account):
                    notice = PlayerNotice(event.at, event.match, event.seq, kind, detail)
                    boxes.setdefault(account, {})[notice.member] = event.at
            if len(fact.setup.seats) >= _MANY and not isinstance(event.body, OF_DISPUTES):
                tables[event.match] = seats_after(table, event.body)
        return [*_box_writes(boxes), *(_table_writes(facts, tables) if tables else ())]


def detail_of(event: Event) -> NoticeDetail | None:
    """Return what the notices of an event say besides their kind."""
    match event:
        case events.OfferMade():
            return NoticeDetail(event.seat, event.kind)
        case events.OfferAnswered():
            return NoticeDetail(event.seat, event.kind, event.accept)
        case events.Resigned() | events.Flagged() if event.next is not None:
            return NoticeDetail(event.seat)
        case events.Declined():
            return NoticeDetail(event.seat)
        case _:
            return None


def _tables(facts: Iterable[Fact]) -> list[int]:
    many = (fact.event.match for fact in facts if len(fact.setup.seats) >= _MANY)
    return list(dict.fromkeys(many))


def seats_after(table: SeatsLeft, event: Event) -> SeatsLeft:
    """Return a table after an event."""
    match event:
        case events.MatchStarted() | events.Moved() | events.Undone():
            return SeatsLeft(event.next, table.gone)
        case events.SetBack():
            gone = tuple(seat for seat in table.gone if seat not in event.back)
            return SeatsLeft(event.next, gone)
        case events.Resigned() | events.Flagged():
            return SeatsLeft(event.next, (*table.gone, event.seat))
        case events.Imported():
            return SeatsLeft(None, tuple(seat for seat, _ in event.out))
        case _:
            return table


def notices_of(  # noqa: C901 - one case an event
    fact: Fact, table: SeatsLeft
) -> Iterator[AddressedNotice]:
    """Return the notices of an event by account; `table` is that before the event."""
    body = fact.event.body
    match body:
        case events.MatchStarted() | events.Accepted():
            yield from _start_notices(fact, body)
        case events.Moved():
            if body.queued:
                yield fact.setup.seats[body.seat], NoticeKind.REPLIED
            yield from _turn(fact, body.next)
        case events.Undone() | events.SetBack():
            yield from _turn(fact, body.next)
        case events.Claimed() | events.Ruled() | events.Appealed():
            yield from _all(fact.others, _OF_CASES[type(body)])
        case events.Resigned() | events.Flagged():
            yield from _leave_notices(fact, body, table)
        case events.SeatTakenOver():
            yield from _all(fact.setup.seats, NoticeKind.TAKEN_OVER)
            if body.next == body.seat:
                yield from _turn(fact, body.next)
        case events.Nagged():
            yield fact.setup.seats[body.seat], NoticeKind.REMINDER
        case events.Ended():
            if body.reason != Reason.DECLINED:
                yield from _all(fact.others, NoticeKind.OVER)
        case _:
            yield from _plain(fact, body, table)


def _start_notices(
    fact: Fact, body: events.MatchStarted | events.Accepted
) -> Iterator[AddressedNotice]:
    """Return the notices that a match begins, or that players are invited to it."""
    if isinstance(body, events.MatchProposed):
        invited = (fact.setup.seats[seat] for seat in body.invited)
        yield from _all(invited, NoticeKind.CHALLENGED)
    elif isinstance(body, events.MatchStarted) or body.next is not None:
        if fact.setup.pairing is None:  # the tournament's own notice says how many matches begin
            yield from _all(fact.others, NoticeKind.STARTED)
        yield from _turn(fact, body.next)


_OF_CASES: Final = {
    events.Claimed: NoticeKind.CLAIMED,
    events.Ruled: NoticeKind.RULED,
    events.Appealed: NoticeKind.APPEALED,
}

PlainEvent = (
    events.Challenged
    | events.OpeningGiven
    | events.OfferMade
    | events.OfferAnswered
    | events.Resumed
    | events.Declined
    | events.Gathered
    | events.Paused
    | events.Absent
    | events.Returned
    | events.Committed
    | events.Sealed
    | events.Revealed
    | events.Withheld
    | events.ResultChanged
    | events.TimeGiven
    | TournamentEventBody
)


def _plain(  # noqa: PLR0911 - one return an event
    fact: Fact, body: PlainEvent, table: SeatsLeft
) -> Iterator[AddressedNotice]:
    """Return the notices of an event with one kind of notice, or none."""
    match body:
        case events.Challenged():
            return _all(_asked_for_consent(fact, body), NoticeKind.CHALLENGED)
        case events.Sealed():
            waits = [fact.setup.seats[seat] for seat in body.waits]
            return _all([one for one in waits if one in fact.others], NoticeKind.REVEAL)
        case events.Declined() | events.Withheld():
            return _decline_notices(fact, body.seat)
        case events.OfferMade():
            return _all(_others_staying(fact, table), NoticeKind.OFFER)
        case events.OfferAnswered():
            return _all(_others_staying(fact, table), NoticeKind.ANSWERED)
        case events.Resumed():
            return _all(_others_staying(fact, table), NoticeKind.RESUMED)
        case (
            events.OpeningGiven()
            | events.Gathered()
            | events.Committed()
            | events.Revealed()
            | events.Paused()
            | events.Absent()
            | events.Returned()
            | events.ResultChanged()
            | TournamentEventBody()
            | events.TimeGiven()
        ):
            # the start, an answer or a ruling has a notice; the match's page shows who is away; those of a
            # tournament are in its fact
            return iter(())
        case _:  # pragma: no cover - the union is closed
            assert_never(body)


def _asked_for_consent(fact: Fact, body: events.Challenged) -> list[AccountId]:
    """Return the players who are asked for consent, without those who committed before."""
    given = body.commitments if isinstance(body, events.Called) else ()
    committed = {fact.setup.seats[seat] for seat, one in enumerate(given) if one.digest}
    return [account for account in fact.others if account not in committed]


def _decline_notices(fact: Fact, seat: Seat) -> Iterator[AddressedNotice]:
    """Return the notices that a seat declined; a seat that was too late gets that the match is over."""
    own = fact.setup.seats[seat]
    yield from _all((account for account in fact.others if account != own), NoticeKind.DECLINED)
    if fact.event.actor == SERVER_ACCOUNT:
        yield own, NoticeKind.OVER


def _leave_notices(
    fact: Fact, body: events.Resigned | events.Flagged, table: SeatsLeft
) -> Iterator[AddressedNotice]:
    """Return the notices that a seat has left; none if that ends the match, which has its own."""
    if body.next is None:
        return
    kind = NoticeKind.RESIGNED if isinstance(body, events.Resigned) else NoticeKind.FLAGGED
    yield from _all(_others_staying(fact, table), kind)
    if body.next != table.next:
        yield from _turn(fact, body.next)


def _all(accounts: Iterable[AccountId], kind: NoticeKind) -> Iterator[AddressedNotice]:
    return ((account, kind) for account in accounts)


def _turn(fact: Fact, seat: Seat | None) -> Iterator[AddressedNotice]:
    if seat is not None and fact.setup.seats[seat] != fact.event.actor:
        yield fact.setup.seats[seat], NoticeKind.YOUR_TURN


def _others_staying(fact: Fact, table: SeatsLeft) -> list[AccountId]:
    """Return the other players that have not left."""
    left = {fact.setup.seats[seat] for seat in table.gone}
    return [account for account in fact.others if account not in left]


def _box_writes(boxes: dict[AccountId, dict[str, int]]) -> Iterator[RedisWrite]:
    for account, notices in boxes.items():
        key = notices_key(account)
        if len(notices) > MOST_NOTICES:  # by time, then by member, as the server drops them
            newest = nlargest(MOST_NOTICES, ((at, member) for member, at in notices.items()))
            notices = {member: at for at, member in newest}  # noqa: PLW2901 - the others are dropped
        yield ("ZADD", key, *(word for member, at in notices.items() for word in (at, member)))
        yield "ZREMRANGEBYRANK", key, 0, -MOST_NOTICES - 1


def _table_writes(facts: Iterable[Fact], tables: dict[int, SeatsLeft]) -> Iterator[RedisWrite]:
    over = {}
    for fact in facts:
        if fact.result or isinstance(fact.event.body, events.SetBack):
            over[fact.event.match] = fact.result is not None
    for board, table in tables.items():
        if over.get(board):
            yield "HDEL", TABLES, board
        else:
            yield "HSET", TABLES, board, pack_seats(table)


def setup_of(first: EventEnvelope) -> MatchSetup:
    """Return the terms that a match's first event fixes; `TypeError` for an event that begins no match."""
    body = first.body
    if not isinstance(body, MatchStarted | Challenged):
        raise TypeError(f"match {first.match} begins with {body!r}")
    game, robots = body.rules.partition("/")[0], any(map(robot_level, body.seats))
    pairing = (body.tournament, body.pairing) if isinstance(body, events.MatchPaired) else None
    return MatchSetup(body.rules, game, body.options, body.seats, robots, pairing)


def setup_after(setup: MatchSetup, event: EventEnvelope) -> MatchSetup:
    """Return the setup after an event, by which a substitute may have taken over a seat."""
    body = event.body
    if not isinstance(body, events.SeatTakenOver):
        return setup
    seats = replace_at(setup.seats, body.seat, body.account)
    robots = setup.has_robot or robot_level(body.account) is not None
    return msgspec.structs.replace(setup, seats=seats, has_robot=robots)


def setup_of_history(history: Sequence[EventEnvelope]) -> MatchSetup:
    """Return the setup of a match after the last of these events, which are all up to it."""
    return reduce(setup_after, history[1:], setup_of(history[0]))


def notices_by_player(
    cast: MatchSetup, events: Sequence[EventEnvelope], own: Sequence[EventEnvelope]
) -> dict[AccountId, list[NoticeKind]]:
    """Return the players that a command's `own` events are mailed to, with the kinds of notice.

    They are those of the pages, but the player who started a match gets a mail of it, too: it is the
    first mail of the match, which the player answers with moves.
    """
    found: dict[AccountId, list[NoticeKind]] = {}
    for account, kind, _ in notices_of_command(cast, events, own, to_starter=True):
        found.setdefault(account, []).append(kind)
    return found


def notices_of_command(
    cast: MatchSetup,
    events: Sequence[EventEnvelope],
    own: Sequence[EventEnvelope],
    *,
    to_starter: bool = False,
) -> Iterator[tuple[AccountId, NoticeKind, EventEnvelope]]:
    """Return the notices of a command's `own` events, in order; `events` are all up to the last of them.

    `to_starter` adds one for the player who started a match.
    """
    table = _NOBODY
    for event in events[: own[-1].seq]:
        if event.seq >= own[0].seq:
            more = _own_start(event, cast) if to_starter else ()
            for account, kind in [*notices_of(Fact(event, cast), table), *more]:
                yield account, kind, event
        table = seats_after(table, event.body)


def _own_start(event: EventEnvelope, cast: MatchSetup) -> Iterator[tuple[AccountId, NoticeKind]]:
    if isinstance(event.body, MatchStarted) and event.actor in cast.seats:
        yield event.actor, NoticeKind.STARTED
