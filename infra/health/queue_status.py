"""The part of a server's status that RQ's Redis knows: lanes, the queues of jobs, and their workers.

The part of a server's status that each shard has: its inbox, and its reminders and flags.
"""

import socket
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis
from rq import Queue, Worker
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from infra.redis import keys
from infra.redis.keys import Lane
from infra.redis.rq_jobs import (
    ANALYSIS,
    COMMANDS,
    MAIL,
    MAINTENANCE,
    PROJECTIONS,
    PUBLISHED_LOG,
    ROBOTS,
    SUSPENDED,
)
from infra.store.job_notes import LaneTurn, last_turns
from infra.store.layout import Layout
from infra.store.leases import REQUESTED
from infra.valkey.process import is_alive

OVERDUE_MS: Final = 60_000
"""Milliseconds after which a missing reminder or flag is reported; a tick takes one second."""


class ShardStatus(msgspec.Struct, frozen=True):
    """The inbox of a shard, and its reminders and flags."""

    number: int
    waiting: int
    """Commands in the inbox."""
    oldest: int | None
    """When the oldest entry was received, in ms by the server's clock."""
    aside: int
    """Entries that could not be decoded."""
    tries: int
    """The most attempts at any entry that failed; 0 if none failed."""
    overdue: int = 0
    """Matches whose reminder or flag has been due for more than a minute."""
    due: int | None = None
    """When the next reminder or flag is due, in ms by the server's clock."""
    floor: int = 0
    """No command is received before this time, in ms, even if the server's clock is behind it."""


def read_shards(client: redis.Redis, shards: int, now: int) -> tuple[ShardStatus, ...]:
    """Return the status of all shards in one round trip; `now` is the server's time in ms."""
    with client.pipeline(transaction=False) as pipe:
        for number in range(shards):
            pipe.xlen(keys.inbox(number))
            pipe.xrange(keys.inbox(number), count=1)
            pipe.xlen(keys.dead_letters(number))
            pipe.hvals(keys.attempts(number))
            pipe.zcount(keys.due(number), 0, now - OVERDUE_MS)
            pipe.zrange(keys.due(number), 0, 0, withscores=True)
            pipe.get(keys.floor(number))
        replies = iter(pipe.execute())
    return tuple(_shard(number, row) for number, row in enumerate(zip(*[replies] * 7, strict=True)))


def _shard(number: int, row: tuple[Any, ...]) -> ShardStatus:
    waiting, first, aside, tries, overdue, due, floor = row
    return ShardStatus(
        number,
        waiting,
        int(first[0][1].get(b"t", 0)) if first else None,
        aside,
        tries=max(map(int, tries), default=0),
        overdue=overdue,
        due=int(due[0][1]) if due else None,
        floor=int(floor or 0),
    )


OURS: Final = (COMMANDS, PROJECTIONS, PUBLISHED_LOG, MAIL, MAINTENANCE, ROBOTS, ANALYSIS)
"""The queues of matchpost, in the order in which they are shown."""


class LaneStatus(msgspec.Struct, frozen=True):
    """A lane: its lease, its inboxes and its last turn."""

    lane: str
    """Such as `0/3`: lane 0 of 3."""
    holder: str
    """Empty if no drain holds it, `wanted` if a drain was requested."""
    ttl: int
    """Milliseconds until the lease ends; negative if it never ends, or there is none."""
    unreleased: bool
    """Whether a drain holds it, or ended without releasing it."""
    waiting: int = 0
    """Commands in its inboxes."""
    oldest_ms: int = 0
    """How long the oldest of them has waited; 0 if none waits."""
    last: LaneTurn | None = None
    """Its last turn with outcomes, if one is known."""

    @property
    def lease(self) -> str:
        """Return `free`, `requested`, or `held` by a drain."""
        if not self.holder:
            return "free"
        return "requested" if self.holder == REQUESTED else "held"


