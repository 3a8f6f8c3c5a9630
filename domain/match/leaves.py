"""The leaves of a log, of whatever kind: an event, a refusal, or the anchor of a chain of seeds."""

from collections.abc import Sequence

import msgspec

from domain.match.events import (
    AnchorLeaf,
    EventEnvelope,
    RefusedLeaf,
    decode_anchor,
    decode_event,
    decode_refusal,
    is_event,
)

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
