"""The facts about the data directory and its disk."""

import os
import shutil
from pathlib import Path

import msgspec

from infra.settings.settings import Settings
from infra.valkey.disk_guard import median_fdatasync
from infra.valkey.process import is_alive, owner_of


class DirectoryFacts(msgspec.Struct, frozen=True):
    """The data directory and its disk."""

    path: str
    exists: bool
    free: int
    """Bytes that this user may still write."""
    fsync_ms: float | None = None
    """Median of an fdatasync there; None if nothing can be written."""
    owner: int | None = None
    """Process id of the running `matchpost serve` that owns it."""


def read_directory(settings: Settings) -> DirectoryFacts:
    """Return the facts about the data directory."""
    path = settings.data
    there = next(place for place in (path, *path.parents) if place.exists())
    free = shutil.disk_usage(there).free
    return DirectoryFacts(
        path=str(path),
        exists=path.is_dir(),
        free=free,
        fsync_ms=_fsync_ms(path),
        owner=_owner(path),
    )


def _fsync_ms(path: Path) -> float | None:
    if not os.access(path, os.W_OK | os.X_OK):
        return None
    try:
        return median_fdatasync(path) * 1000
    except OSError:  # a full disk, which `free` reports
        return None


def _owner(path: Path) -> int | None:
    pid = owner_of(path)
    return pid if pid is not None and is_alive(pid) else None
