"""Watermarks, and the floors of the shards' clocks that keep their promise.

A watermark is written into each shard as its floor, before which `submit.lua` receives nothing. Each raise
is a sync of the server. So floors are raised in steps, and only while there may be leaves that are not
older than they are: a server that rests writes nothing.
"""

from typing import Final, NamedTuple

import redis

from infra.redis import keys, scripts
from infra.redis.clients import Clock
from infra.store.port import MOST_AHEAD_MS, Watermark

FLOOR_STEP_MS: Final = 250
"""By how much a floor is raised at least. It delays what has to be in order by as much."""

FLOOR_MS: Final = 60_000
"""How far floors may stay behind the time on a server without new leaves."""


class _Floors(NamedTuple):
    """The floors of all shards, before which nothing more can come."""

    at: int
    """The least of them, ms."""
    ends: tuple[int, ...]
    """Of the logs, read with them."""
    now: int
    """The server's time, or the greatest floor if that is ahead."""
    possible: int
    """Up to where all of them could be raised."""


class WatermarkReader:
    """Reads watermarks; `clock` returns the time in ms in place of the server's, for tests."""

    def __init__(self, client: redis.Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock
        self._quiet_since: tuple[tuple[int, ...], int] | None = None
        """The ends of the logs, and a time at which they were there: no later leaf is known."""

    def watermark(self, shards: int, beyond: int) -> Watermark:
        """Return up to when the logs of so many shards are complete; see `Store.watermark`."""
        read = self._read(shards)
        if self._quiet_since is None or self._quiet_since[0] != read.ends:
            self._quiet_since = (read.ends, read.now)
        needed = read.at <= max(self._quiet_since[1], beyond) or read.now - read.at > FLOOR_MS
        if needed and read.possible >= read.at + FLOOR_STEP_MS:
            read = self._read(shards, str(FLOOR_STEP_MS))
        return Watermark(read.at, read.ends)

    def _read(self, shards: int, step: str = "") -> _Floors:
        """Return the floors, each raised if that is at least `step` ms; empty for none."""
        now = "" if self._clock is None else str(self._clock())
        calls: list[scripts.Call] = [
            (
                scripts.WATERMARK,
                [keys.inbox(shard), keys.log(shard), keys.floor(shard)],
                [now, MOST_AHEAD_MS, step],
            )
            for shard in range(shards)
        ]
        floors, ends, times, possible = zip(*scripts.call_all(self._client, calls), strict=True)
        return _Floors(min(floors), ends, max(times), min(possible))
