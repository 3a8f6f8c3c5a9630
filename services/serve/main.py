"""`matchpost serve`: servers, workers, scheduler and front ends on one machine."""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from socket import socket
from typing import Final

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from infra.backup.port import BackupError
from infra.durability.durability import DurabilityError, verify
from infra.health.heartbeats import forget_ended
from infra.health.secrets import SecretMismatchError
from infra.log.key_files import LogKeyError, keys_folder
from infra.mail.wakeup import begin_mailing
from infra.objects.location import is_local
from infra.objects.port import ObjectStoreError
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.people.first_operator import FirstOperatorLink
from infra.process.failpoints import failpoint
from infra.process.liveness import LIVENESS
from infra.process.machine import memory_limit, raise_limit
from infra.redis.clients import make_client
from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from infra.store.layout import initial_layout
from infra.store.redis_store import RedisStore
from infra.valkey.aof import DailyRewrite
from infra.valkey.directory import DataDirectory
from infra.valkey.disk_guard import DiskGuard
from infra.valkey.server import EmbeddedError, EmbeddedServer, queue_server, queue_url
from services.app.backups import check_places
from services.lane_texts import idle_workers
from services.secret_checks import accept_secrets, check_secrets
from services.serve.backup_schedule import BackupSchedule
from services.serve.banner import banner
from services.serve.child import ProcessChild
from services.serve.forked import SharedImports, fork_command
from services.serve.handover import Handover, end_roles, hand_over, take_over
from services.serve.liveness import report_liveness
from services.serve.log_keys import (
    make_accounts_key,
    make_first_keys,
    make_shared_keys,
    record_published_sizes,
)
from services.serve.logging import log_end, log_to_stderr
from services.serve.processes import all_children, shared_modules
from services.serve.signals import call_all
from services.serve.sockets import KeptSockets, address_of, listen, listen_for_mail
from services.serve.supervisor import STOP_DEADLINE, Supervisor

logger = logging.getLogger(__name__)

_TICK_SECONDS: Final = 2.0
"""Between two looks at the disk, which is full only some seconds after there is little room."""


def run(settings: Settings) -> int:
    """Run until a stop signal, and return the exit code. Print `ready` once all processes serve."""
    left = take_over()
    # before the variables of a service manager leave it
    environment = dict(os.environ)
    log_to_stderr("serve", settings)
    raise_limit()
    # the library of a cloud's store has threads here when roles are started, and does not work in a fork
    imports = SharedImports(shared_modules(settings)) if is_local(settings.store) else None
    if imports is not None:
        imports.start()
    try:
        with ExitStack() as stack:
            _serve(settings, stack, imports, left, environment)
    except (
        EmbeddedError,
        BackupError,
        DurabilityError,
        LogKeyError,
        LookupError,
        ObjectStoreError,
        SecretMismatchError,
        OSError,
    ) as error:
        log_end(str(error))
        return 2
    logger.info("stopped; everything accepted is kept")
    return 0


