"""`matchpost scheduler`: the process that sends what is due by the clocks, and repeats lost jobs."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from infra.health.heartbeats import EVERY_SECONDS, Heartbeat, Role
from infra.process.intervals import every, seldom_if_quiet
from infra.process.liveness import LIVENESS
from infra.store.draw_texts import DrawTexts
from infra.store.rq_wakeup import request_jobs
from infra.store.server_clock import ServerClockRecord
from infra.store.store_calls import repair_due
from services import __version__
from services.app.context import App
from services.cli.roles import RoleProcess
from services.jobs import mailer_wakeup
from services.metrics.collector import server_figures
from services.serve.signals import Tick, call_all
from workers.challenge_starter import ChallengeStarter
from workers.clock_check import ClockCheck
from workers.dump_job import dump_wakeup
from workers.evidence_job import EvidenceWakeup
from workers.leased_run import REQUEST_SECONDS
from workers.log import job as log_job
from workers.log.restore import LossCheck
from workers.projections import job as projections_job
from workers.retire import RetireWakeup
from workers.robot_wakeup import RobotWakeup
from workers.scheduler import REST_SECONDS, Scheduler
from workers.scrub.job import scrub_wakeup
from workers.tournament_manager import TournamentManager

TICK_SECONDS: Final = 1.0

QUIET_SECONDS: Final = 20.0
"""Between two looks for what follows from commits, while there is none."""


def tick(process: RoleProcess) -> None:
    """Tick once a second until a stop signal.

    Several schedulers do no harm: whatever they send takes effect once.
    """
    stopping = process.stopping()
    with App(process.settings) as parts, server_figures(parts), process.metrics():
        process.check(parts.data)
        _tick_until(parts, stopping)


def _tick_until(parts: App, stopping: Event) -> None:
    heartbeat = Heartbeat(Role.SCHEDULER, __version__)
    check = ClockCheck(ServerClockRecord(parts.data))
    ticking = Tick(partial(call_all, make_ticks(parts, heartbeat, check)), TICK_SECONDS)
    while not stopping.is_set():
        ticking.call_if_due()
        LIVENESS.step()
        LIVENESS.serving()
        stopping.wait(min(TICK_SECONDS, max(0.0, ticking.due - time.monotonic())))
    # a server that is gone is reported by others
    for end in (check.close, partial(heartbeat.remove, parts.queue)):
        with suppress(RedisError):
            end()


def make_ticks(parts: App, heartbeat: Heartbeat, check: ClockCheck) -> list[Callable[[], None]]:
    """Return all that a tick does, in order."""
    data, store, lanes, hour = parts.data, parts.store, parts.lanes, parts.settings.dump_hour
    repair = partial(repair_due, data, store.shards)
    endless = [
        projections_job.JOB,
        *([log_job.JOB] if parts.settings.durability.durable else []),
    ]
    scheduler = Scheduler(store, lanes, clock_check=check, repair=repair)

    # cases and tournaments follow from commits, and from none of moves; what is to be repeated may wait
    but_for_moves = partial(scheduler.is_quiet, but_for_moves=True)

    ticks = [
        # the first, because a tick that fails keeps those after it from being called
        parts.durability_watch().tick,
        seldom_if_quiet(REST_SECONDS, scheduler.tick, scheduler.rests),
        every(REQUEST_SECONDS, partial(request_jobs, parts.queue, endless)),
        RetireWakeup(store, data, parts.queue, parts.settings.archive_after).tick,
        seldom_if_quiet(
            QUIET_SECONDS, EvidenceWakeup(parts.cases, parts.queue).tick, but_for_moves
        ),
        *([scrub_wakeup(data, parts.queue)] if parts.settings.scrub_percent else []),
        *(
            [dump_wakeup(parts.queue, partial(parts.time.now, data), int(hour))]
            if hour != "off"
            else []
        ),
        LossCheck(data, parts.queue, store.shards).tick,
        ChallengeStarter(store, lanes, parts.challenges, DrawTexts(data)).tick,
        seldom_if_quiet(QUIET_SECONDS, TournamentManager(store, lanes, data).tick, but_for_moves),
    ]
    if parts.settings.robots:
        wait = parts.settings.robot_seconds
        # the tick of the scheduler has asked for the time, together with the news
        robots = RobotWakeup(data, parts.queue, store.counted_now, wait)
        quiet = partial(_has_no_turns, robots, scheduler)
        ticks.append(seldom_if_quiet(QUIET_SECONDS, robots.tick, quiet))
    wakeup = mailer_wakeup(parts)
    wakeup.begin()
    if parts.settings.has_mailer:
        ticks.append(wakeup.tick)
    # the last tick: if one before it fails no heartbeat is sent, and the doctor reports that
    ticks.append(_sign_of_life(heartbeat, data, parts.queue))
    return ticks


def _has_no_turns(robots: RobotWakeup, scheduler: Scheduler) -> bool:
    """Return whether no robot is to act, nor soon will be."""
    return robots.is_idle and scheduler.is_quiet()


def _sign_of_life(heartbeat: Heartbeat, data: Redis, queue: Redis) -> Callable[[], None]:
    """Return the tick that sends the scheduler's heartbeat."""

    def write() -> None:
        # if nothing can be written the scheduler goes on; the doctor reports its silence
        with suppress(RedisError):
            heartbeat.write(data, queue)

    return every(EVERY_SECONDS, write)
