"""Notices of events in matches: the newest of each account.

| key | what |
|---|---|
| `to:<account>` | sorted set: `<board>:<seq>:<kind>`; score: time of the event, ms |
| `tables` | hash: board -> packed `SeatsLeft`, of running matches with three or more players |

Notices are in the bucket of their account, which also has the `tables` of its matches. A set has each
notice once, and its newest are the same in whatever order they were added. A player gets no notice of its
own action.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, assert_never

import msgspec

from domain.match import events
from domain.match.events import SERVER_ACCOUNT, AccountId, Event
from domain.match.state import Reason
from domain.rules import Seat
from infra.projections.buckets import Bucket, RedisRead, RedisWrite
from infra.projections.projection import Fact, Projection
from infra.projections.query import Query
from infra.projections.specs import NOTICES
from infra.redis.reads import Read, read_one

MOST_NOTICES: Final = 200
"""Most notices of an account."""

TABLES: Final = "tables"


class NoticeKind(StrEnum):
    """Kind of a notice."""

    CHALLENGED = "challenged"
    """A challenge waits for the account's consent."""
    REVEAL = "reveal"
    """The account is to reveal the text that it has committed to."""
    STARTED = "started"
    """A match has started."""
    YOUR_TURN = "your-turn"
    """The account is to move."""
    OFFER = "offer"
    """Another player proposed something."""
    ANSWERED = "answered"
    """Another player answered an offer."""
    REPLIED = "replied"
    """A conditional move of the account was played."""
    RESIGNED = "resigned"
    """Another player has left, and the others play on."""
    FLAGGED = "flagged"
    """A player's time was over, maybe the account's own, and the others play on."""
    RESUMED = "resumed"
    """Another player ended the pause: clocks run again."""
    DECLINED = "declined"
    """Another player refused to play."""
    OVER = "over"
    """A match has ended."""
    REMINDER = "reminder"
    """The account is to move, and its time runs out."""
    CHAT = "chat"
    """Another player wrote in a match's chat; added by `infra.people.message_notices`."""
    MESSAGE = "message"
    """A message or a broadcast; added by `infra.people.message_notices`."""


class PlayerNotice(msgspec.Struct, frozen=True):
    """A notice to an account."""

    at: int
    """Time of the event, ms."""
    board: int
    seq: int
    kind: NoticeKind

    @property
    def member(self) -> str:
        """Return its member of the sorted set: text order is the order of events."""
        return f"{self.board:015}:{self.seq:010}:{self.kind}"


NoticePosition = tuple[int, int, int, str]
"""Position of a notice among those of its account: time in ms, board, seq, kind."""


def position_of(notice: PlayerNotice) -> NoticePosition:
    """Return the position of a notice."""
    return notice.at, notice.board, notice.seq, notice.kind


class NoticesAfter(msgspec.Struct, frozen=True):
    """An account's notices after a position."""

    notices: list[PlayerNotice]
    oldest: NoticePosition | None = None
    """The oldest that is stored, if older ones were dropped or may have been."""

    def with_(self, other: "NoticesAfter") -> "NoticesAfter":
        """Return these and others in order."""
        oldest = max((one for one in (self.oldest, other.oldest) if one), default=None)
        return NoticesAfter(sorted([*self.notices, *other.notices], key=position_of), oldest)


def notices_after(
    notices: list[PlayerNotice], first: list[PlayerNotice], count: int
) -> NoticesAfter:
    """Return notices of a list that has `count` of them, the oldest of which is in `first`."""
    return NoticesAfter(notices, position_of(first[0]) if first and count >= MOST_NOTICES else None)


class SeatsLeft(msgspec.Struct, frozen=True, array_like=True):
    """The seats of a match of three or more that decide who gets a notice."""

    next: Seat | None
    gone: tuple[Seat, ...] = ()
    """Seats that have left while others play on."""


pack_seats: Final = msgspec.msgpack.Encoder().encode
unpack_seats: Final = msgspec.msgpack.Decoder(SeatsLeft).decode


def notices_key(account: AccountId) -> str:
    """Return the key of an account's notices."""
    return f"to:{account.hex()}"


