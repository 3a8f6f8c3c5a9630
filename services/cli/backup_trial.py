"""The trial of a backup: it is restored into a folder of its own, started there, and verified like a server.

The data of the copy are brought up to the published log first, as a start of `serve` does.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from infra.backup.copying import SEEDS
from infra.backup.notes import BackupPlace
from infra.backup.port import BackupError
from infra.backup.restoring import begin_restore, finish_restore, write_files
from infra.durability.mode import Mode
from infra.log.key_files import FOLDER_NAME as KEYS
from infra.log.published_log import PublishedLogs
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.discarded_leaves import RestoredLeaves
from infra.store.log_gate import read_ends
from infra.valkey.server import EmbeddedServer
from services.app.backups import read_backups
from services.app.context import App
from services.cli import verify_all
from services.cli.verify import VerifyReport
from workers.log.restore import ShardRestorer


def try_backup(settings: Settings, id_: str) -> VerifyReport:
    """Restore a backup into a scratch folder, verify everything in it, and return the report.

    Errors of the stores and of the embedded server pass through; `BackupError` if it can't be restored.
    """
    source = read_backups(settings)
    with _scratch(BackupPlace(settings.data).scratch) as scratch:
        made = source.read(id_)
        copy = replace(
            settings,
            data=scratch,
            redis_url=None,
            durability=Mode.FSYNC if settings.durability.durable else Mode.NONE,
            # the copy never publishes: its log is only read, by the keys that the server has
            store=None if made.has_log else settings.store,
            keys=scratch / KEYS,
            seeds=scratch / SEEDS,
            mail_key=None,
        )
        begin_restore(scratch)
        write_files(source, made, copy)
        finish_restore(scratch)
        with EmbeddedServer(scratch, name="backup", durable=copy.durability.durable) as server:
            copy = replace(copy, queue_url=server.url)
            _restore_published(copy)
            return verify_all.run(copy)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Yield an empty folder, which is removed in the end."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _restore_published(settings: Settings) -> None:
    """Write the leaves into the data that only the published log has, because it was copied later."""
    if not settings.durability.durable:
        return
    with App(settings) as parts:
        store, closed = parts.store, ClosedShards(parts.data)
        shards = range(store.shards)
        logs = PublishedLogs(settings)
        for shard, end in zip(shards, read_ends(parts.data, shards), strict=True):
            log = logs.of(shard)
            if log.refresh() <= end:
                continue
            restorer = ShardRestorer(store, RestoredLeaves(parts.data, store.layout()), closed, log)
            while not restorer.step():
                continue
            if shard in (why := closed.read([shard])):
                raise BackupError(why[shard].reason)
