"""The figures of the queue: the backlog of each lane and of RQ's queues, and the workers on them."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis
from rq import Queue, Worker
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.serializers import JSONSerializer

from infra.redis import keys
from infra.redis.clients import to_ms
from infra.redis.keys import Lane
from infra.redis.rq_jobs import (
    ANALYSIS,
    COMMANDS,
    MAIL,
    MAINTENANCE,
    PROJECTIONS,
    PUBLISHED_LOG,
    ROBOTS,
)
from infra.store.last_runs import LaneTurn, last_turns
from infra.store.layout import Layout
from infra.store.leases import REQUESTED

_OURS: Final = (COMMANDS, PROJECTIONS, PUBLISHED_LOG, MAIL, MAINTENANCE, ROBOTS, ANALYSIS)


class LaneFigures(msgspec.Struct, frozen=True):
    """A lane: its inboxes, its lease and its last turn."""

    lane: str
    """Such as `0/3`: lane 0 of 3."""
    waiting: int
    """Commands in its inboxes."""
    oldest_ms: int
    """How long the oldest of them has waited; 0 if none waits."""
    lease: str
    """`free`, `requested`, or `held` by a drain."""
    last: LaneTurn | None
    """Its last turn with outcomes, if one is known."""


class QueueFigures(msgspec.Struct, frozen=True):
    """A queue of RQ."""

    name: str
    waiting: int
    started: int
    failed: int
    workers: int


class AllFigures(msgspec.Struct, frozen=True):
    """All lanes and all queues at one moment."""

    lanes: tuple[LaneFigures, ...]
    queues: tuple[QueueFigures, ...]


def read_figures(data: redis.Redis, queue: redis.Redis, shape: Layout) -> AllFigures:
    """Return the figures; errors of the two servers pass through."""
    return AllFigures(_lanes(data, queue, shape), _queues(queue))


def _lanes(data: redis.Redis, queue: redis.Redis, shape: Layout) -> tuple[LaneFigures, ...]:
    lanes = shape.all_lanes
    with data.pipeline(transaction=False) as pipe:
        pipe.time()
        for shard in range(shape.shards):
            pipe.xlen(keys.inbox(shard))
            pipe.xrange(keys.inbox(shard), count=1)
        time, *found = pipe.execute()
    now, inboxes = to_ms(time), list(zip(found[::2], found[1::2], strict=True))
    with queue.pipeline(transaction=False) as pipe:
        for lane in lanes:
            pipe.get(keys.lease(lane))
        holders = pipe.execute()
    turns = last_turns(queue, lanes)
    return tuple(
        _lane(lane, [inboxes[shard] for shard in lane.shards(shape.shards)], holder, turn, now)
        for lane, holder, turn in zip(lanes, holders, turns, strict=True)
    )


def _lane(
    lane: Lane, inboxes: Sequence[Any], holder: bytes | None, last: LaneTurn | None, now: int
) -> LaneFigures:
    received = [int(first[0][1][b"t"]) for _, first in inboxes if first]
    return LaneFigures(
        lane=str(lane),
        waiting=sum(waiting for waiting, _ in inboxes),
        oldest_ms=max((now - at for at in received), default=0),
        lease=_lease(holder),
        last=last,
    )


def _lease(holder: bytes | None) -> str:
    if holder is None:
        return "free"
    return "requested" if holder == REQUESTED.encode() else "held"


def _queues(client: redis.Redis) -> tuple[QueueFigures, ...]:
    workers = Worker.all(connection=client, serializer=JSONSerializer)
    found = {one.name for one in Queue.all(connection=client, serializer=JSONSerializer)}
    names = [*_OURS, *sorted(found.difference(_OURS))]
    listening = [name for worker in workers for name in worker.queue_names()]
    return tuple(_queue(client, name, listening.count(name)) for name in names)


def _queue(client: redis.Redis, name: str, workers: int) -> QueueFigures:
    queue = Queue(name, connection=client, serializer=JSONSerializer)
    return QueueFigures(
        name=name,
        waiting=queue.count,
        started=StartedJobRegistry(queue=queue).get_job_count(cleanup=False),
        failed=FailedJobRegistry(queue=queue).get_job_count(cleanup=False),
        workers=workers,
    )
