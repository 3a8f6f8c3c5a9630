"""Long jobs that an operator asks for: enqueued once, followed by any terminal, and looked up by id."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import redis
from rq import Queue, Retry, Worker
from rq.exceptions import DuplicateJobError
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from infra.redis.rq_jobs import MAINTENANCE, SUSPENDED

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
