"""The RQ job that starts a drain: JSON arguments, ids only, no result kept.

A job is a wake-up and carries no data: the commands wait in the inboxes, and the scheduler's sweep
repeats a job that is lost.
"""

from typing import Final
from uuid import uuid4

import redis
from rq import Queue
from rq.serializers import JSONSerializer

from infra.redis.keys import Lane

COMMANDS: Final = "commands"
"""The queue the command workers listen on."""

DRAIN: Final = "drain"
"""The job that drains a lane; its arguments are the lane's number and the count of lanes."""

JOB_SECONDS: Final = 60
"""A drain ends after a few seconds; one that takes this long is stuck."""

FAILURE_SECONDS: Final = 3600


def enqueue_drain(client: redis.Redis, lane: Lane) -> None:
    """Enqueue the job that drains a lane."""
    queue = Queue(COMMANDS, connection=client, serializer=JSONSerializer)
    queue.enqueue_call(
        DRAIN,
        args=tuple(lane),
        job_id=f"drain-{lane.number}-of-{lane.of}-{uuid4().hex}",
        timeout=JOB_SECONDS,
        result_ttl=0,
        failure_ttl=FAILURE_SECONDS,
        description=f"drain lane {lane}",
    )
