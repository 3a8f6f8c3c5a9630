"""The leases of the scrubber, of which one runs for a server, and its requests by the scheduler."""

import time
from typing import Final

import redis

from infra.redis.clients import time_ms
from infra.rq_jobs import MAINTENANCE, SCRUB
from infra.store.leases import Leases
from infra.store.rq_wakeup import WakeupJob, job_leases
from infra.store.scrub_notes import ScrubRecord
from workers.scrub.scrubber import is_due

LEASE: Final = "scrub"
"""The name of the lease."""

LEASE_MS: Final = 60_000
"""How long it lasts: no step takes longer."""

LOOK_SECONDS: Final = 30.0
"""Between two looks whether a round is due, and before the first: a start has other things to do."""

JOB: Final = WakeupJob(MAINTENANCE, SCRUB, 900, "check what is stored")
"""A run that takes so long is stuck."""


def scrub_leases(queue: redis.Redis) -> Leases[str]:
    """Return the leases of which a run has one; `queue` is a client of RQ's Redis."""
    return job_leases(queue, JOB, LEASE_MS)


class ScrubWakeup:
    """Requests a run while a round is under way or due; call `tick` once a second."""

    def __init__(self, data: redis.Redis, queue: redis.Redis) -> None:
        self._data = data
        self._record = ScrubRecord(data)
        self._leases = scrub_leases(queue)
        self._due = time.monotonic() + LOOK_SECONDS

    def tick(self) -> None:
        """Look, if it is time."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_SECONDS
        if is_due(self._record.read(), time_ms(self._data)):
            self._leases.request(LEASE)
