"""The part of a server's status that each shard has: its inbox, and its reminders and flags."""

from typing import Any, Final

import msgspec
import redis

from infra.redis import keys

OVERDUE_MS: Final = 60_000
"""Milliseconds after which a missing reminder or flag is reported; a tick takes one second."""


class ShardStatus(msgspec.Struct, frozen=True):
    """The inbox of a shard, and its reminders and flags."""

    number: int
    waiting: int
    """Commands in the inbox."""
    oldest: int | None
    """When the oldest entry was received, in ms by the server's clock."""
    aside: int
    """Entries that could not be decoded."""
    tries: int
    """The most attempts at any entry that failed; 0 if none failed."""
    overdue: int = 0
    """Matches whose reminder or flag has been due for more than a minute."""
    due: int | None = None
    """When the next reminder or flag is due, in ms by the server's clock."""
    floor: int = 0
    """No command is received before this time, in ms, even if the server's clock is behind it."""


def read_shards(client: redis.Redis, shards: int, now: int) -> tuple[ShardStatus, ...]:
    """Return the status of all shards in one round trip; `now` is the server's time in ms."""
    with client.pipeline(transaction=False) as pipe:
        for number in range(shards):
            pipe.xlen(keys.inbox(number))
            pipe.xrange(keys.inbox(number), count=1)
            pipe.xlen(keys.dead_letters(number))
            pipe.hvals(keys.attempts(number))
            pipe.zcount(keys.due(number), 0, now - OVERDUE_MS)
            pipe.zrange(keys.due(number), 0, 0, withscores=True)
            pipe.get(keys.floor(number))
        replies = iter(pipe.execute())
    return tuple(_shard(number, row) for number, row in enumerate(zip(*[replies] * 7, strict=True)))


def _shard(number: int, row: tuple[Any, ...]) -> ShardStatus:
    waiting, first, aside, tries, overdue, due, floor = row
    return ShardStatus(
        number,
        waiting,
        int(first[0][1].get(b"t", 0)) if first else None,
        aside,
        tries=max(map(int, tries), default=0),
        overdue=overdue,
        due=int(due[0][1]) if due else None,
        floor=int(floor or 0),
    )
