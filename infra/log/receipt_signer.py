"""Signs receipts by the key in a folder of keys."""

import logging
import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from domain.match.leaves import NO_HASH
from infra.log.key_files import RECEIPTS_KEY, LogKeyError, read_receipt_secrets
from infra.log.names import LogSecret, origin
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.log.signed_note import Signer

logger = logging.getLogger(__name__)

_FILES: Final = (RECEIPTS_KEY, f"{RECEIPTS_KEY}.old")


class ReceiptSigner:
    """Signs receipts. It reads the keys when a receipt is asked for, and again when their files change.

    Thread-safe. A key that is missing or can't be used means that there are no receipts; it never raises.
    """

    def __init__(self, folder: Path) -> None:
        self._files = [folder / name for name in _FILES]
        # so many states are not there at once, and an error is logged once for each
        self._keys = lru_cache(2)(lambda _: _ShardSigners(folder))

    @property
    def has_key(self) -> bool:
        """Return whether there is a key to sign with."""
        return bool(self._current().secrets)

    def sign(self, shard: int, leaf: bytes, seq: int = 0, head: bytes = NO_HASH) -> str | None:
        """Return the receipt of a durable leaf, as of `Receipt.of_leaf`; None without a key."""
        keys = self._current()
        if not keys.secrets:
            return None
        found = Receipt.of_leaf(origin(keys.secrets[0].base, shard), leaf, seq, head)
        return found.sign(keys.of_shard(shard))

    def _current(self) -> "_ShardSigners":
        return self._keys(tuple(map(_state, self._files)))


class _ShardSigners:
    """The signers of all shards, by the keys that are in a folder now."""

    def __init__(self, folder: Path) -> None:
        self.secrets: tuple[LogSecret, ...] = ()
        if (folder / RECEIPTS_KEY).exists():
            try:
                self.secrets = read_receipt_secrets(folder)
            except LogKeyError as error:
                logger.error("ALARM: no receipts are given: %s", error)  # noqa: TRY400
        self.of_shard = lru_cache(None)(self._of_shard)

    def _of_shard(self, shard: int) -> list[Signer]:
        return [secret.signer(shard, KEY_SUFFIX) for secret in self.secrets]


def _state(file: Path) -> tuple[int, int, int]:
    """Return inode, time of change and size of a file; zeros for a missing one."""
    try:
        found = os.stat(file)  # noqa: PTH116 - a third of the time of a Path's
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size
