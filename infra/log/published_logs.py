"""The published logs of a server, as its settings name them."""

from functools import partial

from infra.log.key_files import keys_folder, read_public_keys
from infra.log.names import shard_key
from infra.log.published_log import PublishedLog, TileCache
from infra.log.signed_note import VerifierKey
from infra.objects.location import open_objects
from infra.objects.port import ObjectStore
from infra.settings.settings import Settings


class PublishedLogs:
    """The logs of all shards, which share a cache; nothing is read before the first is asked for."""

    def __init__(self, settings: Settings, cache: TileCache | None = None) -> None:
        self._read_keys = partial(read_public_keys, keys_folder(settings))
        self._open = partial(open_objects, settings.store, settings.data)
        self._objects: ObjectStore | None = None
        self._cache = cache or TileCache()
        self._logs: dict[int, PublishedLog] = {}

    def of(self, shard: int) -> PublishedLog:
        """Return the log of a shard; `LogKeyError` and `ObjectStoreError` if it can't be read.

        Its checkpoint is that of the last `refresh`, so refresh it if it ends too early.
        """
        if shard not in self._logs:
            if self._objects is None:
                self._objects = self._open()
            read = partial(self._keys_of, shard)
            self._logs[shard] = PublishedLog(self._objects, shard, read(), self._cache, read)
        return self._logs[shard]

    def forget(self) -> None:
        """Forget all that was read, so that everything is read again, and proved again."""
        self._logs.clear()
        self._cache.clear()

    def _keys_of(self, shard: int) -> list[VerifierKey]:
        return [shard_key(key, shard) for key in self._read_keys()]
