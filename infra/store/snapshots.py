"""Reading a snapshot from Redis: its parts are in three keys, which one command reads at one moment.

Between two commands a commit could come, and the parts would be of different states.

Reading all that Redis has of matches, many in one round trip.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from domain.match.history import PackedSnapshot
from domain.records import CommandId
from infra.redis import keys
from infra.redis.reads import Read, read_strings

_HEAD: Final = 32
_MARKS_END: Final = _HEAD + 1
_NO_MARKS: Final = b"\x00"
_CONDITIONAL_MOVES: Final = b"\x01"

REFUSALS_MARK: Final = (_HEAD, b"\x02")
"""Place and byte of the mark of a match without conditional moves in which refusals are counted."""

WithConditionalMoves: TypeAlias = tuple[PackedSnapshot | None, bytes]
"""A snapshot, and the match's conditional moves, empty for none."""


def read_command(shard: int, board: int, *more: str) -> tuple[str, ...]:
    """Return the command that reads a snapshot and the strings at the keys `more`, of the same shard."""
    return ("MGET", *_names(shard, board), *more)


def _names(shard: int, board: int) -> tuple[str, str, str]:
    return keys.snapshot(shard, board), keys.moves(shard, board), keys.turns(shard, board)


def read_snapshots(
    shard_of: Callable[[int], int], boards: Sequence[int]
) -> Read[list[PackedSnapshot | None]]:
    """Return the read of the snapshots, None for a match that does not exist."""
    names = [name for board in boards for name in _names(shard_of(board), board)]
    return read_strings(
        names, lambda found: [read_reply(found[at : at + 3]) for at in range(0, len(found), 3)]
    )


def read_with_conditional_moves(
    shard_of: Callable[[int], int], boards: Sequence[int]
) -> Read[list[WithConditionalMoves]]:
    """Return the read of the snapshots with the conditional moves."""
    names = [
        name
        for board in boards
        for name in (
            *_names(shard_of(board), board),
            keys.conditional_moves(shard_of(board), board),
        )
    ]
    return read_strings(
        names,
        lambda found: [
            (read_reply(found[at : at + 3]), found[at + 3] or b"") for at in range(0, len(found), 4)
        ],
    )


def read_locators(shard_of: Callable[[int], int], boards: Sequence[int]) -> Read[list[bytes]]:
    """Return the read of the matches' locators, empty for a match without leaves in Redis."""
    names = [keys.locator(shard_of(board), board) for board in boards]
    return read_strings(names, lambda found: [one or b"" for one in found])


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


class WholeMatch(msgspec.Struct, frozen=True):
    """All that is stored of a match that is over."""

    snapshot: PackedSnapshot
    events: list[bytes]
    outcomes: Mapping[CommandId, bytes]
    locator: bytes
    """See `infra.store.locators`; damaged bytes are returned as they are."""


def read_matches(
    shard_of: Callable[[int], int], boards: Sequence[int]
) -> Read[list[WholeMatch | None]]:
    """Return the read of matches, None for one without a state."""

    def queue(pipe: Any) -> None:
        for board in boards:
            shard = shard_of(board)
            pipe.execute_command(*read_command(shard, board, keys.locator(shard, board)))
            pipe.lrange(keys.events(shard, board), 0, -1)
            pipe.hgetall(keys.outcomes(shard, board))

    def parse(replies: list[Any]) -> list[WholeMatch | None]:
        return [_match(*replies[at : at + 3]) for at in range(0, len(replies), 3)]

    return Read(queue, parse)


def _match(strings: Sequence[bytes | None], events: Any, outcomes: Any) -> WholeMatch | None:
    snapshot = read_reply(strings)
    if snapshot is None:
        return None
    return WholeMatch(snapshot, list(events), dict(outcomes), strings[3] or b"")
