"""The work of the roles that take jobs of RQ: `worker`, `side` and `maintenance`; `robots.py` has that of robots.

Each imports only what it needs: every process of a server pays for it at its start.
"""

import logging
import os

from infra.redis.clients import make_client
from infra.redis.rq_jobs import CHECK, DUMP, FREEZE, MAINTENANCE, REBUILD, RETIRE, SCRUB
from infra.valkey.server import queue_url, socket_url
from services.cli.roles import RoleProcess
from workers.rq_worker import IDLE_SECONDS, ForkingWorker

logger = logging.getLogger(__name__)

SIDE_NICENESS = 5
"""The projection worker's nice value: deciding moves comes first."""

SCRUB_NICENESS = 10
"""The scrubber's: everything else comes first."""


def maintain(process: RoleProcess) -> None:
    """Run maintenance jobs: each is a process of its own, so that figures of this one would show nothing."""
    settings = process.settings
    with make_client(settings.redis_url or socket_url(settings.data)) as data:
        process.check(data)
    with (
        make_client(queue_url(settings), blocking_timeout=IDLE_SECONDS) as queue,
        process.beating(),
    ):
        worker = ForkingWorker(
            queue,
            MAINTENANCE,
            {
                REBUILD: _rebuild,
                CHECK: _check,
                RETIRE: _retire,
                FREEZE: _freeze,
                SCRUB: _scrub,
                DUMP: _dump,
            },
        )
        worker.work(logging_level="WARNING")


def _rebuild(*names: str, buckets: int | None = None, processes: int | None = None) -> int:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    return jobs.rebuild(*names, buckets=buckets, processes=processes)


def _check(*names: str) -> int:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    return jobs.check(*names)


def _retire(shard: int) -> None:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    jobs.retire(shard)


def _freeze() -> None:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    jobs.freeze()


def _scrub() -> None:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    os.nice(SCRUB_NICENESS)
    jobs.scrub()


def _dump() -> None:
    from services import jobs  # noqa: PLC0415 - in the process of the job

    os.nice(SCRUB_NICENESS)
    jobs.dump()


def project(process: RoleProcess) -> None:
    """Feed projections."""
    from services.app.context import App  # noqa: PLC0415
    from workers.projections import job  # noqa: PLC0415
    from workers.projections.worker import ProjectionWorker  # noqa: PLC0415

    os.nice(SIDE_NICENESS)
    with (
        process.metrics(),
        App(process.settings, listening=IDLE_SECONDS) as parts,
        process.beating(),
    ):
        process.check(parts.data)
        worker = ProjectionWorker(parts.store, parts.data, queue=parts.queue)
        job.run(worker, parts.queue)


def decide(process: RoleProcess) -> None:
    """Decide commands."""
    from services.app.context import App  # noqa: PLC0415
    from workers.commands import worker  # noqa: PLC0415

    with process.metrics(), App(process.settings, listening=IDLE_SECONDS) as parts:
        durability = parts.durability_watch()
        durability.verify_connections()
        process.check(parts.data)
        if lost := parts.seeds.lost_shards():
            logger.error(
                "ALARM: the seeds of shards %s are not here, so this worker leaves draws to others; use "
                "the same folder on all machines, see MATCHPOST_SEEDS, or restore it",
                ", ".join(map(str, lost)),
            )
        with process.beating(lost=parts.seeds.lost_shards):
            job = worker.DrainJob(
                *(parts.store, parts.lanes, parts.data, parts.queue, parts.seeds),
                durability=durability,
                gate=parts.gate,
            )
            worker.run(job, parts.queue)
