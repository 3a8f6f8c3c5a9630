"""Reads leaves of the shards' logs: from the streams, and those that were trimmed from the published logs."""

from collections.abc import Mapping, Sequence
from typing import Any

import redis
from redis.exceptions import ResponseError

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
        self, starts: Mapping[int, int], count: int
    ) -> dict[int, list[tuple[int, bytes]]]:
        """Return leaves of several shards that are durable; `NotDurable` if that is not confirmed."""
        found = self.following(starts, count)
        if found and self._durably.have_barrier and not self._confirm(found):
            raise NotDurable("the server did not confirm that the leaves it has shown are on disk")
        return found

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

        They are read again on the connection of the barrier: since the first time another server may have
        taken the place of theirs. The barrier covers what its connection has written, so it writes after it has read.
        """
        with self._client.pipeline(transaction=False) as pipe:
            for shard, rows in leaves.items():
                pipe.xrange(keys.log(shard), f"{rows[0][0]}-0", f"{rows[-1][0]}-1")
            # in a cluster to the node of each shard; and of a kind that is done with a full memory, too
            for shard in leaves if in_cluster(self._client) else [min(leaves)]:
                words = [keys.shown(shard), "from", str(leaves[shard][0][0])]
                pipe.eval(scripts.SET_FIELDS.source, 1, *words)
            self._durably.append_barrier(pipe)
            replies = pipe.execute()
        again = zip(leaves, map(read_leaves, replies[: len(leaves)]), strict=True)
        same = all(self._are_same(shard, leaves[shard], rows) for shard, rows in again)
        return same and self._durably.confirms(replies[-1])

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
