"""Figures of the logs and of their publishing, for operators."""

from typing import Any

import msgspec
import redis

from domain.match.leaves import time_of_leaf
from infra.redis import keys
from infra.store.closed_shards import ClosedShards
from infra.store.published_sizes import read_published_sizes


class LogFigures(msgspec.Struct, frozen=True):
    """The logs of all shards together."""

    leaves: int
    """In the logs: the sum of their ends."""
    published: int
    unpublished: int
    """Leaves that are not published yet."""
    unpublished_ms: int
    """How long ago the first of them was received; 0 if there is none."""
    faulty_shards: int
    """Shards whose log can't be published now; `matchpost doctor` says why."""
    closed_shards: int
    """Shards that take no command."""


def read_log_figures(client: redis.Redis, shards: int, now: int) -> LogFigures:
    """Return the figures in three round trips; `now` is the server's time in ms."""
    # before the ends, because what is published later may be beyond them
    published = read_published_sizes(client, shards)
    pipe: Any  # redis-py types no part of its pipelines
    with client.pipeline(transaction=False) as pipe:
        for shard, one in enumerate(published):
            pipe.xrevrange(keys.log(shard), count=1)
            pipe.xrange(keys.log(shard), f"{one.size}-0", count=1)
        found = pipe.execute()
    ends = [int(rows[0][0].split(b"-")[0]) + 1 if rows else 0 for rows in found[::2]]
    first = [rows[0][1][b"l"] for rows in found[1::2] if rows]
    times = [at for leaf in first if (at := time_of_leaf(leaf)) is not None]
    return LogFigures(
        leaves=sum(ends),
        published=sum(one.size for one in published),
        unpublished=sum(max(0, end - one.size) for one, end in zip(published, ends, strict=True)),
        unpublished_ms=max((now - at for at in times if at < now), default=0),
        faulty_shards=sum(bool(one.fault) for one in published),
        closed_shards=len(ClosedShards(client).read(range(shards))),
    )
