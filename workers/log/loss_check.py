"""Looks whether logs have lost leaves in shards where nobody moves; drains notice it in the others."""

import time
from collections.abc import Callable
from typing import Final

import redis

from infra.process.intervals import every
from infra.redis import keys
from infra.store.log_gate import read_ends
from infra.store.log_streams import log_streams, read_log_streams, read_streams
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
        self.tick = every(EVERY_SECONDS, self._look, timer)

    def _look(self) -> None:
        with self._queue.pipeline(transaction=False) as pipe:
            for shard in self._shards:
                pipe.hmget(keys.published(shard), "size", "end")
            announced = [(int(size or 0), int(end or 0)) for size, end in pipe.execute()]
        # after it, because a log only grows; mostly all that was announced is there, and one command shows it
        lasts = {shard: end - 1 for shard, (_, end) in enumerate(announced) if end}
        there = read_log_streams(read_streams(self._data, log_streams(lasts), 1), lasts)
        short = [shard for shard in lasts if shard not in there]
        ends = dict(zip(short, read_ends(self._data, short), strict=True))
        for shard in short:
            published, end = announced[shard]
            # what is published is restored first
            if published <= ends[shard] < end:
                self._losses.note(shard, ends[shard], end)
                with self._queue.pipeline(transaction=False) as pipe:
                    add_log_ends(pipe, {shard: ends[shard]})
                    pipe.execute()
