"""Processes that analyse matches: one that only listens, and one that does the jobs that wait."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from infra.redis.clients import make_client
from infra.redis.rq_jobs import ANALYSE, ANALYSIS
from infra.store.analyses import another_turn
from services.app.context import App
from services.app.matches import analyse
from workers.rq_worker import ListedWorker


@contextmanager
def listening(parts: App) -> Iterator[None]:
    """A process is known that would analyse, and does nothing."""
    with make_client(parts.queue_url) as client:
        worker = ListedWorker(client, ANALYSIS, {})
        worker.register_birth()
        try:
            yield
        finally:
            worker.register_death()


def do_jobs(parts: App, stopping: Callable[[], bool] = lambda: False, most: int = 1_000) -> None:
    """Do the jobs that wait, or so many turns of them."""

    def job(board: int) -> object:
        return None if analyse(parts, board, stopping) else another_turn()

    with make_client(parts.queue_url, blocking_timeout=5) as client:
        worker = ListedWorker(client, ANALYSIS, {ANALYSE: job})
        worker.work(burst=True, logging_level="CRITICAL", max_jobs=most)
