"""`matchpost serve`: server, command workers, projection worker and scheduler on one machine."""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from socket import socket

from redis import Redis
from redis.exceptions import RedisError

from infra.draw_texts import DrawTexts
from infra.durability import DurabilityError, verify
from infra.durability_watch import DurabilityWatch
from infra.failpoints import failpoint
from infra.heartbeats import EVERY_SECONDS, Heartbeat, Role
from infra.machine import memory_limit
from infra.mail.wakeup import MailerWakeup
from infra.open_files import raise_limit
from infra.people.challenges import ChallengeStore
from infra.redis.clients import make_client
from infra.settings import Settings
from infra.store.damaged_matches import DamagedMatches
from infra.store.due_times import DueTimes
from infra.store.leases import LaneLeases
from infra.store.port import Layout
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.store.server_clock import ServerClockRecord
from infra.valkey.server import EmbeddedError, EmbeddedServer
from services import __version__
from services.serve.banner import banner
from services.serve.logging import log_to_stderr
from services.serve.processes import mail_child, mailer_child, side_child, web_child, worker_child
from services.serve.sockets import address_of, listen, listen_for_mail
from services.serve.supervisor import Supervisor
from workers.challenge_starter import ChallengeStarter
from workers.clock_check import ClockCheck
from workers.due_check import DueCheck
from workers.scheduler import Scheduler

logger = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Run until a stop signal, and return the exit code. Print `ready` once everything runs."""
    log_to_stderr("serve")
    raise_limit()
    try:
        with ExitStack() as stack:
            _serve(settings, stack)
    except (EmbeddedError, DurabilityError, LookupError, OSError) as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return 2
    logger.info("stopped; everything accepted is kept")
    return 0


def _serve(settings: Settings, stack: ExitStack) -> None:
    servers = []
    url = settings.redis_url
    if url is None:
        server = EmbeddedServer(
            settings.data,
            durable=settings.durability.durable,
            maxmemory=memory_limit(settings.maxmemory),
        )
        stack.enter_context(server)
        servers.append(server)
        url = server.url
    data = stack.enter_context(make_client(url))
    queue = stack.enter_context(make_client(settings.queue_url or url))
    failpoint("serve.loaded")
    verify(data, settings.durability)
    store = RedisStore(data, settings.durability, settings.queue_cap)
    shape = store.create(Layout(settings.shards, settings.workers))
    lanes = LaneLeases(queue, lambda lane: enqueue_drain(queue, lane))
    scheduler = Scheduler(store, lanes, clock_check=ClockCheck(ServerClockRecord(data)))
    workers = [worker_child(n, settings, url) for n in range(1, shape.lanes + 1)]
    children = [*workers, side_child(settings, url)]
    listener = stack.enter_context(listen(settings.http)) if settings.http != "off" else None
    if listener is not None:
        children.append(web_child(settings, url, listener))
    if mail := listen_for_mail(settings, stack):
        children.append(mail_child(settings, url, mail))
    starter = ChallengeStarter(store, lanes, ChallengeStore(data), DrawTexts(data))
    check = DueCheck(DueTimes(data, shape), DamagedMatches(data))
    ticks = [
        # the first, because a tick that fails keeps those after it from being called
        DurabilityWatch(data, queue, settings.durability).tick,
        scheduler.tick,
        starter.tick,
        check.tick,
        *(server.note_synced for server in servers),
    ]
    if settings.relay is not None:
        children.append(mailer_child(settings, url))
        ticks.append(_wakeup(MailerWakeup(store, data, queue)))
    heartbeat = Heartbeat(Role.SCHEDULER, __version__)
    # the last tick: if one before it fails no heartbeat is sent, and the doctor reports that
    ticks.append(_sign_of_life(heartbeat, data))
    if settings.redis_url is not None:  # an embedded server has ended by then
        stack.callback(_end, heartbeat, data)
    supervisor = Supervisor(children, tick=partial(_tick, ticks), depends_on=servers)
    supervisor.run(started=lambda: _started(settings, url, listener))


def _wakeup(wakeup: MailerWakeup) -> Callable[[], None]:
    """Return the tick that wakes the mailer; events from now on are mailed."""
    wakeup.begin()
    return wakeup.tick


def _end(heartbeat: Heartbeat, data: Redis) -> None:
    with suppress(RedisError):
        heartbeat.remove(data)


def _sign_of_life(heartbeat: Heartbeat, data: Redis) -> Callable[[], None]:
    """Return the tick that sends the scheduler's heartbeat."""
    due = 0.0

    def tick() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + EVERY_SECONDS
            # if nothing can be written the scheduler goes on; the doctor reports its silence
            with suppress(RedisError):
                heartbeat.write(data)

    return tick


def _tick(ticks: Sequence[Callable[[], None]]) -> None:
    for tick in ticks:
        tick()


def _started(settings: Settings, url: str, listener: socket | None) -> None:
    failpoint("serve.started")
    print(banner(settings, url, address_of(listener) if listener else None), flush=True)
