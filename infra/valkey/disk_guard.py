"""Keeps a full disk from ending the embedded server: it is read-only while there is little room.

A server that syncs each write ends at the first that it can't sync, and then nothing can be read either. So
below `LOW` bytes of room it refuses writes, and a reserve file is removed, which leaves room for keys that
expire and lines of logs. Should the disk fill up in less than two seconds, the server ends, and
starts again in the room of the reserve.

Measures how fast a disk syncs.
"""

import logging
import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from redis import Redis

from infra.redis.server import DISK_FULL_AT, MINIMUM_REPLICAS

logger = logging.getLogger(__name__)

RESERVE: Final = 16 << 20
"""Bytes of the reserve file; on a small disk it is a quarter of the room."""

LOW: Final = 16 << 20
"""Bytes of room below which the server takes no writes."""

ENOUGH: Final = LOW + 2 * RESERVE
"""Bytes of room, the reserve file among it, from which it takes them again, and the file is made again."""


def free_bytes(folder: Path) -> int:
    """Return how many bytes this user may still write to the disk of a folder."""
    return shutil.disk_usage(folder).free


def release(reserve: Path) -> None:
    """Remove the reserve file."""
    reserve.unlink(missing_ok=True)


class DiskGuard:
    """Watches the disk of the embedded server `data`, whose reserve file is `reserve`; call `tick` every two seconds."""

    def __init__(
        self, data: Redis, reserve: Path, free: Callable[[Path], int] = free_bytes
    ) -> None:
        self._data = data
        self._reserve = reserve
        self._free = free
        self._closed = False

    def tick(self) -> None:
        """Close the server for writes if there is little room, and open it once there is enough."""
        room = self._free(self._reserve.parent)
        if room < LOW or (self._closed and room < self._enough()):
            self._close(room)
        elif self._closed:
            self._data.config_set(MINIMUM_REPLICAS, 0)
            self._closed = False
            logger.warning("there is room on the disk again; moves go on")
        elif not self._reserve.exists():
            self._reserve.write_bytes(bytes(min(RESERVE, room // 4)))

    def _enough(self) -> int:
        total = shutil.disk_usage(self._reserve.parent).total
        return min(ENOUGH, total // 2)

    def _close(self, room: int) -> None:
        if not self._closed:
            free = f" ({room >> 10} KiB free)"
            logger.error("ALARM: %s", DISK_FULL_AT % (self._reserve.parent, free))
        release(self._reserve)
        # no embedded server has replicas, so it refuses every write; one that was started again has forgotten it
        self._data.config_set(MINIMUM_REPLICAS, 1)
        self._closed = True


_SAMPLES: Final = 200
_BYTES: Final = 4_096


def median_fdatasync(folder: Path) -> float:
    """Return the median seconds of an fdatasync after appending a page to a file in the folder."""
    place = folder / ".fdatasync-probe"
    descriptor = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        return statistics.median(_one(descriptor) for _ in range(_SAMPLES))
    finally:
        os.close(descriptor)
        place.unlink()


def _one(descriptor: int) -> float:
    os.write(descriptor, bytes(_BYTES))
    began = time.perf_counter()
    os.fdatasync(descriptor)
    return time.perf_counter() - began
