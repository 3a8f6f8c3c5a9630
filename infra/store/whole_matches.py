"""Reading all that Redis has of matches, many in one round trip."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from domain.match.events import CommandId
from domain.match.history import PackedSnapshot
from infra.redis import keys
from infra.redis.reads import Read
from infra.store import snapshots


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
            pipe.execute_command(*snapshots.read_command(shard, board, keys.locator(shard, board)))
            pipe.lrange(keys.events(shard, board), 0, -1)
            pipe.hgetall(keys.outcomes(shard, board))

    def parse(replies: list[Any]) -> list[WholeMatch | None]:
        return [_match(*replies[at : at + 3]) for at in range(0, len(replies), 3)]

    return Read(queue, parse)


def _match(strings: Sequence[bytes | None], events: Any, outcomes: Any) -> WholeMatch | None:
    snapshot = snapshots.read_reply(strings)
    if snapshot is None:
        return None
    return WholeMatch(snapshot, list(events), dict(outcomes), strings[3] or b"")
