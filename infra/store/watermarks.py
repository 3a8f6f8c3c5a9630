"""Watermarks, and the floors of the shards' clocks that keep their promise.

A watermark is written into each shard as its floor, before which `submit.lua` receives nothing. Each raise
is a sync of the server. So floors are raised in steps, and only while there may be leaves that are not
older than they are: a server that rests writes nothing.

How far the log of each shard is published, recorded beside the data and on the queue server.

The record of the data goes back when the data are rolled back. That of the queue server does not, and
may be lost; the publisher writes it again with each run. The checkpoint in the object store is the truth.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import redis

from infra.process.failpoints import failpoint
from infra.redis import keys, scripts
from infra.redis.clients import Clock
from infra.redis.reads import Read, read_one
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


_FIELDS: Final = ("size", "root", "fault")


class PublishedSize(msgspec.Struct, frozen=True):
    """The record of a shard."""

    size: int = 0
    root: bytes = b""
    """Empty before anything was published."""
    fault: str = ""
    """Why nothing is published now, in a sentence; empty if all is well."""


class PublishedSizes:
    """Reads and writes the records; `data` is a client of the matches' Redis, `queue` of RQ's."""

    def __init__(self, data: redis.Redis, queue: redis.Redis) -> None:
        self._data = data
        self._queue = queue

    def record(self, shard: int, size: int, root: bytes) -> None:
        """Record that so many leaves are published; a smaller size than the recorded one is ignored.

        On the queue server first, because the server of the data may die between: then its successor lacks
        leaves that are published, and the gate has to know that before another leaf takes their place.
        """
        names = [keys.published(shard)]
        args: list[scripts.Arg] = [size, root.hex()]
        scripts.call(self._queue, scripts.RECORD_PUBLISHED, names, args)
        failpoint("publish.stored")
        scripts.call(self._data, scripts.RECORD_PUBLISHED, names, args)

    def record_fault(self, shard: int, fault: str) -> None:
        """Record why a shard's log is not published."""
        scripts.set_fields(self._data, keys.published(shard), {"fault": fault})

    def recorded(self, shards: Sequence[int]) -> dict[int, tuple[PublishedSize, PublishedSize]]:
        """Return the records of each of these shards, beside the data and on the queue server."""
        read = published_sizes_read(shards)
        data, queue = read_one(self._data, read), read_one(self._queue, read)
        return dict(zip(shards, zip(data, queue, strict=True), strict=True))


def read_published_sizes(client: redis.Redis, shards: int) -> list[PublishedSize]:
    """Return the records of all shards on one of the servers."""
    return read_one(client, published_sizes_read(range(shards)))


def published_sizes_read(shards: Sequence[int]) -> Read[list[PublishedSize]]:
    """Return the read of the records of these shards."""

    def queue(pipe: Any) -> None:
        for shard in shards:
            pipe.hmget(keys.published(shard), *_FIELDS)

    return Read(queue, lambda rows: list(map(_read, rows)))


def _read(row: Any) -> PublishedSize:
    size, root, fault = row
    return PublishedSize(
        int(size or 0), bytes.fromhex((root or b"").decode()), (fault or b"").decode()
    )
