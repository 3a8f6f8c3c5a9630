"""The kinds of leaves: an event, a refusal, or the anchor of a chain of seeds."""

from typing import Final

import msgspec

from domain.match.events import (
    SCHEMA,
    AnchorLeaf,
    EventEnvelope,
    RefusedLeaf,
    decode_anchor,
    decode_event,
    decode_refusal,
    is_event,
)

Leaf = EventEnvelope | RefusedLeaf | AnchorLeaf

_NUMBER: Final = msgspec.msgpack.Encoder()
_EVENT: Final = bytes([0x90 | len(EventEnvelope.__struct_fields__), SCHEMA])
_REFUSAL: Final = (
    bytes([0x90 | len(RefusedLeaf.__struct_fields__) + 1, 0xA7]) + b"refused" + bytes([SCHEMA])
)


def decode_leaf(data: bytes) -> Leaf:
    """Read a leaf; `msgspec.MsgspecError` if it is none."""
    if is_event(data):
        return decode_event(data)
    try:
        return decode_refusal(data)
    except msgspec.MsgspecError:
        return decode_anchor(data)


def board_prefixes(board: int) -> tuple[bytes, bytes]:
    """Return the bytes with which the events and the refusals of a match begin."""
    number = _NUMBER.encode(board)
    return _EVENT + number, _REFUSAL + number
