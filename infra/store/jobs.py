"""Notes of the last run of each job that works on lanes or shards, for operators; on the server of the queue.

| key | what |
|---|---|
| `{lease:0/3}:last` | hash: `outcomes`, `batches` and `ms` of the lane's last turn; `worker` that did it; `at`, its end in ms |
| `{lease:retire/7}:last` | hash: `shard`, `retired`, `kept` and `ms` of the last run of the shard's retire job; `worker`, `at` |

Long jobs that an operator asks for: enqueued once, followed by any terminal, and looked up by id.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
import redis
from rq import Queue, Retry, Worker
from rq.exceptions import DuplicateJobError
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from infra.redis import keys
from infra.redis.keys import Lane
from infra.redis.reads import HashRecord
from infra.redis.rq_jobs import MAINTENANCE, SUSPENDED


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


JOB_SECONDS: Final = 7 * 24 * 3600
"""A job that takes longer is stuck."""

KEPT_SECONDS: Final = 24 * 3600
"""How long a job can be looked at after its end."""

TRIES_AGAIN: Final = 2
"""How often a job is repeated whose worker was killed, or that failed because of a server."""

_OVER: Final = frozenset(
    {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED}
)


def _queue(client: redis.Redis) -> Queue:
    return Queue(MAINTENANCE, connection=client, serializer=JSONSerializer)


def has_worker(client: redis.Redis) -> bool:
    """Return whether a worker takes maintenance jobs, and is not suspended."""
    if client.exists(SUSPENDED):
        return False
    return bool(Worker.all(queue=_queue(client), serializer=JSONSerializer))


def enqueue(
    client: redis.Redis,
    function: str,
    names: Sequence[str],
    buckets: int | None = None,
    processes: int | None = None,
) -> Job:
    """Enqueue a job, or return the same one if it waits or runs already.

    `buckets` is the number of buckets after a rebuild; None for as many as there are. `processes` are
    those of a rebuild; None for as many as are worth it.
    """
    words = [function.rpartition(".")[2], *(sorted(set(names)) or ["all"])]
    words += [] if buckets is None else ["in", str(buckets)]
    job_id = "-".join(words)
    numbers = {"buckets": buckets, "processes": processes}
    queue = _queue(client)
    old = queue.fetch_job(job_id)
    if old is not None and old.get_status() in _OVER:
        old.delete()
    try:
        return queue.enqueue_call(
            function,
            args=tuple(names),
            kwargs={name: count for name, count in numbers.items() if count is not None},
            job_id=job_id,
            timeout=JOB_SECONDS,
            result_ttl=KEPT_SECONDS,
            failure_ttl=KEPT_SECONDS,
            retry=Retry(max=TRIES_AGAIN),
            description=job_id.replace("-", " "),
            unique=True,
        )
    except DuplicateJobError:
        return Job.fetch(job_id, connection=client, serializer=JSONSerializer)


def follow(job: Job, pause: Callable[[], object]) -> Iterator[dict[str, Any]]:
    """Read a job again and again until it is over, and yield its meta each time."""
    while True:
        job.refresh()  # type: ignore[no-untyped-call]
        yield job.meta
        if job.get_status(refresh=False) in _OVER:
            return
        pause()


def exit_code(job: Job) -> int | None:
    """Return what a job that is over returned; None if it failed or was stopped."""
    if job.get_status(refresh=False) is not JobStatus.FINISHED:
        return None
    code: Any = job.return_value()
    return int(code)
