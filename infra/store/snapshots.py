"""Reading a snapshot from Redis: its parts are in three keys, which one command reads at one moment.

Between two commands a commit could come, and the parts would be of different states.
"""

from collections.abc import Sequence
from typing import Final

from domain.match.history import PackedSnapshot
from infra.redis import keys

_HEAD: Final = 32
_MARKS_END: Final = _HEAD + 1
_NO_MARKS: Final = b"\x00"
_CONDITIONAL_MOVES: Final = b"\x01"


def read_command(shard: int, board: int, *more: str) -> tuple[str, ...]:
    """Return the command that reads a snapshot and the strings at the keys `more`, of the same shard."""
    names = keys.snapshot(shard, board), keys.moves(shard, board), keys.turns(shard, board)
    return ("MGET", *names, *more)


def read_reply(reply: Sequence[bytes | None]) -> PackedSnapshot | None:
    """Return the snapshot in a reply to `read_command`; None for a match that does not exist."""
    stored, moves, turns = reply[:3]
    if stored is None:
        return None
    state = stored[:_HEAD] + stored[_MARKS_END:]
    return PackedSnapshot(state, moves or b"", turns or b"")


def with_marks(state: bytes, conditional_moves: bytes) -> bytes:
    """Return the string to store for the state of a snapshot: the marks follow the head."""
    marks = _CONDITIONAL_MOVES if conditional_moves else _NO_MARKS
    return state[:_HEAD] + marks + state[_HEAD:]
