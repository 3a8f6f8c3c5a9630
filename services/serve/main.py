"""`matchpost serve`: the server, the command workers, the side worker and the scheduler, on one machine."""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from socket import socket

from redis import Redis
from redis.exceptions import RedisError

from infra.challenges import Challenges
from infra.clients import make_client
from infra.clock import ClockNotes
from infra.damage import Damage
from infra.due import DueTimes
from infra.durability import DurabilityError, verify
from infra.embedded import EmbeddedError, EmbeddedServer
from infra.faults import point
from infra.files import raise_limit
from infra.heartbeats import EVERY_SECONDS, Heartbeat, Role
from infra.lanes import Lanes
from infra.mail.bell import Bell
from infra.queue import wake
from infra.settings import Settings
from infra.store.port import Shape
from infra.store.server import RedisStore
from infra.words import Words
from services import __version__
from services.serve.greeting import greeting
from services.serve.listening import address_of, listen, listen_for_mail
from services.serve.logs import log_to_stderr
from services.serve.supervisor import Supervisor
from services.serve.workers import mail_child, mailer_child, side_child, web_child, worker_child
from workers.challenge_starter import ChallengeStarter
from workers.clock_check import ClockCheck
from workers.due_check import DueCheck
from workers.scheduler import Scheduler

logger = logging.getLogger(__name__)


def run(settings: Settings) -> int:
    """Run until told to stop; gives the exit code. Standard output has the word `ready`."""
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
    foundation = []
    url = settings.redis_url
    if url is None:
        server = EmbeddedServer(settings.data, durable=settings.durability.durable)
        stack.enter_context(server)
        foundation.append(server)
        url = server.url
    data = stack.enter_context(make_client(url))
    queue = stack.enter_context(make_client(settings.queue_url or url))
    point("serve.loaded")
    verify(data, settings.durability)
    store = RedisStore(data, settings.durability, settings.queue_cap)
    shape = store.create(Shape(settings.shards, settings.workers))
    lanes = Lanes(queue, lambda lane: wake(queue, lane))
    scheduler = Scheduler(store, lanes, clock_check=ClockCheck(ClockNotes(data)))
    workers = [worker_child(n, settings, url) for n in range(1, shape.lanes + 1)]
    children = [*workers, side_child(settings, url)]
    listening = stack.enter_context(listen(settings.http)) if settings.http != "off" else None
    if listening is not None:
        children.append(web_child(settings, url, listening))
    if mail := listen_for_mail(settings, stack):
        children.append(mail_child(settings, url, mail))
    starter = ChallengeStarter(store, lanes, Challenges(data), Words(data))
    check = DueCheck(DueTimes(data, shape), Damage(data))
    ticks = [
        scheduler.tick,
        starter.tick,
        check.tick,
        *(server.note_synced for server in foundation),
    ]
    if settings.relay is not None:
        children.append(mailer_child(settings, url))
        ticks.append(_bell(Bell(store, data, queue)))
    heartbeat = Heartbeat(Role.SCHEDULER, __version__)
    # last of all ticks: one that fails is silence, which the doctor hears
    ticks.append(_sign_of_life(heartbeat, data))
    if settings.redis_url is not None:  # else the server has ended by then
        stack.callback(_end, heartbeat, data)
    supervisor = Supervisor(children, tick=partial(_tick, ticks), foundation=foundation)
    supervisor.run(started=lambda: _started(settings, url, listening))


def _bell(bell: Bell) -> Callable[[], None]:
    """Return the tick that asks for the mailer; what happens from now on is mailed."""
    bell.begin()
    return bell.tick


def _end(heartbeat: Heartbeat, data: Redis) -> None:
    with suppress(RedisError):
        heartbeat.end(data)


def _sign_of_life(heartbeat: Heartbeat, data: Redis) -> Callable[[], None]:
    """Return the tick that says that the scheduler works."""
    due = 0.0

    def tick() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + EVERY_SECONDS
            # where nothing can be written the scheduler goes on, and its silence is what is seen
            with suppress(RedisError):
                heartbeat.beat(data)

    return tick


def _tick(ticks: Sequence[Callable[[], None]]) -> None:
    for tick in ticks:
        tick()


def _started(settings: Settings, url: str, listening: socket | None) -> None:
    point("serve.started")
    print(greeting(settings, url, address_of(listening) if listening else None), flush=True)
