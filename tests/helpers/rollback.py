"""Data that go back: a copy of everything on a server, put back later; and a published log."""

from collections.abc import Callable, Mapping
from typing import Any

from redis import Redis

from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret, shard_key
from infra.log.published_log import PublishedLog
from infra.redis.cluster import servers_of
from infra.store.closed_shards import ClosedShards
from infra.store.discarded_leaves import RestoredLeaves
from infra.store.port import Store
from tests.fakes.memory_store import MemoryObjects
from workers.log.restore import ShardRestorer

SECRET = LogSecret("play.example.org/log", bytes(range(32)))
Copy = Mapping[bytes, tuple[int, bytes]]


def names_of(client: Redis, pattern: str) -> list[bytes]:
    """The keys that match a pattern, of all nodes of a cluster."""
    found: list[bytes] = []
    for server in servers_of(client):
        found += server.keys(pattern)  # type: ignore[arg-type]
    return sorted(found)


def copy_of(client: Redis) -> Copy:
    return {name: (max(0, client.pttl(name)), client.dump(name)) for name in names_of(client, "*")}


def put_back(client: Redis, copy: Copy) -> None:
    """Have a server as it was when the copy was made."""
    for server in servers_of(client):
        server.flushall()
    for name, (life, value) in copy.items():
        client.restore(name, life, value)


def publish(objects: MemoryObjects, store: Store, shard: int, size: int | None = None) -> int:
    """Publish a shard's log, up to a size or whole; return the published size."""
    writer = LogWriter(objects, shard, [SECRET.signer(shard)])
    writer.load()
    leaves = [leaf for _, leaf in store.leaves(shard, writer.size, 1_000_000)]
    if leaves:
        writer.append(leaves[: None if size is None else size - writer.size])
    return writer.size


def published_log(objects: MemoryObjects, shard: int) -> PublishedLog:
    log = PublishedLog(objects, shard, [shard_key(SECRET.public, shard)])
    log.refresh()
    return log


def restorer(client: Redis, store: Store, objects: MemoryObjects, shard: int) -> ShardRestorer:
    written = RestoredLeaves(client, store.layout())
    return ShardRestorer(store, written, ClosedShards(client), published_log(objects, shard))


def content(client: Redis, name: bytes) -> Any:
    """All that a key has."""
    readers: dict[bytes, Callable[[bytes], Any]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"zset": lambda name: client.zrange(name, 0, -1, withscores=True),
        b"list": lambda name: client.lrange(name, 0, -1),
        b"set": client.smembers,
        b"stream": client.xrange,
    }
    kind: Any = client.type(name)
    return readers[kind](name)


def read_all(client: Redis, pattern: str) -> dict[str, Any]:
    return {name.decode(): content(client, name) for name in names_of(client, pattern)}
