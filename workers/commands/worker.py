"""A command worker: one process that runs drains until it is asked to stop."""

import gc
from collections.abc import Callable
from typing import Final

import redis

from domain.aggregates import Decider
from domain.match.decide import decide
from infra.durability.durability_watch import DurabilityWatch
from infra.redis.keys import Lane
from infra.redis.rq_jobs import COMMANDS, DRAIN
from infra.store.job_notes import note_turn
from infra.store.leases import LaneLeases
from infra.store.log_gate import LogGate
from infra.store.port import Store
from infra.store.seed_chains import SeedChains
from workers.commands import decision_limits
from workers.commands.drain import Drain
from workers.job_report import report
from workers.leased_run import LINGER_SECONDS
from workers.rq_worker import IDLE_SECONDS, ListedWorker

__all__ = ["IDLE_SECONDS", "DrainJob", "run"]

_NEW_OBJECTS: Final = 50_000
"""New objects after which the garbage collector looks for cycles; a batch leaves few, and makes many objects."""


class DrainJob:
    """The job that drains a lane, with what each of its runs needs."""

    def __init__(  # noqa: PLR0913 - one for each dependency
        self,
        store: Store,
        lanes: LaneLeases,
        data: redis.Redis,
        queue: redis.Redis,
        seeds: SeedChains,
        decider: Decider = decide,
        *,
        durability: DurabilityWatch | None = None,
        gate: LogGate | None = None,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._data = data
        self._queue = queue
        self._seeds = seeds
        self._decider = decider
        self._durability = durability
        self._gate = gate

    def run(self, lane: Lane, stopping: Callable[[], bool] = lambda: False) -> None:
        """Drain a lane, and report in the job that runs what was done."""
        drain = Drain(
            self._store,
            self._lanes,
            self._queue,
            lane,
            stopping,
            self._decider,
            seeds=self._seeds,
            data=self._data,
            linger=LINGER_SECONDS,
            durability=self._durability,
            gate=self._gate,
        )
        if outcomes := drain.run():
            seconds = round(drain.seconds, 3)
            note_turn(self._queue, lane, outcomes=outcomes, batches=drain.batches, seconds=seconds)
            report(lane=str(lane), outcomes=outcomes, batches=drain.batches, seconds=seconds)


def run(job: DrainJob, queue: redis.Redis) -> None:
    """Run until SIGTERM or SIGINT, and finish the batch under way; or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """

    def drain(number: int, of: int) -> None:
        job.run(Lane(number, of), lambda: worker.stopping)

    worker = ListedWorker(queue, COMMANDS, {DRAIN: drain})
    decision_limits.install()
    # what is loaded now stays; without this each collection would look at all of it again
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    worker.work(logging_level="WARNING")
