"""The events of a match, their envelope, and the leaves of the log; see `docs/formats.md`.

An event is encoded once. Those bytes are stored, hashed, logged and exported, and never encoded
again, so every form here is final. New fields come at the end with a default. Any other change
raises `SCHEMA` and needs a pure upcaster. Golden bytes in the tests cover every form.
"""

from hashlib import sha256
from typing import Final

import msgspec

from domain.clocks.match_clock import GivenTime
from domain.clocks.time_control import TimeControl
from domain.fairness import Commitment, SetupDraw
from domain.match.decoding import EventBody, RecordDecoder
from domain.match.dispute_events import (
    Appealed,
    Claimed,
    ResultChanged,
    Ruled,
    SetBack,
    TimeGiven,
)
from domain.match.draw_events import Committed as Committed  # noqa: PLC0414 - part of this module
from domain.match.draw_events import Gathered as Gathered  # noqa: PLC0414
from domain.match.draw_events import Revealed as Revealed  # noqa: PLC0414
from domain.match.draw_events import Sealed as Sealed  # noqa: PLC0414
from domain.match.draw_events import Withheld as Withheld  # noqa: PLC0414
from domain.rules import Seat

SCHEMA: Final = 1
"""Version of the envelope and of the bodies below."""

EVENT_LIMIT: Final = 65_535
"""The most bytes of an event, because log tiles have two bytes for the length of an entry."""

AccountId = bytes
"""64 random bits, drawn at signup. The name is in the account record only."""

CommandId = bytes
"""16 bytes, the same for every repetition of a command; see `command_id`."""

NO_HASH: Final = bytes(32)
"""`prev` of a match's first event, and the head of a match without events."""

SERVER_ACCOUNT: Final[AccountId] = bytes(8)
"""The actor of the server's commands."""


class MatchStarted(EventBody, frozen=True, tag="match-started"):
    """A match began. This is everything that a replay needs to begin."""

    rules: str
    """The rules and their version, such as `pow2/1`."""
    options: tuple[str, ...]
    """As recorded: sorted, hyphenated, defaults left out."""
    seats: tuple[AccountId, ...]
    setup: str | None
    """The drawn setup as canonical JSON text; None for games without chance."""
    next: Seat | None
    """The seat to move; None when the match was over at its start."""
    draw: SetupDraw | None = None
    """The draw of the setup; None if chance decided nothing."""
    terms: TimeControl | None = None
    """The time control; None for a match without clocks."""


class MatchProposed(MatchStarted, frozen=True, kw_only=True, tag="match-proposed"):
    """A match by name began that not all players have accepted: until then no clock runs."""

    invited: tuple[Seat, ...]
    """The seats that have yet to accept, or to move."""
    lapse: int
    """How long they have, ms."""


class Accepted(EventBody, frozen=True, tag="accepted"):
    """An invited seat accepted a match by name, without a move."""

    seat: Seat
    next: Seat | None
    """The seat to move; None while others have yet to accept."""


class Challenged(EventBody, frozen=True, tag="challenged"):
    """A match was proposed. Before its draw it waits for every player's entropy."""

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    text: bytes
    """The challenger's entropy text."""
    terms: TimeControl | None = None


class Moved(EventBody, frozen=True, tag="moved"):
    """A move was accepted: one ply."""

    ply: int
    """1 for the first move of the match."""
    seat: Seat
    move: str
    """Canonical text."""
    next: Seat | None
    """The seat to move now, after seats that the rules pass; None when the match is over."""
    queued: bool = False
    """Whether it is a conditional move; its command is then that of the move it answers."""


class OfferMade(EventBody, frozen=True, tag="offered"):
    """A seat made an offer, which needs the other players' consent."""

    seat: Seat
    kind: str


class OfferAnswered(EventBody, frozen=True, tag="answered"):
    """A seat answered the open offer."""

    seat: Seat
    kind: str
    accept: bool


