"""The logs of a benchmark's server, published into files."""

from pathlib import Path
from typing import Final

from bench.harness import SHARDS
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.log.published_log import PublishedLog, TileCache
from infra.objects.files import FileObjects
from infra.store.redis_store import RedisStore

_LEAVES: Final = 4_096
SECRET: Final = LogSecret("bench.example/log", bytes(32))
"""Signs the logs."""


def publish(store: RedisStore, folder: Path) -> list[int]:
    """Publish all leaves, and return the number of each shard."""
    sizes = []
    for shard in range(SHARDS):
        writer = LogWriter(FileObjects(folder), shard, [SECRET.signer(shard)])
        writer.load()
        while leaves := [leaf for _, leaf in store.leaves(shard, writer.size, _LEAVES)]:
            writer.append(leaves)
        sizes.append(writer.size)
    return sizes


def published_logs(folder: Path, cached: int) -> list[PublishedLog]:
    """Return the log of each shard, which has read nothing yet; together they cache so many bytes."""
    objects, cache = FileObjects(folder), TileCache(cached)
    return [
        PublishedLog(objects, shard, [SECRET.signer(shard).key], cache) for shard in range(SHARDS)
    ]
