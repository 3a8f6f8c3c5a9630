"""The heartbeat of this process."""

from collections.abc import Callable, Sequence

import redis

from infra.health.heartbeats import Heartbeat, HeartbeatThread, Role
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.server import queue_url, socket_url
from services import __version__


def heartbeating(
    settings: Settings,
    role: Role,
    *,
    mail_key: str = "",
    lost: Callable[[], Sequence[int]] = tuple,
) -> HeartbeatThread:
    """Return a context manager that writes this process's heartbeat; see `HeartbeatRecord`."""

    def data() -> redis.Redis:
        return make_client(settings.redis_url or socket_url(settings.data))

    def queue() -> redis.Redis:
        return make_client(queue_url(settings))

    beat = Heartbeat(role, __version__, mail_key=mail_key, lost=lost)
    return HeartbeatThread((data, queue), beat)
