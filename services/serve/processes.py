"""The child processes of `serve`: the console script, once for each role."""

import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from socket import socket
from typing import Final

from msgspec.structs import replace

from infra.health.heartbeats import Role
from infra.settings.settings import Settings
from services.serve.child import ProcessChild

BESIDE: Final = ("maintenance", "robots", "publisher", "mailer")
"""Roles without which moves, pages and mail are answered all the same: the start of `serve` gives up waiting for them."""

_FOR_ALL: Final = (
    "services.cli.roles", "services.cli.worker", "workers.commands.worker", "services.cli.gathered",
    "services.cli.scheduler", "services.cli.publisher", "workers.projections.worker", "workers.rq_worker",
)  # fmt: skip
"""Modules of the roles that every server has; those first that take longest to start."""

_OF_WEB: Final = ("services.cli.web",)
_OF_ROBOTS: Final = ("services.cli.robots", "services.app.robots")
_OF_MAIL: Final = ("services.cli.mail", "services.cli.mailer")


def shared_modules(settings: Settings) -> list[str]:
    """Return the modules that several processes of `serve` need, and that are imported once for all of them.

    What only one process needs it imports itself: of the pages that it writes to, as it does to count references,
    there would be two copies.
    """
    several = (
        (settings.web > 1, _OF_WEB),
        (settings.robots > 1, _OF_ROBOTS),
        (settings.has_mailer and settings.takes_mail, _OF_MAIL),
    )
    return [*_FOR_ALL, *(name for needed, names in several if needed for name in names)]


def console_script() -> Path:
    """Return the path of this installation's `matchpost`.

    Never `python -m`: it would run a folder named `services` in the current directory.
    """
    script = Path(sys.executable).with_name("matchpost")
    return script if script.exists() else Path(sys.argv[0]).absolute()


def role_child(
    role: str,
    settings: Settings,
    redis_url: str,
    *,
    name: str = "",
    flags: Sequence[str] = (),
    fds: Sequence[int] = (),
) -> ProcessChild:
    """Return a process of a role for the server at `redis_url`; its name in the log is by default the role."""
    argv = [str(console_script()), role, *(("--name", name) if name else ()), *flags]
    environment = {**os.environ, **settings.environment(), "MATCHPOST_REDIS_URL": redis_url}
    needed, name = role not in BESIDE, name or role
    return ProcessChild(name, argv, env=environment, pass_fds=fds, watched=True, needed=needed)


def all_children(
    settings: Settings, redis_url: str, listener: socket | None, mail: Mapping[str, socket]
) -> list[ProcessChild]:
    """Return all processes of `serve`; pages are answered on `listener`, and mail is taken on the sockets of `mail`."""
    gathered = gathered_roles(settings) if settings.gathers else []
    # the web processes have the first ports for metrics, and the others in this order
    each = with_metrics_ports(settings)
    scheduler = role_child(Role.SCHEDULER, next(each), redis_url)
    workers = numbered_children(Role.WORKER, settings.workers, each, redis_url)
    side = role_child(Role.PROJECTIONS, next(each), redis_url)
    robots = (
        []
        if Role.ROBOTS in gathered
        else numbered_children(Role.ROBOTS, settings.robots, each, redis_url)
    )
    resting = [side, scheduler, role_child(Role.MAINTENANCE, settings, redis_url)]
    if settings.durability.durable:
        resting.append(role_child(Role.PUBLISHER, next(each), redis_url))
    if gathered:
        resting = [role_child("gathered", settings, redis_url)]
    # the first to start are those that take longest until they answer
    web = [] if listener is None else web_children(settings, redis_url, listener)
    children = [*web, *workers, *resting, *robots]
    if mail:
        children.append(mail_child(next(each), redis_url, mail))
    if settings.has_mailer:
        children.append(role_child(Role.MAILER, next(each), redis_url))
    return children


def gathered_roles(settings: Settings) -> list[Role]:
    """Return the roles that share a process where they are gathered: they rest most of the time, or fork for their work.

    Robots are among them unless the server has several processes for them, and so is asked for more of their moves.
    """
    roles = [Role.PROJECTIONS, Role.SCHEDULER, Role.MAINTENANCE]
    if settings.durability.durable:
        roles.append(Role.PUBLISHER)
    return [*roles, Role.ROBOTS] if settings.robots == 1 else roles


def numbered_children(
    role: str, count: int, each: Iterator[Settings], redis_url: str
) -> list[ProcessChild]:
    """Return so many processes of a role, with the next settings."""
    names = [f"{role}-{number}" for number in range(1, count + 1)]
    return [role_child(role, next(each), redis_url, name=name) for name in names]


def web_children(settings: Settings, redis_url: str, listener: socket) -> list[ProcessChild]:
    """Return the web processes, which all answer on one socket that listens already."""
    count, fd = settings.web, listener.fileno()
    names = [f"web-{number}" for number in range(1, count + 1)] if count > 1 else [""]
    flags = ["--fd", str(fd)]
    own = [with_metrics_port(settings, number) for number in range(count)]
    return [
        role_child("web", one, redis_url, name=name, flags=flags, fds=[fd])
        for name, one in zip(names, own, strict=True)
    ]


def with_metrics_ports(settings: Settings) -> Iterator[Settings]:
    """Yield the settings of one process after the other, each with the next port for its metrics.

    The first ports are those of the web processes.
    """
    first = settings.web if settings.http != "off" else 0
    return (with_metrics_port(settings, number) for number in itertools.count(first))


def with_metrics_port(settings: Settings, offset: int) -> Settings:
    """Return settings for a process whose metrics have a port that is so much higher.

    Port 0 stays, which means any.
    """
    host, _, port = settings.metrics.rpartition(":")
    if port in ("off", "0"):
        return settings
    return replace(settings, metrics=f"{host}:{int(port) + offset}")


def mail_child(settings: Settings, redis_url: str, sockets: Mapping[str, socket]) -> ProcessChild:
    """Return the process that accepts mail, on sockets that listen already, by protocol."""
    fds = {protocol: listener.fileno() for protocol, listener in sockets.items()}
    flags = [word for protocol, fd in fds.items() for word in (f"--{protocol}-fd", str(fd))]
    return role_child("mail", settings, redis_url, flags=flags, fds=list(fds.values()))
