"""A command worker: one process that runs drains until it is asked to stop."""

import redis

from domain.match.decide import decide
from infra.durability_watch import DurabilityWatch
from infra.seed_chains import SeedChains
from infra.store.leases import LaneLeases
from infra.store.port import Store
from infra.store.rq_wakeup import COMMANDS, DRAIN
from workers.commands import limits
from workers.commands.drain import Drain
from workers.commands.handle import Decider
from workers.commands.rq_worker import IDLE_SECONDS, ListedWorker

__all__ = ["IDLE_SECONDS", "run"]


def run(
    store: Store,
    lanes: LaneLeases,
    data: redis.Redis,
    queue: redis.Redis,
    seeds: SeedChains,
    decider: Decider = decide,
    *,
    durability: DurabilityWatch | None = None,
) -> None:
    """Run until SIGTERM or SIGINT, and finish the batch under way; or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    `decider` is for tests.
    """

    def drain(lane: int) -> None:
        Drain(
            store,
            lanes,
            data,
            lane,
            lambda: worker.stopping,
            decider,
            seeds=seeds,
            durability=durability,
        ).run()

    worker = ListedWorker(queue, COMMANDS, {DRAIN: drain})
    limits.install()
    worker.work(logging_level="WARNING")
