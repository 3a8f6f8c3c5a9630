"""The work of the role `robots`: moves of robots, and analyses of matches, each a job of RQ.

A process that only watches for jobs imports no more than that needs.
"""

import os

from infra.process.role_thread import this_role_thread
from infra.redis.clients import make_client
from infra.redis.rq_jobs import ANALYSE, ANALYSIS, ROBOT_MOVE, ROBOTS, queue_key
from infra.valkey.server import queue_url, socket_url
from services.cli.roles import RoleProcess
from workers.rq_worker import IDLE_SECONDS

NICENESS = 19
"""The nice value of robots, whose search takes all the time it gets."""

REST_SECONDS = 60
"""After so long without work the process of robots ends, where a thread starts it again; a player may think until then."""


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

    os.nice(NICENESS)

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
