"""The processes of a rebuild, each with a store and a client of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import redis

from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from infra.store.port import Store
from services.app.context import App
from workers.projections.processes import ShardProcesses


def rebuild_processes(settings: Settings, count: int | None = None) -> ShardProcesses:
    """Return so many processes, or as many as are worth it, for a server with these settings."""
    return ShardProcesses(partial(_open_parts, settings), count)


@contextmanager
def _open_parts(settings: Settings) -> Iterator[tuple[Store, redis.Redis]]:
    """Open a store and a client of the data in a process that has just begun."""
    load_games()
    with App(settings) as parts:
        yield parts.store, parts.data
