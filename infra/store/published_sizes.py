"""How far the log of each shard is published, recorded beside the data and on the queue server.

The record of the data goes back when the data are rolled back. That of the queue server does not, and
may be lost; the publisher writes it again with each run. The checkpoint in the object store is the truth.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from infra.process.failpoints import failpoint
from infra.redis import keys, scripts
from infra.redis.reads import Read, read_one

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

    def recorded(self, shard: int) -> tuple[PublishedSize, PublishedSize]:
        """Return the records of a shard beside the data and on the queue server."""
        data, queue = (
            _read(client.hmget(keys.published(shard), *_FIELDS))
            for client in (self._data, self._queue)
        )
        return data, queue


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
