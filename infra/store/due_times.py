"""The repair of a match's due time.

Commits keep due times up to date (`commit.lua`). The scrubber compares them with the snapshots, and the scheduler
those of the matches that it has read because they are due.
"""

from typing import Final

import redis

from infra.redis import keys, scripts
from infra.store.layout import Layout

_REPAIR: Final = scripts.Script("repair_due")


class DueTimes:
    """Repairs due times. Errors of the server pass through."""

    def __init__(self, client: redis.Redis, shape: Layout) -> None:
        self._client = client
        self._shards = shape.shards

    def repair(self, board: int, head: bytes, due: int) -> bool:
        """Set a match's due time; False if the match has moved on, or the time was right."""
        shard = keys.shard_of(board, self._shards)
        names = [keys.snapshot(shard, board), keys.due(shard)]
        return bool(scripts.call(self._client, _REPAIR, names, [head, board, due]))
