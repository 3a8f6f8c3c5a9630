"""The queues and jobs in RQ's Redis: JSON arguments, ids only, functions that a stock worker can import.

A job is a wake-up or a request to work, and carries no data: what is to be done waits in the inboxes, the
logs and the outbox, and a job that is lost is enqueued again. While an operator has suspended the workers
(`rq suspend`) no wake-up is enqueued.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import uuid4

import redis

COMMANDS: Final = "matchpost-commands"
"""The queue of the command workers."""

MAIL: Final = "matchpost-mail"
"""The queue of the mailer."""

PROJECTIONS: Final = "matchpost-projections"
"""The queue of the projection worker."""

MAINTENANCE: Final = "matchpost-maintenance"
"""The queue of long jobs that an operator asks for."""

DRAIN: Final = "services.jobs.drain"
"""Drains a lane; its arguments are the lane's number and the count of lanes."""

SEND_MAIL: Final = "services.jobs.send_mail"
"""Does all the mailer's work for a while; it has no arguments."""

PROJECT: Final = "services.jobs.project"
"""Keeps the projections up with the logs for a while; it has no arguments."""

REBUILD: Final = "services.jobs.rebuild"
"""Rebuilds the projections that its arguments name."""

CHECK: Final = "services.jobs.check"
"""Compares the projections that its arguments name with rebuilt ones."""

SUSPENDED: Final = "rq:suspended"
"""RQ's key that exists while the workers are suspended."""

RESULT_SECONDS: Final = 60
"""How long a run that did something can be looked at."""

WAKEUP_SECONDS: Final = 60
"""How long a wake-up waits for a worker; by then another one has been sent."""

FAILURE_SECONDS: Final = 3600

MOST_WAITING: Final = 1_000
"""Wake-ups that wait in a queue at most: without a worker they would become more and more."""


class WakeupJob(NamedTuple):
    """A job that starts a run which may be repeated at any time."""

    queue: str
    function: str
    timeout: int
    """Seconds after which the job is stuck, and ended by RQ."""
    about: str
    """What it does, for RQ's tools."""
    args: Sequence[int] = ()


def queue_key(queue: str) -> str:
    """Return the key of RQ's list of the jobs that wait in a queue."""
    return f"rq:queue:{queue}"


def enqueue_wakeup(client: redis.Redis, job: WakeupJob) -> None:
    """Enqueue a wake-up, unless the workers are suspended or very many wait."""
    from rq import Queue  # noqa: PLC0415 - slow to import, and not always needed
    from rq.serializers import JSONSerializer  # noqa: PLC0415

    if client.exists(SUSPENDED) or client.llen(queue_key(job.queue)) >= MOST_WAITING:
        return
    name = "-".join([job.function.rpartition(".")[2], *map(str, job.args), uuid4().hex])
    Queue(job.queue, connection=client, serializer=JSONSerializer).enqueue_call(
        job.function,
        args=tuple(job.args),
        job_id=name,
        timeout=job.timeout,
        ttl=WAKEUP_SECONDS,
        result_ttl=0,
        failure_ttl=FAILURE_SECONDS,
        description=job.about,
    )