class Undone(EventBody, frozen=True, tag="undone"):
    """Moves were taken back by agreement; they stay in the history."""

    ply: int
    """The number of moves that are left."""
    next: Seat | None
    """The seat to move now."""


class Resigned(EventBody, frozen=True, tag="resigned"):
    """A seat resigned."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Nagged(EventBody, frozen=True, tag="nagged"):
    """The seat to move was reminded."""

    seat: Seat


class Flagged(EventBody, frozen=True, tag="flagged"):
    """A seat's time was over before it moved."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Paused(EventBody, frozen=True, tag="paused"):
    """All clocks were stopped by agreement."""


class Resumed(EventBody, frozen=True, tag="resumed"):
    """A seat ended the pause."""

    seat: Seat


class Absent(EventBody, frozen=True, tag="absent"):
    """A seat began a vacation: its clock stands still from the time of this event."""

    seat: Seat
    until: int
    """The end of the vacation, ms."""


class Returned(EventBody, frozen=True, tag="returned"):
    """A seat cut its vacation short."""

    seat: Seat
    until: int
    """The time at which its clock goes on, ms; a day of vacation that has begun may still pass."""


class Declined(EventBody, frozen=True, tag="declined"):
    """A seat refused to play before its first move; the match does not count."""

    seat: Seat


class Ended(EventBody, frozen=True, tag="ended"):
    """The match is over."""

    winners: tuple[Seat, ...]
    """All tied seats in a draw; none if the match does not count."""
    reason: str
    """An ending of the game's rules, or one of `state.Reason`."""


class Called(Challenged, frozen=True, tag="called"):
    """A match was proposed whose players first commit to their texts; `text` is empty."""

    commitments: tuple[Commitment, ...] = ()
    """The commitments so far, by seat."""


class DealProposed(Called, frozen=True, kw_only=True, tag="deal-proposed"):
    """A match by name was proposed that is dealt once all players have accepted it."""

    lapse: int
    """How long those who have not committed have to accept, ms."""
    server_deals: bool
    """Whether the server keeps every text, so that it deals at once and nobody reveals anything."""


class MatchSource(msgspec.Struct, frozen=True, array_like=True):
    """Where an imported match was played before."""

    kind: str
    """`document` for a match document, whose log proves it; `record` for a bare list of moves."""
    origin: str
    """The name of the source's log, or of its server; empty if neither is known."""
    board: int
    """The board's number at the source; 0 if it is not known."""
    head: bytes
    """Leaf hash of the last event at the source; empty for a record."""
    events: int
    """The number of events at the source; 0 for a record."""
    digest: bytes
    """SHA-256 of the document or of the record."""


class ImportedResult(msgspec.Struct, frozen=True, array_like=True):
    """How an imported match had ended at its source."""

    winners: tuple[Seat, ...]
    reason: str


class Imported(Challenged, frozen=True, kw_only=True, tag="imported"):
    """A match was brought from elsewhere; it waits until every player accepts it. `text` is empty."""

    setup: str | None
    moves: str
    """The canonical texts of the moves, separated by blanks."""
    turns: bytes
    """The times of the turns, as `MatchClock.turns` has them; empty for a match without clocks."""
    acted: int
    """Bit s is set if seat s has moved."""
    out: tuple[tuple[Seat, int], ...]
    """Seats that have resigned or run out of time, each with the ply at which it did."""
    next: Seat | None
    """The seat to move once all have accepted; None if the match was over."""
    result: ImportedResult | None
    """None if the match goes on here."""
    source: MatchSource
    given: tuple[GivenTime, ...]
    """The time that rulings gave."""


Event = (
    Challenged
    | Gathered
    | MatchStarted
    | Moved
    | OfferMade
    | OfferAnswered
    | Undone
    | Resigned
    | Nagged
    | Flagged
    | Paused
    | Resumed
    | Absent
    | Returned
    | Declined
    | Ended
    | Called
    | Committed
    | Sealed
    | Revealed
    | Withheld
    | Claimed
    | Ruled
    | Appealed
    | SetBack
    | ResultChanged
    | TimeGiven
    | Imported
    | MatchProposed
    | Accepted
    | DealProposed
)


