"""The commands that leaves belong to: those of one command stand together, and are never parted."""

from collections.abc import Sequence

import msgspec

from domain.match.events import AnchorLeaf, Leaf, decode_leaf


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
