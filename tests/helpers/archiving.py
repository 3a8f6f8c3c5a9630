"""An archive for a test: logs published by hand into a folder, pages beside them, and retirement by hand."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from redis import Redis

from infra.archive.archive import Archive
from infra.archive.objects import PageStore, PublishedLeaves
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.log.published_log import PublishedLog
from infra.objects.files import FileObjects
from infra.objects.port import ObjectStore
from infra.store.port import Store
from workers.archived_rows import ArchivedRows
from workers.retire import Retirement

SECRET = LogSecret("example.org/log", bytes(range(32)))


def publish(store: Store, objects: ObjectStore) -> list[int]:
    """Publish all leaves of the logs in Redis; return the sizes."""
    sizes = []
    for shard in range(store.layout().shards):
        writer = LogWriter(objects, shard, [SECRET.signer(shard)])
        writer.load()
        while leaves := [leaf for _, leaf in store.leaves(shard, writer.size, 1_000)]:
            writer.append(leaves)
        sizes.append(writer.size)
    return sizes


class Archiving:
    """The archive of a store's matches."""

    def __init__(self, client: Redis, store: Store, folder: Path) -> None:
        self.objects: ObjectStore = FileObjects(folder)
        self.plain = store
        self.rows = ArchivedRows(client, store.layout().shards)
        self.store = StoreWithArchive(client, Mode.FSYNC, self.archive(), open_logs=self.open_logs)

    def leaves(self) -> PublishedLeaves:
        """Published leaves of which nothing is cached."""

        return PublishedLeaves(cache(self.log_of), parallel=False)

    def open_logs(self) -> Any:
        """The published logs, for leaves that were trimmed."""
        return SimpleNamespace(of=self.log_of)

    def log_of(self, shard: int) -> PublishedLog:
        return PublishedLog(self.objects, shard, [SECRET.signer(shard).key])

    def archive(self) -> Archive:
        """An archive that has read nothing yet."""
        shards = self.plain.layout().shards
        return Archive(lambda: (PageStore(self.objects), self.leaves()), lambda: shards)

    def retirement(self, shard: int, limit: int, after_ms: int = 0) -> Retirement:
        return Retirement(
            self.plain,
            PageStore(self.objects),
            self.leaves(),
            shard,
            limit=lambda: limit,
            after_ms=after_ms,
            rows=self.rows,
        )

    def retire(self, *shards: int, after_ms: int = 0) -> int:
        """Publish all, and retire the matches of shards, all by default; return their number."""
        done = 0
        for shard, size in enumerate(publish(self.plain, self.objects)):
            work = self.retirement(shard, size, after_ms)
            while (not shards or shard in shards) and work.step() is not None:
                pass
            done += work.retired
        return done
