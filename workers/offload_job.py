"""The job that moves rows of finished matches to row pages, and its hourly request by the scheduler."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import redis

from infra.archive.store import boards_in_archive
from infra.objects.location import open_objects
from infra.projections.generations import Generations
from infra.projections.paged_projections import PAGED
from infra.projections.row_pages import MOST_ROWS
from infra.rq_jobs import MAINTENANCE, OFFLOAD
from infra.settings import Settings
from infra.store.leases import Leases
from infra.store.port import Store
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from workers.job_report import report
from workers.leased_run import LeasedRun
from workers.projections.offload import RowOffload

LEASE: Final = "offload"
"""The name of the lease: one run at a time."""

LEASE_MS: Final = 60_000
"""How long a lease lasts: a step, which writes one page, must not take longer."""

HOUR_SECONDS: Final = 3_600.0
"""Between two requests."""

RUN_SECONDS: Final = 240.0
"""How long a run goes on, because the next one looks at all lists again."""

JOB: Final = WakeupJob(MAINTENANCE, OFFLOAD, 600, "move rows of finished matches to pages")
"""A run that takes so long is stuck."""


def offload_leases(queue: redis.Redis) -> Leases[str]:
    """Return the leases of which a run has one; `queue` is a client of RQ's Redis."""
    return LeasedJob(JOB, LEASE, LEASE_MS).leases(queue)


class OffloadWakeup:
    """Requests a run once an hour, if a list may be long enough; call `tick` once a second."""

    def __init__(self, data: redis.Redis, queue: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._data: Any = data
        self._queue = queue
        self._due = 0.0

    def tick(self) -> None:
        """Request it once an hour."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + HOUR_SECONDS
            if self._has_many_rows():
                offload_leases(self._queue).request(LEASE)

    def _has_many_rows(self) -> bool:
        """Return whether there are as many rows as a list must have that is too long."""
        for kind in PAGED:
            live = Generations(self._data, kind.spec).live()
            buckets = live[1].all if live else []
            if sum(self._data.hlen(bucket.key(kind.rows)) for bucket in buckets) > MOST_ROWS:
                return True
        return False


class _OffloadRun:
    """The work of a run."""

    def __init__(self, work: RowOffload) -> None:
        self._work = work
        self._is_done = False

    def recover(self, mark: bytes) -> None:
        """Do nothing, because what a killed run left is found again."""

    def step(self) -> int | None:
        """Write one page, or do the rest; None at the end."""
        done = self._work.step()
        self._is_done = done is None
        return done

    def finish(self) -> bytes:
        """Return no mark."""
        return b""

    def has_more(self) -> bool:
        """Return whether the run ended before all lists were looked at."""
        return not self._is_done


def run(
    settings: Settings,
    store: Store,
    data: redis.Redis,
    queue: redis.Redis,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Move the rows of lists that are too long, for some minutes at most; return their number.

    `ObjectStoreError` if the object store can't be used.
    """
    in_archive = partial(boards_in_archive, data, store.layout().shards)
    work = RowOffload(store, data, open_objects(settings.store, settings.data), in_archive)
    leased = LeasedRun("offload", offload_leases(queue), LEASE, stopping, most=RUN_SECONDS)
    leased.run(_OffloadRun(work))
    report(rows=work.rows)
    return work.rows
