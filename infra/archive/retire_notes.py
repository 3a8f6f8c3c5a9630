"""Notes of the last run of each shard's retire job, for operators; on the server of the queue.

| key | what |
|---|---|
| `{lease:retire/7}:last` | hash: `retired`, `kept`, `ms` of the run; `worker` that did it; `at`, its end in ms |
"""

import os
import socket
import time
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys

KEPT_SECONDS: Final = 30 * 24 * 3600


class RetireRun(msgspec.Struct, frozen=True):
    """A run of the retire job."""

    shard: int
    retired: int
    kept: int
    """Matches that were due, and stay in Redis for now."""
    ms: int
    """How long it took."""
    worker: str
    """Host and process id of the worker."""
    at: int
    """When it ended, in ms by the clock of the worker's machine."""


def note_retire_run(
    client: redis.Redis, shard: int, *, retired: int, kept: int, seconds: float
) -> None:
    """Note a run that this process has just ended."""
    run = RetireRun(
        shard=shard,
        retired=retired,
        kept=kept,
        ms=round(1000 * seconds),
        worker=f"{socket.gethostname()}/{os.getpid()}",
        at=time.time_ns() // 1_000_000,
    )
    fields: Any = msgspec.structs.asdict(run)
    with client.pipeline(transaction=False) as pipe:
        pipe.hset(keys.last_retire_run(shard), mapping=fields)
        pipe.expire(keys.last_retire_run(shard), KEPT_SECONDS)
        pipe.execute()


def last_retire_run(client: redis.Redis, shards: int) -> RetireRun | None:
    """Return the last run of all shards; None if none is known."""
    with client.pipeline(transaction=False) as pipe:
        for shard in range(shards):
            pipe.hgetall(keys.last_retire_run(shard))
        runs = [_read(found) for found in pipe.execute() if found]
    return max(runs, key=lambda run: run.at, default=None)


def _read(found: dict[bytes, bytes]) -> RetireRun:
    fields = {name.decode(): value.decode() for name, value in found.items()}
    return msgspec.convert(fields, RetireRun, strict=False)
