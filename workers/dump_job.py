"""The job that writes the dump of finished matches, and its daily request by the scheduler.

It needs no lease: of two runs at a time one fails to replace the index, and both write the same files.
"""

import logging
from collections.abc import Callable
from typing import Final, Protocol

import redis

from domain.clocks.time_control import DAY
from domain.errors import Refusal
from infra.objects.port import ObjectStoreError
from infra.process.intervals import Tick, every
from infra.redis.rq_jobs import DUMP, MAINTENANCE
from infra.store.rq_wakeup import WakeupJob, enqueue_wakeup
from workers.job_report import report

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 60.0
AGAIN_SECONDS: Final = 3_600.0
"""Between two requests on a day, because a run may have been killed, or the object store away."""

_HOUR: Final = 3_600_000

JOB: Final = WakeupJob(MAINTENANCE, DUMP, 6 * 3_600, "write the dump of finished matches")
"""A run that takes so long is stuck."""


class MadeDump(Protocol):
    """A dump that was made."""

    @property
    def until(self) -> int:
        """It has the matches that ended before this time, ms."""


def dump_wakeup(queue: redis.Redis, now: Callable[[], int], hour: int) -> Tick:
    """Return a tick that requests the job each day from an hour on, in UTC, and each hour after that.

    A run for which nothing is left to do reads one object.
    """

    def look() -> float:
        if now() % DAY < hour * _HOUR:
            return LOOK_SECONDS
        enqueue_wakeup(queue, JOB)
        return AGAIN_SECONDS

    return every(LOOK_SECONDS, look)


def run(read: Callable[[], MadeDump], make: Callable[[], MadeDump], now: Callable[[], int]) -> bool:
    """Make the dump unless today's is there; return whether it is there. What hinders it is logged."""
    try:
        if read().until == now() // DAY * DAY:
            return True
        make()
    except (ObjectStoreError, Refusal) as error:
        logger.error("ALARM: the dump of finished matches can't be written: %s", error)  # noqa: TRY400
        return False
    report(dumped=1)
    return True
