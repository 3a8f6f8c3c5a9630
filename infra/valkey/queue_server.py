"""The server of the queue: RQ, leases and the messages between processes, without a file.

What it holds is lost when it ends, which costs seconds and never a move: commands wait in the inboxes
of the data's server, and the scheduler repeats wake-ups. So nothing here waits for a disk. A server
that is started again is empty.

Without MATCHPOST_REDIS_URL it is a second embedded server, in the folder `queue` of the data directory.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from infra.redis.addresses import unix_url
from infra.settings.settings import Settings
from infra.valkey.directory import DataDirectory
from infra.valkey.server import EmbeddedServer

FOLDER: Final = "queue"
"""Its folder in the data directory, with its socket, its lock and its log."""

NAME: Final = "queue"
"""Its name in the log of `serve`."""

_SETTINGS: Final[Mapping[str, str]] = {
    "appendonly": "no",
    # jobs and leases take some kilobytes; most of this is for messages to slow readers
    "maxmemory": "128mb",
    # a job or a lease that is dropped is repeated, and a refused write would stop all drains
    "maxmemory-policy": "allkeys-lru",
    # so that a run that lingers looks on time whether other jobs wait
    "hz": "4",
}


def queue_server(data: Path) -> EmbeddedServer:
    """Return the embedded server of the queue, not started; `data` is the data directory."""
    return EmbeddedServer(data / FOLDER, name=NAME, durable=False, options=_SETTINGS)


def queue_url(settings: Settings) -> str:
    """Return the URL of the server of the queue; it need not run, as while it is started again."""
    return settings.queue_url or settings.redis_url or _embedded_url(settings.data)


def _embedded_url(data: Path) -> str:
    return unix_url(str(DataDirectory(data / FOLDER).known_socket()))
