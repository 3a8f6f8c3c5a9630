"""Notes of the last run of each job that works on lanes or shards, for operators; on the server of the queue.

| key | what |
|---|---|
| `{lease:0/3}:last` | hash: `outcomes`, `batches` and `ms` of the lane's last turn; `worker` that did it; `at`, its end in ms |
| `{lease:retire/7}:last` | hash: `shard`, `retired`, `kept` and `ms` of the last run of the shard's retire job; `worker`, `at` |
"""

import os
import socket
import time
from collections.abc import Sequence
from typing import Final

import msgspec
import redis

from infra.redis import keys
from infra.redis.keys import Lane
from infra.redis.reads import HashRecord


class LaneTurn(msgspec.Struct, frozen=True):
    """A turn of a drain."""

    outcomes: int
    batches: int
    ms: int
    """How long it took."""
    worker: str
    """Host and process id of the command worker."""
    at: int
    """When it ended, in ms by the clock of the worker's machine."""


class RetireRun(msgspec.Struct, frozen=True):
    """A run of the retire job."""

    shard: int
    retired: int
    kept: int
    """Matches that were due, and stay in Redis for now."""
    ms: int
    worker: str
    at: int


_TURNS: Final = HashRecord(LaneTurn)
_TURNS_SECONDS: Final = 24 * 3600

_RETIRE_RUNS: Final = HashRecord(RetireRun)
_RETIRE_RUNS_SECONDS: Final = 30 * 24 * 3600


def note_turn(
    queue: redis.Redis, lane: Lane, *, outcomes: int, batches: int, seconds: float
) -> None:
    """Note a turn that this process has just ended; one without outcomes is not noted."""
    if outcomes:
        turn = LaneTurn(outcomes, batches, *_ended(seconds))
        _TURNS.write(queue, keys.last_turn(lane), turn, _TURNS_SECONDS)


def last_turns(queue: redis.Redis, lanes: Sequence[Lane]) -> list[LaneTurn | None]:
    """Return the last turn of each lane; None if none is known."""
    return _TURNS.read_all(queue, list(map(keys.last_turn, lanes)))


def note_retire_run(
    queue: redis.Redis, shard: int, *, retired: int, kept: int, seconds: float
) -> None:
    """Note a run that this process has just ended."""
    run = RetireRun(shard, retired, kept, *_ended(seconds))
    _RETIRE_RUNS.write(queue, keys.last_retire_run(shard), run, _RETIRE_RUNS_SECONDS)


def last_retire_run(queue: redis.Redis, shards: int) -> RetireRun | None:
    """Return the last run of all shards; None if none is known."""
    runs = _RETIRE_RUNS.read_all(queue, list(map(keys.last_retire_run, range(shards))))
    return max(filter(None, runs), key=lambda run: run.at, default=None)


def _ended(seconds: float) -> tuple[int, str, int]:
    """Return the last three fields of a run that ends now."""
    worker = f"{socket.gethostname()}/{os.getpid()}"
    return round(1000 * seconds), worker, time.time_ns() // 1_000_000
