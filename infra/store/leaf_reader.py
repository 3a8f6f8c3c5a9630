"""Reads leaves of the shards' logs: from the streams, and those that were trimmed from the published logs."""

from collections.abc import Mapping, Sequence
from typing import Any

import redis
from redis.exceptions import OutOfMemoryError, ResponseError

from infra.redis import keys, scripts
from infra.redis.cluster import in_cluster
from infra.store.durable_scripts import DurableScripts
from infra.store.log_streams import log_streams, read_leaves, read_log_streams, read_streams
from infra.store.port import NotDurable
from infra.store.trimmed_leaves import TrimmedLeaves


class LeafReader:
    """Reads leaves; see the methods of `infra.store.port.Store` about them."""

    def __init__(
        self, client: redis.Redis, durably: DurableScripts, trimmed: TrimmedLeaves
    ) -> None:
        self._client = client
        self._durably = durably
        self._trimmed = trimmed

    def read(self, shard: int, start: int, count: int) -> list[tuple[int, bytes]]:
        """Return leaves of a shard, each with its index."""
        if self._trimmed.covers(shard, start + count):
            return self._trimmed.read(shard, start, start + count)
        found: Any = self._client.xrange(keys.log(shard), f"{start}-0", "+", count=count)
        rows = read_leaves(found)
        if rows and rows[0][0] > start and self._is_trimmed(shard, rows[0][0]):
            before = self._trimmed.read(shard, start, min(rows[0][0], start + count))
            rows = [*before, *rows][:count]
        return rows

    def _is_trimmed(self, shard: int, first: int) -> bool:
        """Return whether the log begins with the leaf `first`; else one in the middle is lost."""
        found: Any = self._client.xrange(keys.log(shard), count=1)
        return bool(found) and int(found[0][0].split(b"-")[0]) == first

    def read_durable(
        self, starts: Mapping[int, int], count: int, *, expected: bool = False
    ) -> dict[int, list[tuple[int, bytes]]]:
        """Return leaves of several shards that are durable; `NotDurable` if that is not confirmed.

        Where leaves are `expected` nobody looks first whether there are any.
        """
        if not self._durably.have_barrier:
            return self.following(starts, count)
        new = starts if expected else self.following(starts, 1)
        ranges = {shard: (f"{starts[shard]}-0", "+") for shard in new}
        rows, confirmed = self._read_with_barrier(ranges, count) if ranges else ({}, True)
        if not confirmed:
            raise NotDurable("the server did not confirm that the leaves it has shown are on disk")
        return {shard: leaves for shard, leaves in rows.items() if leaves}

    def are_durable(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        """Return whether no failover takes back these leaves, by shard and each with its index.

        A server that syncs each write before it answers shows no other. But it shows a write before its
        replicas have it.
        """
        if not leaves or not self._durably.have_replicas:
            return True
        try:
            return self._confirm(leaves)
        except ResponseError:  # a primary without enough replicas takes no write
            return False

    def _confirm(self, leaves: Mapping[int, Sequence[tuple[int, bytes]]]) -> bool:
        """Return whether these leaves are still there, and durable.

        They are read again, because since the first time another server may have taken the place of theirs.
        """
        again, confirmed = self._read_with_barrier(
            {shard: (f"{rows[0][0]}-0", f"{rows[-1][0]}-1") for shard, rows in leaves.items()}
        )
        return confirmed and all(self._are_same(one, leaves[one], again[one]) for one in leaves)

    def _read_with_barrier(
        self,
        ranges: Mapping[int, tuple[str, str]],
        count: int | None = None,
        write: Sequence[str | int] = ("HSET",),
    ) -> tuple[dict[int, list[tuple[int, bytes]]], bool]:
        """Return the leaves between two ids of each shard, and whether the barrier confirms them.

        The barrier covers what its connection has written, so it writes after it has read.
        """
        full = ("EVAL", scripts.SET_FIELDS.source, 1)
        pipe: Any  # redis-py does not type a command by its words
        with self._client.pipeline(transaction=False) as pipe:
            for shard, (start, end) in ranges.items():
                pipe.xrange(keys.log(shard), start, end, count)
            # in a cluster to the node of each shard
            for shard in ranges if in_cluster(self._client) else [min(ranges)]:
                start = ranges[shard][0].removesuffix("-0")
                pipe.execute_command(*write, keys.shown(shard), "from", start)
            self._durably.append_barrier(pipe)
            try:
                replies = pipe.execute()
            except OutOfMemoryError:
                if write == full:
                    raise
                return self._read_with_barrier(ranges, count, full)
        rows = map(read_leaves, replies[: len(ranges)])
        return dict(zip(ranges, rows, strict=True)), self._durably.confirms(replies[-1])

    def _are_same(
        self, shard: int, before: Sequence[tuple[int, bytes]], rows: Sequence[tuple[int, bytes]]
    ) -> bool:
        """Return whether all leaves were read again, but for trimmed ones."""
        missing = len(before) - len(rows)
        trimmed = missing == 0 or self._trimmed.covers(shard, before[missing - 1][0] + 1)
        return trimmed and list(before[missing:]) == list(rows)

    def at(self, shard: int, indexes: Sequence[int]) -> list[bytes | None]:
        """Return leaves by their indexes, in one round trip; None for missing ones."""
        with self._client.pipeline(transaction=False) as pipe:
            for index in indexes:
                pipe.xrange(keys.log(shard), f"{index}-1", f"{index}-1")
            found = [rows[0][1][b"l"] if rows else None for rows in pipe.execute()]
        return [
            self._trimmed.find(shard, index) if leaf is None else leaf
            for index, leaf in zip(indexes, found, strict=True)
        ]

    def following(
        self, starts: Mapping[int, int], count: int
    ) -> dict[int, list[tuple[int, bytes]]]:
        """Return leaves of several shards in one round trip."""
        return read_log_streams(read_streams(self._client, log_streams(starts), count), starts)
