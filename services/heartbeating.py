"""What shows that this process is alive: its heartbeat, for the doctor, and its liveness, for who watches it."""

import logging
from collections.abc import Callable, Sequence

import redis

from infra.alive_files import AliveFile
from infra.heartbeats import Heartbeat, HeartbeatThread, Role
from infra.liveness import LIVENESS, LivenessListener
from infra.redis.clients import make_client
from infra.service_manager import ServiceManager
from infra.settings import Settings
from infra.valkey.server import socket_url
from services import __version__

logger = logging.getLogger(__name__)


def report_liveness(settings: Settings, role: str) -> None:
    """Report from now on that this process is alive: to `serve`, to systemd and for `matchpost alive`."""
    listeners: list[LivenessListener] = [ServiceManager()]
    try:
        listeners.append(AliveFile(settings.data, role))
    except OSError as error:
        logger.warning("`matchpost alive` can't see this process: %s", error)
    LIVENESS.watch(*listeners)


def heartbeating(
    settings: Settings,
    role: Role,
    *,
    mail_key: str = "",
    lost: Callable[[], Sequence[int]] = tuple,
) -> HeartbeatThread:
    """Return a context manager that writes this process's heartbeat; see `HeartbeatRecord`."""

    def connect() -> redis.Redis:
        return make_client(settings.redis_url or socket_url(settings.data))

    return HeartbeatThread(connect, Heartbeat(role, __version__, mail_key=mail_key, lost=lost))
