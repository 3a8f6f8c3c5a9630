"""`matchpost worker` and `matchpost side`: worker processes that `matchpost serve` starts."""

import logging
import os
import signal
from collections.abc import Callable
from threading import Event

from infra.durability_watch import DurabilityWatch
from infra.heartbeats import Role
from infra.liveness import LIVENESS
from infra.settings import Settings
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN
from services.cli import errors
from services.heartbeating import heartbeating
from services.serve.logging import log_to_stderr
from workers.commands import worker as command_worker
from workers.projections.worker import ProjectionWorker

logger = logging.getLogger(__name__)

SIDE_NICENESS = 5
"""The projection worker's nice value: deciding moves comes first."""


def run(settings: Settings, name: str, role: str) -> int:
    """Decide commands (`worker`) or feed projections (`side`) until a stop signal.

    Return the exit code. An error that ends it, such as a lost server, is logged as one line.
    """
    log_to_stderr(name)
    LIVENESS.watch()
    try:
        _run(settings, role)
    except Exception as error:
        debug = bool(os.environ.get("MATCHPOST_DEBUG"))
        said = errors.describe(error)
        logger.exception(said, exc_info=debug)
        return EXIT_UNKNOWN
    return EXIT_OK


def _run(settings: Settings, role: str) -> None:
    if role == "side":
        stopping = _catch_stop_signals()
        os.nice(SIDE_NICENESS)
        with App(settings) as parts, heartbeating(settings, Role.PROJECTIONS):
            parts.store.layout()
            ProjectionWorker(parts.store, parts.data).run(stopping)
        return
    with App(settings, listening=command_worker.IDLE_SECONDS) as parts:
        durability = DurabilityWatch(parts.data, parts.queue, settings.durability)
        durability.verify_connections()
        parts.store.layout()
        if lost := parts.seeds.lost_shards():
            logger.error(
                "ALARM: the seeds of shards %s are not here, so this worker leaves draws to others; use "
                "the same folder on all machines, see MATCHPOST_SEEDS, or restore it",
                ", ".join(map(str, lost)),
            )
        with heartbeating(settings, Role.WORKER, lost=parts.seeds.lost_shards):
            command_worker.run(
                *(parts.store, parts.lanes, parts.data, parts.queue, parts.seeds),
                durability=durability,
            )


def _catch_stop_signals() -> Callable[[], bool]:
    """Catch SIGTERM and SIGINT; return a function that is true once one has arrived."""
    told = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    return told.is_set
