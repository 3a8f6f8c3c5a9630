"""Signs of life of this process, and what it makes sure of when it begins."""

from collections.abc import Callable, Sequence

import redis

from infra.clients import make_client
from infra.embedded import socket_url
from infra.heartbeats import Beating, Heartbeat, Role
from infra.settings import Settings
from services import __version__


def beating(
    settings: Settings,
    role: Role,
    *,
    mail_key: str = "",
    lost: Callable[[], Sequence[int]] = tuple,
) -> Beating:
    """Return what writes this process's signs of life while it is entered; see `Beat`."""

    def connect() -> redis.Redis:
        return make_client(settings.redis_url or socket_url(settings.data))

    return Beating(connect, Heartbeat(role, __version__, mail_key=mail_key, lost=lost))
