"""The child processes of `serve`: the console script, once for each role."""

import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from socket import socket
from typing import Final

from msgspec.structs import replace

from infra.settings.settings import Settings
from services.serve.child import ProcessChild

_BESIDE: Final = ("maintenance", "robots", "publisher", "mailer")
"""Roles without which moves, pages and mail are answered all the same: the start of `serve` gives up waiting for them."""


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
    needed, name = role not in _BESIDE, name or role
    return ProcessChild(name, argv, env=environment, pass_fds=fds, watched=True, needed=needed)


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
