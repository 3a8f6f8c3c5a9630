"""The job of the projection worker: a long run under a lease, which requests the next one."""

from collections.abc import Callable
from typing import Final

import redis

from infra.redis.rq_jobs import PROJECT, PROJECTIONS
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from workers.leased_run import LeasedRun, LeasedWork
from workers.projections.worker import ProjectionWorker
from workers.rq_worker import IDLE_SECONDS, run_endless

__all__ = ["IDLE_SECONDS", "JOB", "project", "run"]

JOB: Final = LeasedJob(
    # a run that takes so long is stuck
    WakeupJob(PROJECTIONS, PROJECT, 600, "update lists, notices and ratings"),
    "project",
    # each renewal is a write, and lists may be late
    15_000,
)

MOST_SECONDS: Final = 300.0
"""How long a run goes on at most: it reads nothing at its beginning that a later one would find changed."""


class _Projecting(LeasedWork):
    """The work of a run: a checkpoint is written together with the tables, so nothing has to be recovered."""

    def __init__(self, worker: ProjectionWorker, run: LeasedRun[str]) -> None:
        self._worker = worker
        self._run = run

    def step(self) -> None:
        """Go on until the run should end."""
        self._worker.run(lambda: not self._run.renew() or self._run.is_over)

    def has_more(self) -> bool:
        """Return that there is always more to come."""
        return True


def project(
    worker: ProjectionWorker, queue: redis.Redis, stopping: Callable[[], bool] = lambda: False
) -> None:
    """Keep the projections up with the logs for a while."""
    run = LeasedRun("project", JOB.leases(queue), JOB.lease, stopping, most=MOST_SECONDS)
    run.run(_Projecting(worker, run))


def run(worker: ProjectionWorker, queue: redis.Redis) -> None:
    """Run the jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """
    run_endless(queue, JOB, lambda stopping: project(worker, queue, stopping), worker.stop)
