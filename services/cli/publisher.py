"""`matchpost publisher`: the process that publishes the logs."""

import os
from contextlib import ExitStack
from typing import Final

from infra.objects.port import ObjectStoreError
from infra.redis.clients import make_client
from infra.valkey.server import queue_url, socket_url
from services.cli.roles import RoleProcess
from workers.log import job
from workers.log.witnessing import WitnessThread
from workers.rq_worker import IDLE_SECONDS

_NICENESS: Final = 5
"""Its nice value: deciding moves comes first."""


def publish(process: RoleProcess) -> None:
    """Publish until a stop signal."""
    settings = process.settings
    with ExitStack() as stack:
        stack.enter_context(process.metrics())
        if not settings.durability.durable:
            raise ObjectStoreError(
                "with durability none a crash may take moves back, so nothing is published"
            )
        os.nice(_NICENESS)
        url = settings.redis_url or socket_url(settings.data)
        data = stack.enter_context(make_client(url))
        queue = stack.enter_context(make_client(queue_url(settings), blocking_timeout=IDLE_SECONDS))
        process.check(data)
        publisher = job.make_publisher(settings, data, queue)
        stack.enter_context(process.beating())
        witnesses = WitnessThread(job.make_witnessing(settings, data))
        witnesses.start()
        stack.callback(witnesses.stop)
        job.run(publisher, queue)