def _serve(
    settings: Settings,
    stack: ExitStack,
    imports: SharedImports | None,
    left: Handover,
    environment: Mapping[str, str],
) -> None:
    servers = []
    duties: list[DiskGuard | DailyRewrite | BackupSchedule] = []
    url = settings.redis_url
    # with the place of what this process has started
    for_children = settings
    if url is None:
        server = EmbeddedServer(
            settings.data,
            durable=settings.durability.durable,
            maxmemory=memory_limit(settings.maxmemory),
        )
        servers.append(_started_server(server, left, stack))
        url = server.url
        owner = stack.enter_context(server.client())
        directory = DataDirectory(server.data)
        duties += [DiskGuard(owner, directory.reserve), DailyRewrite(owner, directory.files)]
        if settings.queue_url is None:
            servers.append(second := _started_server(queue_server(settings.data), left, stack))
            for_children = msgspec.structs.replace(settings, queue_url=second.url)
    if settings.backup is not None:
        check_places(settings)
        duties.append(BackupSchedule(settings))
    report_liveness(settings, "serve")
    data = stack.enter_context(make_client(url))
    failpoint("serve.loaded")
    verify(data, settings.durability, settings.replicas)
    _prepare(settings, data, for_children.queue_url or url)
    sockets = KeptSockets(left.sockets)
    listener = None
    if settings.http != "off":
        opened = sockets.open("MATCHPOST_HTTP", settings.http, lambda: listen(settings.http))
        listener = stack.enter_context(opened)
    first = FirstOperatorLink(data).renew() if listener else ""
    mail = listen_for_mail(settings, stack, sockets)
    sockets.close_unused()
    children = all_children(for_children, url, listener, mail)
    if imports is not None:
        imports.wait()
        for child in children:
            child.launch = fork_command
    # the sync is noted first, because a tick that fails keeps those after it from being called
    ticks = [*(server.note_synced for server in servers), *(one.tick for one in duties)]
    supervisor = Supervisor(
        children,
        tick=partial(call_all, ticks),
        tick_interval=_TICK_SECONDS,
        depends_on=servers,
        replace=partial(_replace, servers, sockets, children, environment),
    )

    def started() -> None:
        names = {server.name for server in servers}
        # servers that the settings no longer ask for
        unused = [one.pid for name, one in left.servers.items() if name not in names]
        end_roles([*left.roles, *unused], STOP_DEADLINE)
        _started(settings, url, listener, first)

    supervisor.run(started)
    if settings.redis_url or settings.queue_url:
        # the doctor names them if they can't be forgotten
        with suppress(RedisError), make_client(queue_url(settings)) as queue:
            forget_ended(queue)


def _started_server(server: EmbeddedServer, left: Handover, stack: ExitStack) -> EmbeddedServer:
    """Return a server that runs; that of the program before goes on, if it has left one."""
    if (handed := left.servers.get(server.name)) is not None:
        server.adopt(handed)
    return stack.enter_context(server)


def _replace(
    servers: Sequence[EmbeddedServer],
    sockets: KeptSockets,
    children: Sequence[ProcessChild],
    environment: Mapping[str, str],
) -> None:
    """Leave this process to the program that is installed now."""
    handed = {one.name: found for one in servers if (found := one.hand_over())}
    roles = tuple(one.pid for one in children if one.pid is not None and one.poll() is None)
    hand_over(Handover(handed, sockets.hand_over(), roles), environment)


def _prepare(settings: Settings, data: Redis, queue_place: str) -> None:
    """Make what the roles need in the data: layout, keys, accounts of robots."""
    store = RedisStore(data, settings.durability, settings.queue_cap)
    shape = store.create(initial_layout(data, settings.shards, settings.workers))
    if idle := idle_workers(settings.workers, shape):
        logger.warning(idle)
    for broken in load_games():
        logger.error("%s; matches of it are kept and can't go on", broken)
    _settle_secrets(settings, data)
    create_robot_accounts(data, AccountMacs(keys_folder(settings)))
    if settings.durability.durable:
        make_first_keys(settings, data, shape)
        with make_client(queue_place) as queue:
            record_published_sizes(settings, data, queue, shape)
    if settings.has_mailer:
        begin_mailing(
            *(store, data),
            mail=settings.relay is not None,
            push=settings.sends_push,
            hooks=settings.sends_hooks,
        )


def _settle_secrets(settings: Settings, data: Redis) -> None:
    """Make the keys that a server lacks, and compare the secrets of this machine with the server's."""
    if settings.redis_url is None:
        accept_secrets(settings, data)
        make_accounts_key(settings, data)
        return
    made = "made %s; back it up, and let nobody else read it"
    make_shared_keys(settings, data, partial(logger.info, made))
    for role in _roles(settings):
        check_secrets(settings, data, role)


def _roles(settings: Settings) -> list[str]:
    """Return the roles that `serve` starts, by their subcommands."""
    asked = {
        "publisher": settings.durability.durable,
        "robots": settings.robots > 0,
        "web": settings.http != "off",
        "mail": settings.takes_mail,
        "mailer": settings.has_mailer,
    }
    return ["worker", "side", "scheduler", "maintenance", *(role for role in asked if asked[role])]


def _started(settings: Settings, url: str, listener: socket | None, first: str) -> None:
    failpoint("serve.started")
    print(banner(settings, url, address_of(listener) if listener else None, first), flush=True)
    LIVENESS.serving()
