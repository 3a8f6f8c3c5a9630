"""The heartbeat of this process, or those of the roles that share it."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

import redis

from infra.health.heartbeats import Heartbeat, HeartbeatThread, Role
from infra.process.role_thread import this_role_thread
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.server import queue_url, socket_url
from services import __version__

_SHARED: Final[dict[tuple[int, str], HeartbeatThread]] = {}
"""The threads that write for all roles of a process, by its id and their data: a forked process has no other thread."""


def heartbeating(
    settings: Settings,
    role: Role,
    *,
    mail_key: str = "",
    lost: Callable[[], Sequence[int]] = tuple,
) -> AbstractContextManager[None]:
    """Return a context manager that writes this process's heartbeat; see `HeartbeatRecord`."""

    def data() -> redis.Redis:
        return make_client(settings.redis_url or socket_url(settings.data))

    def queue() -> redis.Redis:
        return make_client(queue_url(settings))

    thread = HeartbeatThread((data, queue))
    if this_role_thread() is not None:
        thread = _SHARED.setdefault((os.getpid(), str(settings.data)), thread)
    return thread.beating(Heartbeat(role, __version__, mail_key=mail_key, lost=lost))
