"""The published log of a shard, read from an object store and verified by its checkpoint.

The published logs of a server, as its settings name them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Final

from cachetools import LRUCache

from infra.log import merkle
from infra.log.checkpoint import InclusionProof, LogCheckpoint, open_checkpoint
from infra.log.key_files import keys_folder, read_public_keys
from infra.log.names import CHECKPOINT, object_name, shard_key
from infra.log.signed_note import NoteError, VerifierKey
from infra.log.tiles import (
    LEVELS,
    WIDTH,
    Tile,
    bundle_path,
    fold_pairs,
    tile_of,
    unpack_bundle,
    unpack_tile,
)
from infra.objects.location import open_objects
from infra.objects.port import ObjectNotFoundError, ObjectStore
from infra.settings.settings import Settings

CACHE_BYTES: Final = 16 * 1024 * 1024

_PROVED_BYTES: Final = 1024 * 1024
"""Tiles of leaves' hashes that a log remembers as proved: about 100."""


class LogDamagedError(Exception):
    """Published objects do not fit their checkpoint; the message is a sentence."""


class TileCache:
    """Full tiles and bundles, which never change: the last used ones, of any number of logs.

    With `partial` the partial ones too, for a reader that clears it before it believes what is damaged.
    """

    def __init__(self, size: int = CACHE_BYTES, *, partial: bool = False) -> None:
        self.partial = partial
        self._found: LRUCache[str, list[bytes]] = LRUCache(size, lambda rows: sum(map(len, rows)))
        self._lock = Lock()

    def read(self, name: str, read: Callable[[], list[bytes]]) -> list[bytes]:
        """Return a tile or bundle; `read` reads one that is not cached."""
        with self._lock:
            found = self._found.get(name)
        if found is None:
            found = read()
            with self._lock:
                if sum(map(len, found)) <= self._found.maxsize:
                    self._found[name] = found
        return found

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._found.clear()


