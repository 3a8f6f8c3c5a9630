"""The wake-up that starts a drain. The scheduler's sweep repeats one that is lost."""

from typing import Final

import redis

from infra.redis.keys import Lane
from infra.rq_jobs import COMMANDS, DRAIN, WakeupJob, enqueue_wakeup

JOB_SECONDS: Final = 120
"""A drain ends within half a minute; one that takes this long is stuck."""


def enqueue_drain(client: redis.Redis, lane: Lane) -> None:
    """Enqueue the job that drains a lane."""
    enqueue_wakeup(client, WakeupJob(COMMANDS, DRAIN, JOB_SECONDS, f"drain lane {lane}", lane))
