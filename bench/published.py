"""The logs of a benchmark's server, published into files and trimmed."""

from pathlib import Path
from typing import Final

import redis

from bench.harness import SHARDS
from infra.log.key_files import LOG_KEY
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.objects.files import FileObjects
from infra.redis import keys
from infra.store.redis_store import RedisStore
from infra.store.watermarks import PublishedSizes

_LEAVES: Final = 4_096
SECRET: Final = LogSecret("bench.example/log", bytes(32))
"""Signs the logs."""


def publish_and_trim(client: redis.Redis, store: RedisStore, folder: Path) -> None:
    """Publish all leaves below a folder, and delete them from the server."""
    sizes = PublishedSizes(client, client)
    for shard in range(SHARDS):
        writer = LogWriter(FileObjects(folder), shard, [SECRET.signer(shard)])
        writer.load()
        while leaves := [leaf for _, leaf in store.leaves(shard, writer.size, _LEAVES)]:
            writer.append(leaves)
        sizes.record(shard, writer.size, b"")
        client.xtrim(keys.log(shard), minid=f"{writer.size}-0", approximate=False)


def write_keys(folder: Path) -> Path:
    """Write the public key of the logs, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LOG_KEY}.pub").write_text(f"{SECRET.public}\n", "utf-8")
    return folder


def bytes_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