class PublishedLog:
    """One shard's log at the size of the checkpoint that `refresh` has read last.

    Errors of the object store pass through; what does not fit raises `LogDamagedError`, and a checkpoint
    that none of `keys` has signed `NoteError`. The first of `keys` is named as the log is. `read_keys`
    reads them again, for checkpoints by a newer key; its errors pass through.
    """

    def __init__(
        self,
        objects: ObjectStore,
        shard: int,
        keys: Sequence[VerifierKey],
        cache: TileCache | None = None,
        read_keys: Callable[[], Sequence[VerifierKey]] | None = None,
    ) -> None:
        self.shard = shard
        self.note = b""
        """The checkpoint as it is published; empty before the first one."""
        self.checkpoint: LogCheckpoint | None = None
        self._objects = objects
        self._keys = keys
        self._read_keys = read_keys
        self._cache = cache or TileCache()
        self._proved = TileCache(_PROVED_BYTES)

    @property
    def size(self) -> int:
        """Return the number of published leaves."""
        return self.checkpoint.size if self.checkpoint else 0

    def refresh(self) -> int:
        """Read the checkpoint and return its size; 0 if nothing is published."""
        try:
            note = self._objects.get(object_name(self.shard, CHECKPOINT))
        except ObjectNotFoundError:
            note = b""
        if note != self.note:
            self.set_checkpoint(note)
        return self.size

    def set_checkpoint(self, note: bytes) -> None:
        """Use this checkpoint, which must be signed."""
        found = self._open(note) if note else None
        self.note, self.checkpoint = note, found
        self._proved = TileCache(_PROVED_BYTES)  # by the checkpoint before

    def _open(self, note: bytes) -> LogCheckpoint:
        try:
            return open_checkpoint(note, self._keys[0].name, self._keys)
        except NoteError:
            if self._read_keys is None:
                raise
        self._keys = self._read_keys()
        return open_checkpoint(note, self._keys[0].name, self._keys)

    def bundle(self, number: int) -> list[bytes]:
        """Return the leaves of a bundle, as they are in the store: see `verify_bundle`."""
        width = min(WIDTH, self.size - number * WIDTH)
        if width <= 0 or number < 0:
            raise IndexError(f"a log of {self.size} leaves has no bundle {number}")

        def read(of_width: int) -> list[bytes]:
            name = object_name(self.shard, bundle_path(number, of_width))
            try:
                found = unpack_bundle(self._objects.get(name))
            except ValueError as error:
                raise LogDamagedError(f"{name}: {error}") from error
            if len(found) != of_width:
                raise LogDamagedError(f"{name} has {len(found)} leaves, not {of_width}")
            return found

        return self._read_full_or(bundle_path(number), read, width)

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        """Return the leaves from `start` up to `end`, verified, bundle by bundle."""
        for number in range(start // WIDTH, -(-end // WIDTH)):
            first = number * WIDTH
            rows = self.verify_bundle(number)
            yield from rows[max(0, start - first) : end - first]

    def leaf(self, index: int) -> bytes:
        """Return one leaf, as it is in the store: see `inclusion`."""
        return self.bundle(index // WIDTH)[index % WIDTH]

    def verify_bundle(self, number: int) -> list[bytes]:
        """Return the leaves of a bundle, after proving that they are in the tree of the checkpoint."""
        rows = self.bundle(number)
        if [merkle.leaf_hash(row) for row in rows] != self.proved_hashes(number):
            raise LogDamagedError(
                f"shard {self.shard}: bundle {number} does not fit its tile of hashes"
            )
        return rows

    def proved_hashes(self, number: int) -> list[bytes]:
        """Return the hashes of a bundle's leaves, after proving that they are in the checkpoint's tree."""

        def prove() -> list[bytes]:
            found = self.hashes(tile_of(0, number * WIDTH, self.size))
            # the path of one leaf is made of all hashes of its tile
            self.inclusion(number * WIDTH)
            return found

        return self._proved.read(str(number), prove)

    def inclusion(self, index: int) -> InclusionProof:
        """Return the proof that a leaf is in the log, after verifying it."""
        if self.checkpoint is None or not 0 <= index < self.size:
            raise IndexError(f"a log of {self.size} leaves has no leaf {index}")
        proof = merkle.inclusion_proof(index, self.size, self.node)
        root = self.checkpoint.root
        try:
            merkle.verify_inclusion(self.node(0, index), index, self.size, proof, root)
        except ValueError as error:
            raise LogDamagedError(
                f"shard {self.shard}: the tiles do not fit the checkpoint at leaf {index}: {error}"
            ) from error
        return InclusionProof(index, tuple(proof), self.note.decode())

    def node(self, level: int, number: int) -> bytes:
        """Return the hash of a complete node; the reader for `infra.log.merkle`."""
        below, height = divmod(level, LEVELS)
        first = number << height
        hashes = self.hashes(tile_of(below, first, self.size))
        return fold_pairs(hashes[first % WIDTH :][: 1 << height])

    def hashes(self, tile: Tile) -> list[bytes]:
        """Return the hashes of a tile, as they are in the store."""

        def read(width: int) -> list[bytes]:
            name = object_name(self.shard, Tile(tile.level, tile.number, width).path)
            try:
                return unpack_tile(self._objects.get(name), width)
            except ValueError as error:
                raise LogDamagedError(f"{name}: {error}") from error

        return self._read_full_or(Tile(tile.level, tile.number).path, read, tile.width)

    def _read_full_or(
        self, path: str, read: Callable[[int], list[bytes]], width: int
    ) -> list[bytes]:
        """Return the first `width` rows of a tile or bundle.

        A partial one is deleted after the full one is written, which begins with the same rows.
        """
        name = object_name(self.shard, path)
        if width < WIDTH:
            try:
                if not self._cache.partial:
                    return read(width)
                return self._cache.read(f"{name}.p/{width}", lambda: read(width))
            except ObjectNotFoundError:
                pass
        full = self._cache.read(name, lambda: read(WIDTH))
        return full[:width]


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
