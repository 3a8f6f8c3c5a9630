"""The job of the projection worker: a long run under a lease, which requests the next one."""

import time
from collections.abc import Callable
from typing import Final

import redis

from infra.rq_jobs import PROJECT, PROJECTIONS
from infra.store.leases import Leases
from infra.store.rq_wakeup import WakeupJob, job_leases
from workers.leased_run import LeasedRun
from workers.projections.worker import ProjectionWorker
from workers.rq_worker import IDLE_SECONDS, ListedWorker

__all__ = ["IDLE_SECONDS", "LEASE", "ProjectionRun", "ProjectionWakeup", "project_leases", "run"]

LEASE: Final = "project"
"""The name of the projection worker's lease."""

LEASE_MS: Final = 15_000
"""How long it lasts: each renewal is a write, and lists may be late."""

RUN_SECONDS: Final = 60.0
"""How long a run goes on, because the end of each costs RQ dozens of commands."""

REQUEST_SECONDS: Final = 3.0
"""Between two looks whether a run goes on."""

JOB: Final = WakeupJob(PROJECTIONS, PROJECT, 600, "update lists, notices and ratings")
"""A run that takes so long is stuck."""


def project_leases(queue: redis.Redis) -> Leases[str]:
    """Return the leases of which the projection worker has one; `queue` is a client of RQ's Redis."""
    return job_leases(queue, JOB, LEASE_MS)


class ProjectionWakeup:
    """Requests the projection worker where a wake-up was lost; call `tick` once a second."""

    def __init__(self, queue: redis.Redis) -> None:
        self._leases = project_leases(queue)
        self._due = 0.0

    def tick(self) -> None:
        """Request a run, unless one goes on."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + REQUEST_SECONDS
            self._leases.request(LEASE)


class ProjectionRun:
    """A run of the projection worker under its lease."""

    def __init__(
        self,
        worker: ProjectionWorker,
        leases: Leases[str],
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._worker = worker
        self._run = LeasedRun("project", leases, LEASE, stopping, most=RUN_SECONDS)

    def run(self) -> None:
        """Keep the projections up with the logs for a while."""
        self._run.run(self)

    def recover(self, mark: bytes) -> None:
        """Do nothing, because a checkpoint is written together with the tables."""

    def step(self) -> None:
        """Go on until the run should end."""
        self._worker.run(lambda: not self._run.renew() or self._run.is_over)

    def finish(self) -> bytes:
        """Return no mark."""
        return b""

    def has_more(self) -> bool:
        """Return that there is always more to come."""
        return True


def run(worker: ProjectionWorker, queue: redis.Redis) -> None:
    """Run the jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """
    leases = project_leases(queue)

    def project() -> None:
        ProjectionRun(worker, leases, lambda: rq_worker.stopping).run()

    rq_worker = ListedWorker(queue, PROJECTIONS, {PROJECT: project})
    leases.request(LEASE)
    rq_worker.work(logging_level="WARNING")
