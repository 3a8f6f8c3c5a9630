"""The leaves of a log, of whatever kind: an event in its envelope, a refusal, or the anchor of a chain of seeds.

A leaf is encoded once. Those bytes are stored, hashed, logged and exported, and never encoded again.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec

from domain.match.decoding import RecordDecoder
from domain.match.events import AccountId, CommandId, Event

EVENT_LIMIT: Final = 65_535
"""The most bytes of an event, because log tiles have two bytes for the length of an entry."""

NO_HASH: Final = bytes(32)
"""`prev` of a match's first event, and the head of a match without events."""


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


Leaf = EventEnvelope | RefusedLeaf | AnchorLeaf


def decode_leaf(data: bytes) -> Leaf:
    """Read a leaf; raises `msgspec.MsgspecError` if it is none."""
    if is_event(data):
        return decode_event(data)
    try:
        return decode_refusal(data)
    except msgspec.MsgspecError:
        return decode_anchor(data)


def time_of_leaf(data: bytes) -> int | None:
    """Return the time of a leaf; None for an anchor, and for a damaged leaf."""
    try:
        leaf = decode_leaf(data)
    except (msgspec.MsgspecError, TypeError):
        return None
    return None if isinstance(leaf, AnchorLeaf) else leaf.at


def command_of(leaf: Leaf) -> tuple[int, bytes]:
    """Return what the leaves of one commit have in common: match and command, or the chain."""
    return (leaf.chain, b"") if isinstance(leaf, AnchorLeaf) else (leaf.match, leaf.command)


def without_last_command(leaves: Sequence[bytes]) -> list[bytes]:
    """Return leaves without the last command's, of which more may follow; all if they are of one."""
    last = _command_in(leaves[-1])
    end = len(leaves)
    while end and _command_in(leaves[end - 1]) == last:
        end -= 1
    return list(leaves[:end] if end else leaves)


def _command_in(data: bytes) -> tuple[int, bytes]:
    """Return the command of a leaf; one that is damaged is alone."""
    try:
        return command_of(decode_leaf(data))
    except msgspec.MsgspecError:
        return (-1, data)