class MatchNotices(Query):
    """Queries of the notices."""

    spec = NOTICES

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[PlayerNotice]:
        """Return an account's notices, the newest first; O(log n + start + count), n at most 200."""
        return read_one(self._client, self.read_of(account, start, count))

    def read_of(self, account: AccountId, start: int, count: int) -> Read[list[PlayerNotice]]:
        """Return the read of `of`."""
        key = self._generation().of(account).key(notices_key(account))
        return Read(
            lambda pipe: pipe.zrange(key, start, start + count - 1, desc=True, withscores=True),
            lambda replies: [_notice(*one) for one in replies[0]],
        )

    def count(self, account: AccountId) -> int:
        """Return the number of an account's notices; O(1)."""
        return int(self._client.zcard(self._generation().of(account).key(notices_key(account))))

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each account that changes with its newest notice."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                key = generation.of(account).key(notices_key(account))
                pipe.zrange(key, 0, 0, desc=True, withscores=True)

        return Read(
            queue,
            lambda replies: [newest_text([_notice(*one) for one in reply]) for reply in replies],
        )

    def since(self, account: AccountId, after: NoticePosition) -> Read[NoticesAfter]:
        """Return the read of an account's notices after a position, the oldest first; O(n).

        Those of the position's own millisecond may be before it.
        """
        key = self._generation().of(account).key(notices_key(account))

        def queue(pipe: Any) -> None:
            pipe.zrange(key, 0, 0, withscores=True)
            pipe.zcard(key)
            pipe.zrangebyscore(key, after[0], "+inf", withscores=True)

        def parse(replies: list[Any]) -> NoticesAfter:
            first, count, found = replies
            return notices_after(
                [_notice(*one) for one in found], [_notice(*one) for one in first], count
            )

        return Read(queue, parse)


def newest_text(notices: Sequence[PlayerNotice]) -> str:
    """Return a text that changes with the newest notice, which is the first."""
    return repr(notices[:1])


def _notice(member: bytes, score: Any) -> PlayerNotice:
    board, seq, kind = member.decode().split(":")
    return PlayerNotice(int(score), int(board), int(seq), NoticeKind(kind))


_MANY: Final = 3
"""Players of a match from which on `SeatsLeft` is kept."""

_NOBODY: Final = SeatsLeft(None)

AddressedNotice = tuple[AccountId, NoticeKind]


class NoticesProjection(Projection):
    """Keeps the newest notices of each account."""

    spec = NOTICES
    save_seconds = 0.5
    """Streams of notices wait until all buckets have read a leaf."""

    def owners(self, fact: Fact) -> Sequence[AccountId]:
        """Return the players."""
        return fact.setup.seats

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
            for account, kind in notices_of(fact, table):
                if account in fact.erased or not bucket.owns(account):
                    continue
                notice = PlayerNotice(event.at, event.match, event.seq, kind)
                boxes.setdefault(account, {})[notice.member] = event.at
            if len(fact.setup.seats) >= _MANY:
                tables[event.match] = seats_after(table, event.body)
        return [*_box_writes(boxes), *_table_writes(facts, tables)]


def _tables(facts: Iterable[Fact]) -> list[int]:
    many = (fact.event.match for fact in facts if len(fact.setup.seats) >= _MANY)
    return list(dict.fromkeys(many))


def seats_after(table: SeatsLeft, event: Event) -> SeatsLeft:
    """Return a table after an event."""
    match event:
        case events.MatchStarted() | events.Moved() | events.Undone():
            return SeatsLeft(event.next, table.gone)
        case events.Resigned() | events.Flagged():
            return SeatsLeft(event.next, (*table.gone, event.seat))
        case events.Imported():
            return SeatsLeft(None, tuple(seat for seat, _ in event.out))
        case _:
            return table


def notices_of(fact: Fact, table: SeatsLeft) -> Iterator[AddressedNotice]:
    """Return the notices of an event by account; `table` is that before the event."""
    body = fact.event.body
    match body:
        case events.MatchStarted():
            yield from _all(fact.others, NoticeKind.STARTED)
            yield from _turn(fact, body.next)
        case events.Moved():
            if body.queued:
                yield fact.setup.seats[body.seat], NoticeKind.REPLIED
            yield from _turn(fact, body.next)
        case events.Undone():
            yield from _turn(fact, body.next)
        case events.Resigned() | events.Flagged():
            yield from _leave_notices(fact, body, table)
        case events.Nagged():
            yield fact.setup.seats[body.seat], NoticeKind.REMINDER
        case events.Ended():
            if body.reason != Reason.DECLINED:
                yield from _all(fact.others, NoticeKind.OVER)
        case _:
            yield from _plain(fact, body, table)


PlainEvent = (
    events.Challenged
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
            events.Gathered()
            | events.Committed()
            | events.Revealed()
            | events.Paused()
            | events.Absent()
            | events.Returned()
        ):
            # the start or an answer has a notice; the match's page shows who is away
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
        yield ("ZADD", key, *(word for member, at in notices.items() for word in (at, member)))
        yield "ZREMRANGEBYRANK", key, 0, -MOST_NOTICES - 1


def _table_writes(facts: Iterable[Fact], tables: dict[int, SeatsLeft]) -> Iterator[RedisWrite]:
    over = {fact.event.match for fact in facts if fact.result}
    for board, table in tables.items():
        if board in over:
            yield "HDEL", TABLES, board
        else:
            yield "HSET", TABLES, board, pack_seats(table)
