"""The child processes of `serve`: the console script, once for each role."""

import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from socket import socket
from typing import Final

from msgspec.structs import replace

from infra.settings import Settings
from services.serve.child import ProcessChild

_BESIDE: Final = ("maintenance", "robots", "publisher")
"""Roles without which moves, pages and mail are answered all the same: the start of `serve` gives up waiting for them."""


def console_script() -> Path:
    """Return the path of this installation's `matchpost`.

    Never `python -m`: it would run a folder named `services` in the current directory.
    """
    script = Path(sys.executable).with_name("matchpost")
    return script if script.exists() else Path(sys.argv[0]).absolute()


def worker_child(number: int, settings: Settings, redis_url: str) -> ProcessChild:
    """Return a command worker for the server at `redis_url`."""
    return _child("worker", f"worker-{number}", settings, redis_url)


def scheduler_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Return the scheduler for the server at `redis_url`."""
    return _child("scheduler", "scheduler", settings, redis_url)


def maintenance_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Return the worker that rebuilds and checks, for the server at `redis_url`."""
    return _child("maintenance", "maintenance", settings, redis_url)


def robot_children(count: int, each: Iterator[Settings], redis_url: str) -> list[ProcessChild]:
    """Return so many processes of the robots for the server at `redis_url`, with the next settings."""
    numbers = range(1, count + 1)
    return [_child("robots", f"robots-{number}", next(each), redis_url) for number in numbers]


def publisher_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Return the process that publishes the logs of the server at `redis_url`."""
    return _child("publisher", "publisher", settings, redis_url)


def side_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Return the projection worker for the server at `redis_url`."""
    return _child("side", "side", settings, redis_url)


def web_children(settings: Settings, redis_url: str, listener: socket) -> list[ProcessChild]:
    """Return the web processes, which all answer on one socket that listens already."""
    count = settings.web
    names = [f"web-{number}" for number in range(1, count + 1)] if count > 1 else ["web"]
    own = [with_metrics_port(settings, n) for n in range(count)]
    fd = listener.fileno()
    return [_web_child(name, one, redis_url, fd) for name, one in zip(names, own, strict=True)]


def _web_child(name: str, settings: Settings, redis_url: str, fd: int) -> ProcessChild:
    argv = [str(console_script()), "web", "--name", name, "--fd", str(fd)]
    environment = _environment(settings, redis_url)
    return ProcessChild(name, argv, env=environment, pass_fds=[fd], watched=True)


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
    argv = [str(console_script()), "mail", *flags]
    environment = _environment(settings, redis_url)
    return ProcessChild("mail", argv, env=environment, pass_fds=list(fds.values()), watched=True)


def mailer_child(settings: Settings, redis_url: str) -> ProcessChild:
    """Return the process that sends mail."""
    argv = [str(console_script()), "mailer"]
    environment = _environment(settings, redis_url)
    return ProcessChild("mailer", argv, env=environment, watched=True, needed=False)


def _child(role: str, name: str, settings: Settings, redis_url: str) -> ProcessChild:
    argv = [str(console_script()), role, "--name", name]
    environment = _environment(settings, redis_url)
    return ProcessChild(name, argv, env=environment, watched=True, needed=role not in _BESIDE)


def _environment(settings: Settings, redis_url: str) -> dict[str, str]:
    return {**os.environ, **settings.environment(), "MATCHPOST_REDIS_URL": redis_url}
