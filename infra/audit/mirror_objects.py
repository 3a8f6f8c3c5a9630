"""The logs of a mirror: a folder of shards or of one, or the address of a server's published logs."""

import re
from pathlib import Path
from typing import Final

from infra.log.checkpoint import LogCheckpoint
from infra.log.names import CHECKPOINT, folder, object_name
from infra.log.signed_note import split_note
from infra.objects.files import FileObjects
from infra.objects.http import HttpObjects
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.redis.keys import MOST_SHARDS

_SHARD: Final = re.compile(r"s[0-9]{2,3}")


class MirrorObjects:
    """The objects of a mirror, by the names that they have in an object store.

    What is read over HTTP is kept in the folder `kept`, so that it is read once; the others are read where they are.
    """

    def __init__(self, where: str, kept: Path) -> None:
        self._source: ObjectStore
        self._kept: FileObjects | None = None
        self._one = ""
        """The folder that all names begin with, in a mirror of one shard."""
        if "://" in where:
            self._source, self._kept = HttpObjects(where), FileObjects(kept)
            lone = bool(_SHARD.fullmatch(where.rstrip("/").rpartition("/")[2]))
        else:
            self._source = FileObjects(Path(where))
            lone = (Path(where) / CHECKPOINT).is_file()
        self.where = where
        if lone:
            self._one = f"{folder(self._shard_of_checkpoint())}/"

    def shards(self) -> list[int]:
        """Return the shards that the mirror has, at least one; `ObjectStoreError` without any."""
        if self._one:
            return [int(self._one[1:-1])]
        found = (
            [shard for shard in range(MOST_SHARDS) if self._has(shard)] if not self._kept else []
        )
        while self._kept and len(found) < MOST_SHARDS and self._has(len(found)):
            found.append(len(found))
        if not found:
            raise ObjectStoreError(
                f"{self.where} has no published log: there is no {folder(0)}/{CHECKPOINT}"
            )
        return found

    def get(self, name: str) -> bytes:
        """Return an object."""
        if self._kept is None:
            return self._source.get(name.removeprefix(self._one))
        try:
            return self._kept.get(name)
        except ObjectNotFoundError:
            data = self._source.get(name.removeprefix(self._one))
        self._kept.create(name, data)
        return data

    def _has(self, shard: int) -> bool:
        try:
            self.get(object_name(shard, CHECKPOINT))
        except ObjectNotFoundError:
            return False
        return True

    def _shard_of_checkpoint(self) -> int:
        """Return the shard whose log the only checkpoint is of."""
        found = LogCheckpoint.parse(split_note(self._source.get(CHECKPOINT))[0])
        name = found.origin.rpartition("/")[2]
        if not _SHARD.fullmatch(name):
            raise ObjectStoreError(f"{self.where} is of {found.origin}, which isn't a shard's log")
        return int(name[1:])
