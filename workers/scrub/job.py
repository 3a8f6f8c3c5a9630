"""The job of the scrubber: a run of some minutes under its lease, at the pace of its budget.

The job of the scrubber, of which one run goes on for a server, and its requests by the scheduler.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import redis
from msgspec.structs import replace

from infra.process.intervals import Tick, every
from infra.redis.clients import time_ms
from infra.redis.rq_jobs import MAINTENANCE, SCRUB
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.failures import DamagedMatches
from infra.store.port import Store
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from infra.store.scrub_notes import ScrubRecord
from workers.job_report import report
from workers.leased_run import LeasedRun, LeasedWork
from workers.scrub.pages import ArchivePages
from workers.scrub.published import PublishedLeavesCheck
from workers.scrub.scrubber import (
    Budget,
    Scrubber,
    ScrubParts,
    ScrubSection,
    ScrubStoppedError,
    is_due,
    make_parts,
)
from workers.scrub.server import ServerCheck
from workers.scrub.stored_keys import StoredKeys
from workers.scrub.tables import BoardLists, TableCheck

LOOK_SECONDS: Final = 30.0
"""Between two looks whether a round is due, and before the first: a start has other things to do."""

JOB: Final = LeasedJob(
    # a run that takes so long is stuck
    WakeupJob(MAINTENANCE, SCRUB, 900, "check what is stored"),
    "scrub",
    # no step takes longer
    60_000,
)


def scrub_wakeup(data: redis.Redis, queue: redis.Redis) -> Tick:
    """Return what requests a run while a round is under way or due."""
    record = ScrubRecord(data)

    def look() -> None:
        if is_due(record.read(), time_ms(data)):
            JOB.request(queue)

    return every(LOOK_SECONDS, look, first=LOOK_SECONDS)


RUN_SECONDS: Final = 300.0
"""How long a run goes on; it ends within seconds where another job waits for the worker."""

_SLICE_SECONDS: Final = 0.5
"""How often a run that waits looks whether it should end."""


def sections(parts: ScrubParts) -> Sequence[ScrubSection]:
    """Return all sections, in the order of a round."""
    return [
        ServerCheck(parts),
        StoredKeys(parts),
        BoardLists(parts),
        PublishedLeavesCheck(parts),
        ArchivePages(parts),
        TableCheck(parts),
    ]


def make_scrubber(parts: ScrubParts, wait: Callable[[float], None] = time.sleep) -> Scrubber:
    """Return the scrubber of a server."""
    record, damage = ScrubRecord(parts.data), DamagedMatches(parts.data)
    closed = ClosedShards(parts.data)
    is_closed = lambda: bool(closed.read(range(parts.shards)))  # noqa: E731
    now, forget = parts.store.now, parts.forget
    return Scrubber(sections(parts), record, damage, now, wait, is_closed, forget=forget)


class ScrubWork(LeasedWork):
    """The scrubber as the work of a run; `percent` is its share of a core."""

    def __init__(self, parts: ScrubParts, run: LeasedRun[str], percent: int) -> None:
        self._run = run
        self._budget = Budget(percent, self._sleep)
        self._scrubber = make_scrubber(replace(parts, pause=self._pause), self._sleep)
        self.steps = 0

    def step(self) -> int | None:
        """Check a little, and wait as the budget wants it; None if no round is due."""
        try:
            if not self._scrubber.step():
                return None
            self.steps += 1
            self._budget.wait()
        except ScrubStoppedError:
            return 0
        return 1

    def finish(self) -> bytes:
        """Note where it is, and return no mark."""
        self._scrubber.save()
        return b""

    def has_more(self) -> bool:
        """Return whether a round is under way."""
        return self._scrubber.is_due

    def _pause(self, most: float) -> None:
        self._budget.wait(most)

    def _sleep(self, seconds: float) -> None:
        """Wait, and renew the lease meanwhile; `ScrubStoppedError` if the run must end."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_SECONDS))
            if not self._run.renew() or self._run.is_over:
                raise ScrubStoppedError


def run(
    settings: Settings,
    store: Store,
    data: redis.Redis,
    queue: redis.Redis,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Check for some minutes at most, and return the number of steps."""
    if not settings.scrub_percent:
        return 0
    leased = LeasedRun("scrub", JOB.leases(queue), JOB.lease, stopping, most=RUN_SECONDS)
    work = ScrubWork(make_parts(settings, store, data, queue), leased, settings.scrub_percent)
    leased.run(work)
    report(steps=work.steps)
    return work.steps
