"""The events of a match, their envelope, and what of them is logged. `docs/formats.md` is the page.

An event is encoded once. Those bytes are stored, hashed, logged and exported as they are and
never encoded again, so everything here that touches bytes is final: new fields come at the end
with a default, anything else raises `SCHEMA` with a pure upcaster, and golden bytes in the tests
hold every form.
"""

from hashlib import sha256
from typing import Final

import msgspec

from domain.clocks.terms import Terms
from domain.fairness import Commitment, Draw
from domain.rules import Seat

SCHEMA: Final = 1
"""Version of the envelope and of the bodies below."""

EVENT_LIMIT: Final = 65_535
"""Bytes an event may have: log tiles give an entry's length two bytes."""

AccountId = bytes
"""64 random bits made at signup. Names live in the account record only."""

CommandId = bytes
"""16 bytes, the same for every repetition of a command; see `command_id`."""

NO_HASH: Final = bytes(32)
"""`prev` of a match's first event, and the head of a match that has none."""

THE_SERVER: Final[AccountId] = bytes(8)
"""The actor of commands that no player sent."""


class Body(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What happened, in the past tense. Encoded as an array that begins with the kebab tag."""


class MatchStarted(Body, frozen=True, tag="match-started"):
    """A match began. Everything a replay needs to know of its beginning is here."""

    rules: str
    """The pinned rules, such as `pow2/1`."""
    options: tuple[str, ...]
    """As recorded: sorted, hyphenated, defaults left out."""
    seats: tuple[AccountId, ...]
    setup: str | None
    """What chance drew, as canonical JSON text; None for games without chance."""
    next: Seat | None
    """The seat to move; None when the match was over at its start."""
    draw: Draw | None = None
    """Where the setup came from; None where chance decided nothing."""
    terms: Terms | None = None
    """The time there is; None for a match without clocks."""


class Challenged(Body, frozen=True, tag="challenged"):
    """A match was called for that waits for every player's entropy before its draw."""

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    text: bytes
    """The challenger's entropy text."""
    terms: Terms | None = None


class Gathered(Body, frozen=True, tag="gathered"):
    """A player accepted a match that waits, and gave the text at once; the last one starts it."""

    seat: Seat
    text: bytes
    """The player's entropy text; empty if none was given."""


class Moved(Body, frozen=True, tag="moved"):
    """A move was accepted: one ply."""

    ply: int
    """1 for the first move of the match."""
    seat: Seat
    move: str
    """Canonical text."""
    next: Seat | None
    """The seat to move now. Seats between were passed by the rules; None when it is over."""
    queued: bool = False
    """Whether it was laid ready before; its command is then the one that made it due."""


class Offered(Body, frozen=True, tag="offered"):
    """A seat proposed something that needs the others' consent."""

    seat: Seat
    kind: str


class Answered(Body, frozen=True, tag="answered"):
    """A seat answered the offer that stands."""

    seat: Seat
    kind: str
    accept: bool


class Undone(Body, frozen=True, tag="undone"):
    """Moves were taken back, as all had agreed; they stay in the history."""

    ply: int
    """Moves that are left."""
    next: Seat | None
    """The seat to move now."""


class Resigned(Body, frozen=True, tag="resigned"):
    """A seat gave up."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Nagged(Body, frozen=True, tag="nagged"):
    """A seat was reminded that it is to move."""

    seat: Seat


class Flagged(Body, frozen=True, tag="flagged"):
    """A seat's time was over before it moved."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Paused(Body, frozen=True, tag="paused"):
    """All clocks stand still, as all had agreed."""


class Resumed(Body, frozen=True, tag="resumed"):
    """A seat ended the pause."""

    seat: Seat


class Absent(Body, frozen=True, tag="absent"):
    """A seat is on vacation: from this event's time on, its clock does not run."""

    seat: Seat
    until: int
    """Milliseconds."""


class Returned(Body, frozen=True, tag="returned"):
    """A seat cut its vacation short."""

    seat: Seat
    until: int
    """When its clock goes on at the latest, ms: a day that has begun may be left of it."""


class Declined(Body, frozen=True, tag="declined"):
    """A seat refused to play before its first own move; the match counts for nothing."""

    seat: Seat


class Ended(Body, frozen=True, tag="ended"):
    """The match is over."""

    winners: tuple[Seat, ...]
    """All tied seats for a draw, none for an annulled match."""
    reason: str
    """An ending of the game's rules, or one of `state.Reason`."""


class Called(Challenged, frozen=True, tag="called"):
    """A match was called for whose players commit to their texts first; `text` is empty."""

    commitments: tuple[Commitment, ...] = ()
    """What the players had committed to by then, by seat."""


class Committed(Body, frozen=True, tag="committed"):
    """A player accepted a match that waits, and committed to a text."""

    seat: Seat
    commitment: Commitment


class Sealed(Body, frozen=True, tag="sealed"):
    """All have committed: the seed of the draw is fixed, and now they reveal their texts."""

    chain: int
    k: int
    """Which seed of the chain; the start event reveals it."""
    waits: tuple[Seat, ...]
    """Whose texts the server does not keep: they are to reveal them."""


class Revealed(Body, frozen=True, tag="revealed"):
    """A player's text was revealed; with the last, the match starts."""

    seat: Seat
    text: bytes


class Withheld(Body, frozen=True, tag="withheld"):
    """A seat did not reveal its text in time, or declined when it could know the draw."""

    seat: Seat


Event = (
    Challenged
    | Gathered
    | MatchStarted
    | Moved
    | Offered
    | Answered
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
)


class AnchorLeaf(msgspec.Struct, frozen=True, array_like=True, tag="anchor"):
    """The log's leaf that fixes a chain of seeds before any of them is used."""

    schema: int
    shard: int
    chain: int
    """1 for the shard's first chain."""
    anchor: bytes
    """s(0)."""


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """An event with its place: whose it is, when it was received, and what it follows."""

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
    """The log's leaf for a refused command of a player entitled to give it.

    No event begins with text, so the two kinds of leaf can't be taken for each other.
    """

    schema: int
    match: int
    at: int
    command: CommandId
    actor: AccountId
    code: str
    move: str | None
    """Canonical text, when the command was a move whose text could be read."""
    text: bytes | None
    """Otherwise SHA-256 of a salt and the text, both kept beside the log and erasable."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_EVENTS: Final = msgspec.msgpack.Decoder(Envelope)
_ANCHORS: Final = msgspec.msgpack.Decoder(AnchorLeaf)
_REFUSALS: Final = msgspec.msgpack.Decoder(RefusedLeaf)


def encode(item: Envelope | RefusedLeaf | AnchorLeaf) -> bytes:
    """Return the bytes that are stored and hashed; `ValueError` above `EVENT_LIMIT`."""
    data = _ENCODER.encode(item)
    if len(data) > EVENT_LIMIT:
        raise ValueError(f"an event of {len(data)} bytes; {EVENT_LIMIT} is the limit")
    return data


def decode(data: bytes) -> Envelope:
    """Read an event's bytes; `msgspec.DecodeError` or `ValidationError` when they are none."""
    return _EVENTS.decode(data)


def decode_refusal(data: bytes) -> RefusedLeaf:
    """Read a refusal's leaf; raises as `decode` does."""
    return _REFUSALS.decode(data)


def decode_anchor(data: bytes) -> AnchorLeaf:
    """Read an anchor's leaf; raises as `decode` does."""
    return _ANCHORS.decode(data)


def leaf_hash(data: bytes) -> bytes:
    """RFC 6962 leaf hash: SHA-256 of 0x00 and the bytes."""
    return sha256(b"\x00" + data).digest()


def command_id(door: str, account: AccountId, key: str) -> CommandId:
    """Return the id of a command: whoever repeats it by the same door and key means the same.

    First 16 bytes of SHA-256 over the door's name, a zero byte, the account id and the key,
    whatever the key was (an Idempotency-Key, a Message-ID).
    """
    return sha256(b"%b\x00%b%b" % (door.encode(), account, key.encode())).digest()[:16]
