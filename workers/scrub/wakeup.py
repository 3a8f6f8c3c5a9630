"""The job of the scrubber, of which one run goes on for a server, and its requests by the scheduler."""

from typing import Final

import redis

from infra.process.intervals import Tick, every
from infra.redis.clients import time_ms
from infra.redis.rq_jobs import MAINTENANCE, SCRUB
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from infra.store.scrub_notes import ScrubRecord
from workers.scrub.scrubber import is_due

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