class WorkerStatus(msgspec.Struct, frozen=True):
    """A worker as registered with RQ."""

    pid: int
    host: str
    alive: bool
    """Whether the process exists; on another machine, whether RQ still lists it."""
    queues: tuple[str, ...] = (COMMANDS,)
    """The queues whose jobs it takes."""


class JobQueueStatus(msgspec.Struct, frozen=True):
    """A queue of RQ."""

    name: str
    waiting: int
    started: int
    failed: int
    workers: int


class QueueStatus(msgspec.Struct, frozen=True):
    """RQ's Redis."""

    workers: tuple[WorkerStatus, ...] = ()
    """All workers; the mailer is one, too."""
    queues: tuple[JobQueueStatus, ...] = ()
    """All queues: those of matchpost first."""
    lanes: tuple[LaneStatus, ...] = ()
    """All lanes; none without a layout."""
    suspended: bool = False
    """Whether an operator has suspended the workers."""

    @property
    def deciding(self) -> list[WorkerStatus]:
        """Return the workers that decide commands."""
        return [worker for worker in self.workers if COMMANDS in worker.queues]

    @property
    def commands(self) -> JobQueueStatus:
        """Return the queue of the jobs that decide commands."""
        empty = JobQueueStatus(COMMANDS, 0, 0, 0, 0)
        return next((queue for queue in self.queues if queue.name == COMMANDS), empty)


def read_queue(
    client: redis.Redis, shape: Layout | None, shards: Sequence[ShardStatus] = (), now: int = 0
) -> QueueStatus:
    """Return the status of RQ's Redis, and of the lanes whose inboxes are those of `shards`.

    `now` is the time of the matches' server in ms.
    """
    workers = tuple(map(_worker, Worker.all(connection=client, serializer=JSONSerializer)))
    found = {one.name for one in Queue.all(connection=client, serializer=JSONSerializer)}
    names = [*OURS, *sorted(found.difference(OURS))]
    listening = [name for worker in workers for name in worker.queues]
    lanes = shape.all_lanes if shape else ()
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        pipe.exists(SUSPENDED)
        for name in names:
            queue = Queue(name, connection=client, serializer=JSONSerializer)
            pipe.llen(queue.key)
            pipe.zcard(StartedJobRegistry(queue=queue).key)
            pipe.zcard(FailedJobRegistry(queue=queue).key)
        for lane in lanes:
            pipe.get(keys.lease(lane))
            pipe.pttl(keys.lease(lane))
            pipe.exists(keys.lease_mark(lane))
        suspended, *replies = pipe.execute()
    rows: list[tuple[Any, Any, Any]] = list(zip(*[iter(replies)] * 3, strict=True))
    turns = last_turns(client, lanes) if lanes else []
    return QueueStatus(
        workers,
        tuple(
            JobQueueStatus(name, waiting, started, failed, listening.count(name))
            for name, (waiting, started, failed) in zip(names, rows[: len(names)], strict=True)
        ),
        tuple(
            _lane(lane, [shards[number] for number in lane.shards(len(shards))], row, turn, now)
            for lane, row, turn in zip(lanes, rows[len(names) :], turns, strict=True)
        ),
        bool(suspended),
    )


def _worker(worker: BaseWorker) -> WorkerStatus:
    here = worker.hostname == socket.gethostname()
    pid = int(worker.pid or 0)
    # RQ drops a worker, of any machine, that has sent no heartbeat for its time to live
    return WorkerStatus(
        pid, str(worker.hostname), not here or is_alive(pid), tuple(worker.queue_names())
    )


def _lane(
    lane: Lane, inboxes: Sequence[ShardStatus], row: Any, last: LaneTurn | None, now: int
) -> LaneStatus:
    holder, left, unreleased = row
    return LaneStatus(
        str(lane),
        (holder or b"").decode(errors="replace"),
        left,
        bool(unreleased),
        waiting=sum(shard.waiting for shard in inboxes),
        oldest_ms=max((now - one.oldest for one in inboxes if one.oldest is not None), default=0),
        last=last,
    )