class AnchorLeaf(msgspec.Struct, frozen=True, array_like=True, tag="anchor"):
    """The leaf of the log that fixes a chain of seeds before the first is used."""

    schema: int
    shard: int
    chain: int
    """1 for the shard's first chain."""
    anchor: bytes
    """s(0)."""


class EventEnvelope(msgspec.Struct, frozen=True, array_like=True):
    """An event with its match, number, time, command, actor and the hash of its predecessor."""

    schema: int
    match: int
    """The board number."""
    seq: int
    """1..n within the match, without gaps."""
    at: int
    """Milliseconds since 1970 by Redis's clock; never decreasing within a match."""
    command: CommandId
    actor: AccountId
    prev: bytes
    """Leaf hash of the match's previous event, `NO_HASH` for the first."""
    body: Event


class RefusedLeaf(msgspec.Struct, frozen=True, array_like=True, tag="refused"):
    """The leaf of the log for a refused command of a player of the match.

    It can't be confused with an event, because no event begins with text.
    """

    schema: int
    match: int
    at: int
    command: CommandId
    actor: AccountId
    code: str
    move: str | None
    """The canonical text of a readable move; None for any other command."""
    text: bytes | None
    """None. It has a place in the bytes, which are final; a refused command is kept outside of the log."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_EVENTS: Final = RecordDecoder(EventEnvelope)
_ANCHORS: Final = RecordDecoder(AnchorLeaf)
_REFUSALS: Final = RecordDecoder(RefusedLeaf)


def encode_event(item: EventEnvelope | RefusedLeaf | AnchorLeaf) -> bytes:
    """Return the bytes to store and hash; raises `ValueError` above `EVENT_LIMIT`."""
    data = _ENCODER.encode(item)
    if len(data) > EVENT_LIMIT:
        raise ValueError(f"an event of {len(data)} bytes; {EVENT_LIMIT} is the limit")
    return data


_FIRST_TEXT: Final = 0x80
"""MessagePack: a byte below it is a number, with which an event begins after its length."""


def body_size(body: Event) -> int:
    """Return the bytes of an event's body when encoded."""
    return len(_ENCODER.encode(body))


def is_event(leaf: bytes) -> bool:
    """Return whether a leaf is an event: the others begin with text. `msgspec.DecodeError` if it is none."""
    if len(leaf) < 2:  # noqa: PLR2004 - the length of an array, and its first field
        raise msgspec.DecodeError(f"a leaf has more than {len(leaf)} bytes")
    return leaf[1] < _FIRST_TEXT


def decode_event(data: bytes) -> EventEnvelope:
    """Read an event; raises `msgspec.DecodeError` or `ValidationError` if the bytes are none."""
    return _EVENTS.decode(data)


def decode_refusal(data: bytes) -> RefusedLeaf:
    """Read a refusal's leaf; raises as `decode` does."""
    return _REFUSALS.decode(data)


def decode_anchor(data: bytes) -> AnchorLeaf:
    """Read an anchor's leaf; raises as `decode` does."""
    return _ANCHORS.decode(data)


def leaf_hash(data: bytes) -> bytes:
    """Return the RFC 6962 leaf hash: SHA-256 of 0x00 and the bytes."""
    return sha256(b"\x00" + data).digest()


def command_id(front_end: str, account: AccountId, key: str) -> CommandId:
    """Return the id of a command, which is the same for each repetition with the same key.

    It is the first 16 bytes of SHA-256 over the name of the front end, a zero byte, the
    account id and the key, such as an Idempotency-Key or a Message-ID.
    """
    return sha256(b"%b\x00%b%b" % (front_end.encode(), account, key.encode())).digest()[:16]
