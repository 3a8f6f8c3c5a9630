"""The job that retires the matches of a shard, and its hourly request by the scheduler."""

from collections.abc import Callable
from typing import Final

import redis

from domain.clocks.calendar import DAY
from infra.health.retirement_limits import retirement_limits
from infra.process.intervals import every
from infra.redis.rq_jobs import MAINTENANCE, RETIRE
from infra.settings.settings import Settings
from infra.store.last_runs import note_retire_run
from infra.store.port import Store
from infra.store.published_sizes import read_published_sizes
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from workers.archived_rows import ArchivedRows, has_leftovers
from workers.job_report import report
from workers.leased_run import LeasedRun
from workers.retire import Retirement

LEASE_MS: Final = 60_000
"""How long a lease lasts: a step, which writes one page, must not take longer."""

HOUR_SECONDS: Final = 3_600.0
"""Between two requests."""

MINUTE_SECONDS: Final = 60.0
"""The same while the log of a match that is due is not published yet."""

JOB_SECONDS: Final = 600
"""A run that takes so long is stuck."""


def retire_job(shard: int) -> LeasedJob:
    """Return the job that retires matches of a shard."""
    about = f"retire matches of shard {shard}"
    job = WakeupJob(MAINTENANCE, RETIRE, JOB_SECONDS, about, [shard])
    return LeasedJob(job, f"retire/{shard}", LEASE_MS)


class RetireWakeup:
    """Requests the retirement of shards in which it is due; call `tick` once a second.

    A match is due so many days after its end, where its shard's log is published. If rows are left of matches that
    are in the archive, one of the runs takes them out.
    """

    def __init__(self, store: Store, data: redis.Redis, queue: redis.Redis, days: int) -> None:
        self._store = store
        self._data = data
        self._queue = queue
        self._after_ms = days * DAY
        self.tick = every(HOUR_SECONDS, self._look)

    def _look(self) -> float:
        """Request what is due; return when to look again: sooner while the log of a match is not published yet."""
        again = HOUR_SECONDS
        until = self._store.now() - self._after_ms
        shards = self._store.layout().shards
        if has_leftovers(self._data, shards):
            retire_job(0).request(self._queue)
        published = read_published_sizes(self._data, shards)
        for shard, record in enumerate(published):
            if not self._store.ended_boards(shard, until, 1):
                continue
            if record.size:
                retire_job(shard).request(self._queue)
            else:
                again = MINUTE_SECONDS
        return again


def run(
    settings: Settings,
    store: Store,
    data: redis.Redis,
    queue: redis.Redis,
    shard: int,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Retire the matches of a shard that are due, for half a minute at most; return their number.

    `ObjectStoreError` if the archive can't be used.
    """
    shards = store.layout().shards
    mail = settings.relay is not None
    from infra.archive.objects import open_archive  # noqa: PLC0415 - the scheduler does not need it

    pages, log = open_archive(settings)
    work = Retirement(
        store,
        pages,
        log,
        shard,
        limit=lambda: retirement_limits(data, shards, mail=mail)[shard],
        after_ms=settings.archive_after * DAY,
        rows=ArchivedRows(data, shards),
    )
    job = retire_job(shard)
    leased = LeasedRun("retire", job.leases(queue), job.lease, stopping)
    leased.run(work)
    kept = len(work.kept)
    if work.retired or kept:
        note_retire_run(queue, shard, retired=work.retired, kept=kept, seconds=leased.seconds)
    report(shard=shard, retired=work.retired, kept=kept)
    return work.retired
