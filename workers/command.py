"""A command worker: one process that runs drains until it is told to stop."""

import redis

from infra.lanes import Lanes
from infra.queue import COMMANDS, DRAIN
from infra.store.port import Store
from workers import guard
from workers.drain import Drain
from workers.engine import IDLE_SECONDS, ListedWorker

__all__ = ["IDLE_SECONDS", "run"]


def run(store: Store, lanes: Lanes, data: redis.Redis, queue: redis.Redis) -> None:
    """Run until SIGTERM or SIGINT, finishing the batch in hand, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer: the worker listens with a blocking command.
    """

    def drain(lane: int) -> None:
        Drain(store, lanes, data, lane, stopping=lambda: worker.stopping).run()

    worker = ListedWorker(queue, COMMANDS, {DRAIN: drain})
    guard.install()
    worker.work(logging_level="WARNING")
