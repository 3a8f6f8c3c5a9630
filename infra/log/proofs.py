"""Proofs and checkpoints of the published logs of all shards; thread-safe, unlike one `PublishedLog`."""

import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from infra.log.checkpoint import InclusionProof
from infra.log.key_files import LogKeyError
from infra.log.merkle import leaf_hash
from infra.log.names import shard_key
from infra.log.published_log import LogDamagedError, PublishedLog, TileCache
from infra.log.signed_note import NoteError, VerifierKey
from infra.objects.port import ObjectStore, ObjectStoreError

logger = logging.getLogger(__name__)


class LogProofs:
    """Reads from the logs of all shards, always by their newest checkpoints.

    `read_keys` returns the public keys under their common name. Its methods raise `LogKeyError` if the server
    publishes no log, `ObjectStoreError` if it can't be read now, and `LogDamagedError` and `NoteError` if what
    is published is damaged.
    """

    def __init__(
        self,
        open_objects: Callable[[], ObjectStore],
        read_keys: Callable[[], Sequence[VerifierKey]],
    ) -> None:
        self._open_objects = open_objects
        self._read_keys = read_keys
        self._cache = TileCache()

    def prove(self, shard: int, index: int, leaf: bytes) -> InclusionProof | None:
        """Return the proof of a leaf, with its bytes as `extra`; None while it is not published."""
        log = self._open(shard)
        if log.size <= index:
            return None
        if log.node(0, index) != leaf_hash(leaf):
            raise LogDamagedError(f"shard {shard}: another leaf is published at index {index}")
        return replace(log.inclusion(index), extra=leaf)

    def checkpoint_if_any(self, shard: int) -> str:
        """Return the signed checkpoint; empty if nothing is published, or it can't be read now."""
        try:
            return self._open(shard).note.decode()
        except LogKeyError:
            return ""
        except (ObjectStoreError, NoteError) as error:
            logger.warning("the checkpoint of shard %d can't be read: %s", shard, error)
            return ""

    def _open(self, shard: int) -> PublishedLog:
        # one for each call: its checkpoint must not change between two reads
        keys = [shard_key(key, shard) for key in self._read_keys()]
        log = PublishedLog(self._open_objects(), shard, keys, self._cache)
        log.refresh()
        return log
