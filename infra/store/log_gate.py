"""The gate: no commit is written to a log that has lost published leaves.

A failover, or a backup, may take back leaves that are published and signed. Another leaf at the index of
one of them would fork the log. So a drain knows how many leaves of each shard are published, passes
that number with its commits, and the commit script refuses to write below it, or to a closed shard. So
nobody has to look at the data before most commands are decided.

The number is on the queue server and beside the data: the first does not go back with the data, the
second is read where the queue server was started empty. A process never forgets a greater one.

What was not published can't be kept from being lost. It is noticed: `infra.store.lost_leaves`.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import redis

from infra.redis import keys
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.lost_leaves import LossRecord

LOOK_SECONDS: Final = 0.75
"""How long what was read of a shard is used."""


class LogGate:
    """The published sizes and the closed shards; `data` is of the matches' Redis, `queue` of RQ's."""

    def __init__(
        self,
        data: redis.Redis,
        queue: redis.Redis,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data = data
        self._queue = queue
        self._timer = timer
        self._shards = ClosedShards(data)
        self._sizes: dict[int, int] = {}
        self._losses = LossRecord(data)
        self._ends: dict[int, int] = {}
        """Where the log of a shard ended after the last commit that is known."""
        self._closed: set[int] = set()
        """The shards that were closed when they were last looked at, or when a commit was refused."""
        self._read: dict[int, float] = {}
        """When the published size of a shard was read."""
        self._looked: dict[int, float] = {}
        """When a shard was looked at."""

    def published(self, shard: int) -> int:
        """Return how many leaves of a shard's log are published, as far as is known."""
        return self._sizes.get(shard, 0)

    def closed_among(self, shards: Collection[int]) -> set[int]:
        """Return those of these shards that are known to be closed, as of `LOOK_SECONDS` ago or later.

        Reads the published sizes as well. The commit script knows of the other shards whether they are closed.
        """
        old = self._old(self._read, shards)
        if old:
            # before the commits that they are compared with
            self._ends |= self._read_published(old)
        return self.look(self._closed.intersection(shards))

    def look(self, shards: Collection[int]) -> set[int]:
        """Return those of these shards that are closed, and close those whose logs have lost leaves.

        For draws, too: data that lack the newest draws seem to need another chain of seeds.
        """
        old = self._old(self._looked, shards)
        if old:
            self._read_published(old)
            # after the sizes, because a log only grows
            for shard, end in zip(old, read_ends(self._data, old), strict=True):
                if end < self.published(shard):
                    self.close(shard, end)
            self._closed -= set(old)
            self._closed |= set(self._shards.read(old))
            self._looked.update(dict.fromkeys(old, self._timer()))
        return self._closed.intersection(shards)

    def close(self, shard: int, end: int) -> None:
        """Close a shard whose log ends at `end`, before its published size."""
        self._shards.close(shard, rolled_back(shard, self.published(shard), end))
        self.note_closed(shard)

    def note_closed(self, shard: int) -> None:
        """Note that a shard is closed."""
        self._closed.add(shard)
        self._looked[shard] = self._timer()

    def note_commit(self, shard: int, first: int, end: int) -> None:
        """Note that a commit has written the leaves from `first` to `end`, and whether others were lost there."""
        if first < self._ends.get(shard, 0):
            self._losses.note(shard, first, self._ends[shard])
        self._ends[shard] = end

    def _old(self, at: dict[int, float], shards: Collection[int]) -> list[int]:
        """Return the shards that were not read or looked at for `LOOK_SECONDS`."""
        since = self._timer() - LOOK_SECONDS
        return [shard for shard in shards if at.get(shard, since) <= since]

    def _read_published(self, shards: Sequence[int]) -> dict[int, int]:
        """Read the published sizes; return the ends that the queue server has."""
        found = self._read_fields(self._queue, shards)
        unknown = [shard for shard, (size, _) in found.items() if size is None]
        for rows in (found, self._read_fields(self._data, unknown)):
            for shard, (size, _) in rows.items():
                self._sizes[shard] = max(size or 0, self.published(shard))
        self._read.update(dict.fromkeys(shards, self._timer()))
        return {shard: end for shard, (_, end) in found.items() if end is not None}

    def _read_fields(
        self, client: redis.Redis, shards: Sequence[int]
    ) -> dict[int, tuple[int | None, int | None]]:
        """Return published size and end of logs, as a server has them; None where it has none."""
        if not shards:
            return {}
        with client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.hmget(keys.published(shard), "size", "end")
            rows = pipe.execute()
        return {
            shard: (_number(size), _number(end))
            for shard, (size, end) in zip(shards, rows, strict=True)
        }


def _number(text: bytes | None) -> int | None:
    return None if text is None else int(text)


def read_ends(data: redis.Redis, shards: Sequence[int]) -> list[int]:
    """Return the index of the next leaf of each log; a log that nothing was ever added to is no key."""
    with data.pipeline(transaction=False) as pipe:
        for shard in shards:
            pipe.exists(keys.log(shard))
        there = [shard for shard, found in zip(shards, pipe.execute(), strict=True) if found]
        for shard in there:
            pipe.xinfo_stream(keys.log(shard))
        found: list[Any] = pipe.execute()
    ends = {shard: _end(info) for shard, info in zip(there, found, strict=True)}
    return [ends.get(shard, 0) for shard in shards]


def _end(info: Any) -> int:
    return int(info["last-generated-id"].split(b"-")[0]) + 1
