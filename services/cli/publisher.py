"""`matchpost publisher`: the process that publishes the logs."""

import os
from contextlib import ExitStack
from typing import Final

from infra.health.heartbeats import Role
from infra.objects.port import ObjectStoreError
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.layout import read_layout
from infra.valkey.queue_server import queue_url
from infra.valkey.server import socket_url
from services.cli.errors import run_role
from services.heartbeating import heartbeating
from services.metrics.endpoint import serving_role_metrics
from services.secret_checks import check_secrets
from services.serve.liveness import report_liveness
from services.serve.logging import log_to_stderr
from workers.log import job
from workers.log.witnessing import WitnessThread
from workers.rq_worker import IDLE_SECONDS

_NICENESS: Final = 5
"""Its nice value: deciding moves comes first."""


def run(settings: Settings, name: str) -> int:
    """Publish until a stop signal, and return the exit code."""
    log_to_stderr(name, settings)
    report_liveness(settings, Role.PUBLISHER)
    with serving_role_metrics(settings, Role.PUBLISHER, name):
        return run_role(lambda: _publish(settings))


def _publish(settings: Settings) -> None:
    if not settings.durability.durable:
        raise ObjectStoreError(
            "with durability none a crash may take moves back, so nothing is published"
        )
    os.nice(_NICENESS)
    with ExitStack() as stack:
        url = settings.redis_url or socket_url(settings.data)
        data = stack.enter_context(make_client(url))
        queue = stack.enter_context(make_client(queue_url(settings), blocking_timeout=IDLE_SECONDS))
        read_layout(data)
        check_secrets(settings, data, Role.PUBLISHER)
        publisher = job.make_publisher(settings, data, queue)
        stack.enter_context(heartbeating(settings, Role.PUBLISHER))
        witnesses = WitnessThread(job.make_witnessing(settings, data))
        witnesses.start()
        stack.callback(witnesses.stop)
        job.run(publisher, queue)
