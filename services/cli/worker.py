"""The work of the roles that take jobs of RQ: `worker`, `side`, `maintenance` and `robots`.

Each imports only what it needs: every process of a server pays for it at its start.
"""

import logging
import os

from infra.process.role_thread import this_role_thread
from infra.redis.clients import make_client
from infra.redis.rq_jobs import (
    ANALYSE,
    ANALYSIS,
    CHECK,
    DUMP,
    FREEZE,
    MAINTENANCE,
    REBUILD,
    RETIRE,
    ROBOT_MOVE,
    ROBOTS,
    SCRUB,
    queue_key,
)
from infra.valkey.server import queue_url, socket_url
from services.cli.roles import RoleProcess
from workers.rq_worker import IDLE_SECONDS, ForkingWorker

logger = logging.getLogger(__name__)

SIDE_NICENESS = 5
"""The projection worker's nice value: deciding moves comes first."""


SCRUB_NICENESS = 10
"""The scrubber's: everything else comes first."""

ROBOT_NICENESS = 19
"""That of robots, whose search takes all the time it gets."""

REST_SECONDS = 60
"""After so long without work the process of robots ends, where a thread starts it again; a player may think until then."""


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


def play(process: RoleProcess, *, rest_after: int | None = None) -> None:
    """Move for robots, and analyse matches, until a stop signal or so many seconds without work.

    A thread that has this role has a process do it, while there is work.
    """
    if this_role_thread() is not None:
        _have_played(process)
        return
    from infra.log.key_files import keys_folder  # noqa: PLC0415 - cryptography is slow to import
    from infra.people.account_macs import AccountMacs  # noqa: PLC0415
    from infra.people.accounts import create_robot_accounts  # noqa: PLC0415
    from infra.store.analyses import AnalysisJobs, another_turn  # noqa: PLC0415
    from services.app import matches  # noqa: PLC0415
    from services.app.context import App  # noqa: PLC0415
    from services.app.robots import RobotGroup  # noqa: PLC0415
    from workers.rq_worker import Jobs, ListedWorker  # noqa: PLC0415

    os.nice(ROBOT_NICENESS)

    def move(board: int, seq: int) -> bool:
        del seq  # the match is read again
        return group.answer(board)

    def between_jobs() -> None:
        group.send_if_due()
        jobs.requeue_killed()

    def analyse(board: int) -> object:
        group.send()  # nothing waits for an analysis
        whole = matches.analyse(parts, board, lambda: worker.stopping)
        return None if whole else another_turn()

    with (
        process.metrics(),
        App(process.settings, listening=IDLE_SECONDS) as parts,
        process.beating(),
    ):
        process.check(parts.data)
        create_robot_accounts(parts.people, AccountMacs(keys_folder(process.settings)))
        group = RobotGroup(parts, lambda: not parts.queue.llen(queue_key(ROBOTS)))
        listed: Jobs = {ROBOT_MOVE: move, ANALYSE: analyse}
        worker = ListedWorker(parts.queue, ROBOTS, listed, ANALYSIS)
        jobs = AnalysisJobs(parts.queue)
        worker.between_jobs = between_jobs
        worker.work(logging_level="WARNING", max_idle_time=rest_after)
        group.send()


def _have_played(process: RoleProcess) -> None:
    """Watch the queues of robots and analyses, and start a process where a job waits in one."""
    from infra.objects.location import is_local  # noqa: PLC0415
    from infra.store.analyses import AnalysisJobs  # noqa: PLC0415
    from services.serve.forked import fork_command  # noqa: PLC0415
    from services.serve.on_demand import ChildOnDemand  # noqa: PLC0415
    from services.serve.processes import role_child  # noqa: PLC0415
    from workers.rq_worker import CallingWorker  # noqa: PLC0415

    settings = process.settings
    place = settings.redis_url or socket_url(settings.data)
    with make_client(place) as data:
        process.check(data)
    child = role_child(
        process.role, settings, place, name=process.name, flags=["--rest-after", f"{REST_SECONDS}"]
    )
    if is_local(settings.store):
        child.launch = fork_command
    with (
        make_client(queue_url(settings), blocking_timeout=IDLE_SECONDS) as queue,
        process.beating(),
        ChildOnDemand(child) as other,
    ):
        worker = CallingWorker(queue, other.start, other.goes_on, ROBOTS, ANALYSIS)
        worker.between_jobs = AnalysisJobs(queue).requeue_killed
        worker.work(logging_level="WARNING")


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
