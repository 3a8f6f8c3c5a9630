"""Wake-ups: RQ jobs that start runs. The scheduler's sweep repeats one that is lost."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import uuid4

import redis

from infra.redis.keys import Lane
from infra.redis.rq_jobs import COMMANDS, DRAIN, SUSPENDED, queue_key
from infra.store.leases import Leases, request_all

FAILURE_SECONDS: Final = 3600

DRAIN_SECONDS: Final = 120
"""A drain ends within half a minute; one that takes this long is stuck."""


class WakeupJob(NamedTuple):
    """A job that starts a run which may be repeated at any time."""

    queue: str
    function: str
    timeout: int
    """Seconds after which the job is stuck, and ended by RQ."""
    about: str
    """A description for RQ's tools."""
    args: Sequence[int] = ()


def enqueue_wakeup(client: redis.Redis, job: WakeupJob) -> None:
    """Enqueue a wake-up, unless the same one waits already or the workers are suspended."""
    from rq import Queue  # noqa: PLC0415 - slow to import, and not always needed
    from rq.serializers import JSONSerializer  # noqa: PLC0415

    name = "-".join([job.function.rpartition(".")[2], *map(str, job.args), ""])
    with client.pipeline(transaction=False) as pipe:
        pipe.exists(SUSPENDED)
        pipe.lrange(queue_key(job.queue), 0, -1)
        suspended, waiting = pipe.execute()
    if suspended or any(one.startswith(name.encode()) for one in waiting):
        return
    # with a pipeline of its own RQ makes two round trips
    with client.pipeline() as pipe:
        Queue(job.queue, connection=client, serializer=JSONSerializer).enqueue_call(
            job.function,
            args=tuple(job.args),
            job_id=f"{name}{uuid4().hex}",
            timeout=job.timeout,
            result_ttl=0,
            failure_ttl=FAILURE_SECONDS,
            description=job.about,
            pipeline=pipe,
        )
        pipe.execute()


class LeasedJob(NamedTuple):
    """A job of which one run goes on at a time, under a lease."""

    wakeup: WakeupJob
    lease: str
    """The name of the lease."""
    lease_ms: int
    """How long it lasts unless renewed: a run that was killed is replaced after this."""

    def leases(self, queue: redis.Redis) -> Leases[str]:
        """Return the leases; each request enqueues the job."""
        wake = partial(enqueue_wakeup, queue, self.wakeup)
        return Leases(queue, lambda _: wake(), queue=self.wakeup.queue, lease_ms=self.lease_ms)

    def request(self, queue: redis.Redis) -> None:
        """Wake the run that goes on, or request one."""
        self.leases(queue).request(self.lease)


def request_jobs(queue: redis.Redis, jobs: Sequence[LeasedJob]) -> None:
    """Wake the runs of jobs that go on, or request them, in one round trip."""
    request_all(queue, [(job.leases(queue), job.lease) for job in jobs])


def enqueue_drain(client: redis.Redis, lane: Lane) -> None:
    """Enqueue the job that drains a lane."""
    enqueue_wakeup(client, WakeupJob(COMMANDS, DRAIN, DRAIN_SECONDS, f"drain lane {lane}", lane))
