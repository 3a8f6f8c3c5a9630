"""Leaves that were announced, and lost before they were published: nothing can restore them, so it is said.

| field of `{sNN}:published` | what |
|---|---|
| `end`, on the queue server | end of the shard's log after the last commit whose outcomes were announced |
| `lost`, beside the data | first leaf, end and time in ms of the last loss, in decimal, with blanks between |

A failover to a replica that follows as fast as it can, or a backup, takes the last leaves back, and their indexes
are used again. The end on the queue server does not go back with the data. So a drain that gets an index below
the end that it has read before its commit knows of the loss. For shards without commits the scheduler looks.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys, scripts
from infra.redis.clients import time_ms
from infra.redis.reads import Read, read_one

logger = logging.getLogger(__name__)

SHOWN_MS: Final = 7 * 24 * 3600 * 1000
"""How long an operator is reminded of a loss."""


class LostLeaves(msgspec.Struct, frozen=True):
    """The last loss of a shard: the leaves from `first` up to `end`, not included."""

    shard: int
    first: int
    end: int
    at: int
    """When it was noticed, in ms."""

    @property
    def sentence(self) -> str:
        """Return the loss as a sentence without its end."""
        many = self.end - self.first
        leaves = f"leaf {self.first}" if many == 1 else f"{many} leaves from {self.first} on"
        verb = "was" if many == 1 else "were"
        return (
            f"shard {self.shard} has lost {leaves}, which {verb} accepted and not yet published, by a failover "
            "or a backup"
        )


def add_log_ends(pipe: Any, ends: Mapping[int, int]) -> None:
    """Add to a pipeline to the server of the queue where the logs of shards end."""
    for shard, end in ends.items():
        pipe.hset(keys.published(shard), "end", end)


class LossRecord:
    """Notes losses beside the data; `data` is a client of the matches' Redis."""

    def __init__(self, data: redis.Redis) -> None:
        self._data = data

    def note(self, shard: int, first: int, end: int) -> None:
        """Note that leaves are lost, and log an alarm; nothing if that is noted already."""
        known = [(one.first, one.end) for one in read_losses(self._data, [shard])]
        if (first, end) in known:
            return
        loss = LostLeaves(shard, first, end, time_ms(self._data))
        fields = {"lost": f"{loss.first} {loss.end} {loss.at}"}
        scripts.set_fields(self._data, keys.published(shard), fields)
        logger.error("ALARM: %s", loss.sentence)


def read_losses(data: redis.Redis, shards: Sequence[int], now: int = 0) -> list[LostLeaves]:
    """Return the last loss of each of these shards, if it was not long before `now`, in ms."""
    return read_one(data, losses_read(shards, now))


def losses_read(shards: Sequence[int], now: int = 0) -> Read[list[LostLeaves]]:
    """Return the read of the last losses; see `read_losses`."""

    def queue(pipe: Any) -> None:
        for shard in shards:
            pipe.hget(keys.published(shard), "lost")

    def parse(rows: Sequence[bytes | None]) -> list[LostLeaves]:
        pairs = zip(shards, rows, strict=True)
        losses = [LostLeaves(shard, *map(int, row.split())) for shard, row in pairs if row]
        return [one for one in losses if now - one.at < SHOWN_MS]

    return Read(queue, parse)


def losses_text(data: redis.Redis, shards: int) -> str:
    """Return the last losses of all shards as a text, which each further loss changes; empty for none."""
    return text_of_losses(read_losses(data, range(shards)))


def text_of_losses(losses: Iterable[LostLeaves]) -> str:
    """Return the text of `losses_text` for losses that were read, in the order of their shards."""
    return " ".join(f"{one.shard}:{one.first}-{one.end}@{one.at}" for one in losses)
