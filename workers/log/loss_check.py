"""Looks whether logs have lost leaves in shards where nobody moves; drains notice it in the others."""

import time
from collections.abc import Callable
from typing import Final

import redis

from infra.redis import keys
from infra.store.log_gate import read_ends
from infra.store.lost_leaves import LossRecord, add_log_ends

EVERY_SECONDS: Final = 10.0


class LossCheck:
    """Compares the ends of logs with those on the server of the queue; call `tick` once a second."""

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        shards: int,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data = data
        self._queue = queue
        self._shards = range(shards)
        self._losses = LossRecord(data)
        self._timer = timer
        self._due = timer()

    def tick(self) -> None:
        """Look, if it is time to."""
        if self._timer() < self._due:
            return
        self._due = self._timer() + EVERY_SECONDS
        with self._queue.pipeline(transaction=False) as pipe:
            for shard in self._shards:
                pipe.hmget(keys.published(shard), "size", "end")
            announced = [(int(size or 0), int(end or 0)) for size, end in pipe.execute()]
        begun = [shard for shard in self._shards if announced[shard][1]]
        # after it, because a log only grows
        for shard, found in zip(begun, read_ends(self._data, begun), strict=True):
            published, end = announced[shard]
            # what is published is restored first
            if published <= found < end:
                self._losses.note(shard, found, end)
                with self._queue.pipeline(transaction=False) as pipe:
                    add_log_ends(pipe, {shard: found})
                    pipe.execute()
