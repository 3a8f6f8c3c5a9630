"""The facts of RQ's Redis: jobs, command workers and the leases of the lanes."""

import socket

import msgspec
import redis
from rq import Queue, Worker
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from infra.redis import keys
from infra.redis.rq_jobs import COMMANDS, SUSPENDED
from infra.store.layout import Layout
from infra.valkey.process import is_alive


class LaneFacts(msgspec.Struct, frozen=True):
    """A lane's lease."""

    lane: str
    """Such as `0/3`: lane 0 of 3."""
    holder: str
    """Empty if no drain holds it, `wanted` if a drain was requested."""
    ttl: int
    """Milliseconds until it ends; negative if it never ends."""
    unreleased: bool
    """Whether a drain holds it, or ended without releasing it."""


class WorkerFacts(msgspec.Struct, frozen=True):
    """A command worker as registered with RQ."""

    pid: int
    host: str
    alive: bool
    """Whether the process exists; on another machine, whether RQ still lists it."""


class QueueFacts(msgspec.Struct, frozen=True):
    """RQ's Redis."""

    waiting: int
    failed: int
    workers: tuple[WorkerFacts, ...]
    lanes: tuple[LaneFacts, ...]
    suspended: bool = False
    """Whether an operator has suspended the workers."""


def read_queue(client: redis.Redis, shape: Layout | None) -> QueueFacts:
    """Return the facts of RQ's Redis."""
    queue = Queue(COMMANDS, connection=client, serializer=JSONSerializer)
    # the mailer is a worker of RQ's, too
    workers = Worker.all(connection=client, serializer=JSONSerializer)
    deciding = [worker for worker in workers if COMMANDS in worker.queue_names()]
    return QueueFacts(
        waiting=queue.count,
        failed=FailedJobRegistry(queue=queue).get_job_count(cleanup=False),
        workers=tuple(map(_worker, deciding)),
        lanes=_lanes(client, shape.lanes if shape else 0),
        suspended=bool(client.exists(SUSPENDED)),
    )


def _worker(worker: BaseWorker) -> WorkerFacts:
    here = worker.hostname == socket.gethostname()
    pid = int(worker.pid or 0)
    # RQ drops a worker, of any machine, that has sent no heartbeat for its time to live
    return WorkerFacts(pid, str(worker.hostname), alive=not here or is_alive(pid))


def _lanes(client: redis.Redis, count: int) -> tuple[LaneFacts, ...]:
    lanes = keys.all_lanes(count)
    with client.pipeline(transaction=False) as pipe:
        for lane in lanes:
            pipe.get(keys.lease(lane))
            pipe.pttl(keys.lease(lane))
            pipe.exists(keys.lease_mark(lane))
        replies = iter(pipe.execute())
    return tuple(
        LaneFacts(str(lane), (holder or b"").decode(errors="replace"), left, bool(unreleased))
        for lane, (holder, left, unreleased) in zip(
            lanes, zip(*[replies] * 3, strict=True), strict=True
        )
    )
