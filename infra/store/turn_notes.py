"""Notes of the last turn of each lane, for operators; on the server of the queue.

| key | what |
|---|---|
| `{lease:0/3}:last` | hash: `outcomes`, `batches`, `ms` of the turn; `worker` that did it; `at`, its end in ms |
"""

import os
import socket
import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys
from infra.redis.keys import Lane

KEPT_SECONDS: Final = 24 * 3600


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


def note_turn(
    client: redis.Redis, lane: Lane, *, outcomes: int, batches: int, seconds: float
) -> None:
    """Note a turn that this process has just ended; one without outcomes is not noted."""
    if not outcomes:
        return
    turn = LaneTurn(
        outcomes=outcomes,
        batches=batches,
        ms=round(1000 * seconds),
        worker=f"{socket.gethostname()}/{os.getpid()}",
        at=time.time_ns() // 1_000_000,
    )
    fields: Any = msgspec.structs.asdict(turn)
    with client.pipeline(transaction=False) as pipe:
        pipe.hset(keys.last_turn(lane), mapping=fields)
        pipe.expire(keys.last_turn(lane), KEPT_SECONDS)
        pipe.execute()


def last_turns(client: redis.Redis, lanes: Sequence[Lane]) -> list[LaneTurn | None]:
    """Return the last turn of each lane; None if none is known."""
    with client.pipeline(transaction=False) as pipe:
        for lane in lanes:
            pipe.hgetall(keys.last_turn(lane))
        return [_read(found) for found in pipe.execute()]


def _read(found: dict[bytes, bytes]) -> LaneTurn | None:
    fields = {name.decode(): value.decode() for name, value in found.items()}
    return msgspec.convert(fields, LaneTurn, strict=False) if fields else None
