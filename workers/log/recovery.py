"""Closes the shards whose logs have lost leaves or differ, and restores what can be restored."""

import time
from collections.abc import Callable
from typing import Final

from infra.process.failpoints import failpoint
from infra.store.closed_shards import ClosedKind, ClosedShard, ClosedShards
from workers.log.restore import ShardRestorer

LOOK_SECONDS: Final = 3.0
"""How often closed shards are looked for, which are rare."""


class LogRecovery:
    """The closed shards, and the work to open them again; `restorer` returns that of a shard."""

    def __init__(self, closed: ClosedShards, restorer: Callable[[int], ShardRestorer]) -> None:
        self._closed = closed
        self._make_restorer = restorer
        self._restorers: dict[int, ShardRestorer] = {}
        """Of the shards that are being restored."""
        self._due = 0.0
        """When closed shards are looked for again, by the monotonic clock."""

    def close(self, shard: int, why: ClosedShard) -> None:
        """Close a shard."""
        self._closed.close(shard, why)
        failpoint("restore.closed")
        self._due = 0.0

    def lost(self, shards: range) -> list[int]:
        """Return the closed shards that can be restored, as of `LOOK_SECONDS` ago or later."""
        if time.monotonic() < self._due:
            return []
        found = self._closed.read(shards)
        lost = [shard for shard, why in found.items() if why.kind is ClosedKind.ROLLED_BACK]
        if not lost:
            self._due = time.monotonic() + LOOK_SECONDS
        return lost

    def step(self, shard: int) -> bool:
        """Restore some leaves of a shard; return whether nothing is left to do.

        Errors of the published log pass through, and the next step begins again.
        """
        one = self._restorers.pop(shard, None) or self._make_restorer(shard)
        done = one.step()
        if not done:
            self._restorers[shard] = one
        return done
