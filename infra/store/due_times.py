"""The due times of all matches, for the check that compares and repairs them.

Commits keep them up to date (`commit.lua`); the check compares them with the snapshots.
"""

from collections.abc import Sequence
from typing import Any, Final

import redis

from domain.match.history import PackedSnapshot
from infra.redis import keys, scripts
from infra.store import snapshots
from infra.store.board_numbers import BoardNumbers
from infra.store.layout import Layout

_REPAIR: Final = scripts.Script("repair_due")


class DueTimes:
    """The due times of all matches. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, shape: Layout) -> None:
        self._client = client
        self._shards = shape.shards
        self._numbers = BoardNumbers(client, shape)

    def highest_board(self) -> int:
        """Return the highest number that a match can have."""
        return self._numbers.highest()

    def read(self, boards: Sequence[int]) -> list[tuple[PackedSnapshot | None, int]]:
        """Return for each match the snapshot and its stored due time, ms; 0 for never."""
        pipe: Any  # redis-py types no part of its pipelines
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                shard = keys.shard_of(board, self._shards)
                pipe.execute_command(*snapshots.read_command(shard, board))
                pipe.zscore(keys.due(shard), str(board))
            found = iter(pipe.execute())
        return [
            (snapshots.read_reply(reply), int(score or 0))
            for reply, score in zip(found, found, strict=True)
        ]

    def repair(self, board: int, head: bytes, due: int) -> bool:
        """Set a match's due time; False if the match has moved on, or the time was right."""
        shard = keys.shard_of(board, self._shards)
        names = [keys.snapshot(shard, board), keys.due(shard)]
        return bool(scripts.call(self._client, _REPAIR, names, [head, board, due]))
