"""The composition of a worker, one of the processes that `matchpost serve` starts."""

import logging
import os
import signal
from collections.abc import Callable
from threading import Event

from infra.heartbeats import Role
from infra.liveness import HEART
from infra.settings import Settings
from services.beating import beating
from services.cli import failures
from services.compose import Composition
from services.problems import FINE, UNKNOWN
from services.serve.logs import log_to_stderr
from workers.commands import worker as command_worker
from workers.projections.worker import ProjectionWorker

logger = logging.getLogger(__name__)

SIDE_NICENESS = 5
"""How far the side worker stands back: moves come first."""


def run(settings: Settings, name: str, role: str) -> int:
    """Decide commands (`worker`) or feed projections (`side`) until told to stop.

    Gives the exit code. What ends it otherwise, such as a server that went away, is a line in the
    log like all others.
    """
    log_to_stderr(name)
    HEART.watch()
    try:
        _run(settings, role)
    except Exception as error:
        debug = bool(os.environ.get("MATCHPOST_DEBUG"))
        said = failures.line(error)
        logger.exception(said, exc_info=debug)
        return UNKNOWN
    return FINE


def _run(settings: Settings, role: str) -> None:
    if role == "side":
        stopping = _told_to_stop()
        os.nice(SIDE_NICENESS)
        with Composition(settings) as parts, beating(settings, Role.PROJECTIONS):
            parts.store.shape()
            ProjectionWorker(parts.store, parts.data).run(stopping)
        return
    with Composition(settings, listening=command_worker.IDLE_SECONDS) as parts:
        parts.store.shape()
        with beating(settings, Role.WORKER, lost=parts.seeds.lost):
            command_worker.run(parts.store, parts.lanes, parts.data, parts.queue, parts.seeds)


def _told_to_stop() -> Callable[[], bool]:
    """Return a function that tells whether SIGTERM or SIGINT has come."""
    told = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    return told.is_set
