"""`matchpost worker` and `matchpost side`, which `matchpost serve` starts; `matchpost maintenance`."""

import logging
import os

from infra.durability_watch import DurabilityWatch
from infra.heartbeats import Role
from infra.liveness import LIVENESS
from infra.rq_jobs import CHECK, MAINTENANCE, REBUILD
from infra.settings import Settings
from services import jobs
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_UNKNOWN
from services.cli import errors
from services.heartbeating import heartbeating
from services.serve.logging import log_to_stderr
from workers.commands import worker as command_worker
from workers.projections import job as projection_job
from workers.projections.worker import ProjectionWorker
from workers.rq_worker import IDLE_SECONDS, ForkingWorker

logger = logging.getLogger(__name__)

SIDE_NICENESS = 5
"""The projection worker's nice value: deciding moves comes first."""


def run(settings: Settings, name: str, role: str) -> int:
    """Decide commands, feed projections (`side`) or run maintenance jobs until a stop signal.

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
    if role == "maintenance":
        with App(settings, listening=IDLE_SECONDS) as parts:
            parts.store.layout()
            listed = {REBUILD: jobs.rebuild, CHECK: jobs.check}
            ForkingWorker(parts.queue, MAINTENANCE, listed).work(logging_level="WARNING")
        return
    if role == "side":
        os.nice(SIDE_NICENESS)
        with (
            App(settings, listening=IDLE_SECONDS) as parts,
            heartbeating(settings, Role.PROJECTIONS),
        ):
            parts.store.layout()
            projection_job.run(ProjectionWorker(parts.store, parts.data), parts.queue)
        return
    with App(settings, listening=IDLE_SECONDS) as parts:
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
            job = command_worker.DrainJob(
                *(parts.store, parts.lanes, parts.data, parts.queue, parts.seeds),
                durability=durability,
            )
            command_worker.run(job, parts.queue)
