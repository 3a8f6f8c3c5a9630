"""The gate: no commit is written to a log that has lost published leaves.

A failover, or a backup, may take back leaves that are published and signed. Another leaf at the index of
one of them would fork the log. So a drain knows how many leaves of each shard are published, passes
that number with its commits, and the commit script refuses to write below it.

The number is on the queue server and beside the data: the first does not go back with the data, the
second is read where the queue server was started empty. A process never forgets a greater one.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import redis

from infra.redis import keys
from infra.store.closed_shards import ClosedShards, rolled_back

LOOK_SECONDS: Final = 0.75
"""How long what was read of a shard is used."""


class LogGate:
    """The published sizes and the closed shards; `data` is of the matches' Redis, `queue` of RQ's."""

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data = data
        self._queue = queue
        self._timer = timer
        self._shards = ClosedShards(data)
        self._sizes: dict[int, int] = {}
        self._closed: set[int] = set()
        self._due: dict[int, float] = {}
        """When a shard is looked at again."""

    def published(self, shard: int) -> int:
        """Return how many leaves of a shard's log are published, as far as is known."""
        return self._sizes.get(shard, 0)

    def closed_among(self, shards: Collection[int]) -> set[int]:
        """Return those of these shards that are closed, as of `LOOK_SECONDS` ago or later."""
        now = self._timer()
        due = [shard for shard in shards if self._due.get(shard, 0.0) <= now]
        if due:
            self._look(due)
            self._due.update(dict.fromkeys(due, now + LOOK_SECONDS))
        return self._closed.intersection(shards)

    def close(self, shard: int, end: int) -> None:
        """Close a shard whose log ends before its published size."""
        self._closed.add(shard)
        self._shards.close(shard, rolled_back(shard, self.published(shard), end))

    def _look(self, shards: Sequence[int]) -> None:
        """Read the published sizes, and close the shards whose logs have lost leaves."""
        known = self._read_sizes(self._queue, shards)
        unknown = [shard for shard in shards if known[shard] is None]
        known |= self._read_sizes(self._data, unknown)
        for shard, size in known.items():
            self._sizes[shard] = max(size or 0, self.published(shard))
        # after the sizes, because a log only grows
        for shard, end in zip(shards, read_ends(self._data, shards), strict=True):
            if end < self.published(shard):
                self.close(shard, end)
        self._closed -= set(shards)
        self._closed |= set(self._shards.read(shards))

    def _read_sizes(self, client: redis.Redis, shards: Sequence[int]) -> dict[int, int | None]:
        """Return the published sizes that a server has; None for a shard of which it has none."""
        if not shards:
            return {}
        with client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.hget(keys.published(shard), "size")
            sizes = [None if size is None else int(size) for size in pipe.execute()]
        return dict(zip(shards, sizes, strict=True))


def read_ends(data: redis.Redis, shards: Sequence[int]) -> list[int]:
    """Return the index of the next leaf of each log."""
    with data.pipeline(transaction=False) as pipe:
        for shard in shards:
            pipe.xinfo_stream(keys.log(shard))
        found: list[Any] = pipe.execute(raise_on_error=False)
    return [_end(reply) for reply in found]


def _end(reply: Any) -> int:
    if not isinstance(reply, Exception):
        return int(reply["last-generated-id"].split(b"-")[0]) + 1
    # a log that nothing was ever added to is no key
    if "no such key" in str(reply):
        return 0
    raise reply
