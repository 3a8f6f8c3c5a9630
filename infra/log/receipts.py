"""Receipts: signed notes by which a server promises that a leaf is in its published log, or soon will be.

The text has six lines: `<origin>/receipt`, board, seq, the leaf's hash, the hash of the match's event before
it, and the leaf's own time in ms. The signature is Ed25519 by the key `<origin>/receipts`. So the same leaf
gets the same receipt at any time, and OpenSSL is enough to verify one (docs/formats.md).

A receipt is no proof. It shows that the server has promised; a proof (`infra.log.checkpoint`) shows that the
leaf is in the log.

Signs receipts by the key in a folder of keys.
"""

import logging
import os
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

import msgspec

from domain.match.history import NO_HASH, decode_event, decode_refusal, is_event, leaf_hash
from infra.log.key_files import RECEIPTS_KEY, LogKeyError, read_receipt_secrets
from infra.log.names import LogSecret, origin
from infra.log.signed_note import (
    NoteError,
    Signer,
    VerifierKey,
    open_note,
    read_decimal,
    read_hash,
    sign,
    split_note,
    write_base64,
)

KEY_SUFFIX: Final = "/receipts"
"""The end of a receipts key's name, after the origin of the log."""

_TITLE: Final = "/receipt"
"""The end of a receipt's first line."""

_LINES: Final = 6


class Receipt(msgspec.Struct, frozen=True):
    """A promise about one leaf."""

    origin: str
    """Of the log that has the leaf."""
    board: int
    seq: int
    """Of the event; for a refusal, of the last event before it, 0 if there was none."""
    leaf_hash: bytes
    prev: bytes
    """For an event, its `prev`; for a refusal, the leaf hash of the last event before it."""
    at: int
    """The leaf's own time, ms."""

    @classmethod
    def of_leaf(cls, origin: str, leaf: bytes, seq: int = 0, head: bytes = NO_HASH) -> Self:
        """Return the receipt of an event or a refusal.

        A refusal has neither number nor predecessor in its bytes: `seq` and `head`, number and leaf hash of
        the last event before it, are only for refusals. `msgspec.DecodeError` for another leaf.
        """
        if is_event(leaf):
            event = decode_event(leaf)
            return cls(origin, event.match, event.seq, leaf_hash(leaf), event.prev, event.at)
        refusal = decode_refusal(leaf)
        return cls(origin, refusal.match, seq, leaf_hash(leaf), head, refusal.at)

    @property
    def text(self) -> str:
        """Return the text that is signed."""
        return (
            f"{self.origin}{_TITLE}\n{self.board}\n{self.seq}\n{write_base64(self.leaf_hash)}\n"
            f"{write_base64(self.prev)}\n{self.at}\n"
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of a note; `NoteError`, with a sentence, if it is no receipt."""
        lines = text.removesuffix("\n").split("\n")
        if len(lines) != _LINES or not text.endswith("\n"):
            raise NoteError(f"a receipt has {_LINES} lines")
        title, board, seq, hash_, prev, at = lines
        origin = title.removesuffix(_TITLE)
        if not origin or origin == title:
            raise NoteError(f"the first line of a receipt is the origin of a log and {_TITLE!r}")
        return cls(
            origin,
            read_decimal(board, "board"),
            read_decimal(seq, "seq"),
            read_hash(hash_),
            read_hash(prev),
            read_decimal(at, "time"),
        )

    def sign(self, signers: Iterable[Signer]) -> str:
        """Return the signed receipt."""
        return sign(self.text, signers)

    def check_leaf(self, leaf: bytes) -> None:
        """Raise `ValueError`, with a sentence, unless the receipt is of this leaf."""
        if leaf_hash(leaf) != self.leaf_hash:
            raise ValueError("the receipt is of another leaf")
        if Receipt.of_leaf(self.origin, leaf, self.seq, self.prev) != self:
            raise ValueError("the receipt says something else than its leaf")


def read_receipt(note: str | bytes) -> Receipt:
    """Return what a note promises, without verifying it; `NoteError` if it is no receipt."""
    return Receipt.parse(split_note(note)[0])


def open_receipt(note: str | bytes, keys: Sequence[VerifierKey]) -> Receipt:
    """Return a receipt that one of `keys` has signed; `NoteError`, with the reason, else.

    Only a receipts key of the log that the receipt names counts; `infra.log.names.shard_key` makes it.
    """
    found = read_receipt(note)
    name = f"{found.origin}{KEY_SUFFIX}"
    open_note(note, [key for key in keys if key.name == name])
    return found


logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Between two looks whether the files of the keys have changed: a look takes as long as a signature."""

_FILES: Final = (RECEIPTS_KEY, f"{RECEIPTS_KEY}.old")


class ReceiptSigner:
    """Signs receipts. It reads the keys when a receipt is asked for, and again within a second after their files change.

    Thread-safe. A key that is missing or can't be used means that there are no receipts; it never raises.
    """

    def __init__(self, folder: Path) -> None:
        self._files = [folder / name for name in _FILES]
        # so many states are not there at once, and an error is logged once for each
        self._keys = lru_cache(2)(lambda _: _ShardSigners(folder))
        self._looked: tuple[float, _ShardSigners] | None = None
        """When the files were last looked at, by the monotonic clock, and the signers by them."""

    @property
    def has_key(self) -> bool:
        """Return whether there is a key to sign with."""
        return bool(self._current().secrets)

    def sign(self, shard: int, leaf: bytes, seq: int = 0, head: bytes = NO_HASH) -> str | None:
        """Return the receipt of a durable leaf, as of `Receipt.of_leaf`; None without a key."""
        keys = self._current()
        if not keys.secrets:
            return None
        named, signers = keys.of_shard(shard)
        return Receipt.of_leaf(named, leaf, seq, head).sign(signers)

    def _current(self) -> "_ShardSigners":
        now = time.monotonic()
        if self._looked is None or now - self._looked[0] >= LOOK_SECONDS:
            self._looked = now, self._keys(tuple(map(_state, self._files)))
        return self._looked[1]


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

    def _of_shard(self, shard: int) -> tuple[str, list[Signer]]:
        """Return the origin of a shard's log, and its signers; there is a key."""
        signers = [secret.signer(shard, KEY_SUFFIX) for secret in self.secrets]
        return origin(self.secrets[0].base, shard), signers


def _state(file: Path) -> tuple[int, int, int]:
    """Return inode, time of change and size of a file; zeros for a missing one."""
    try:
        found = os.stat(file)  # noqa: PTH116 - a third of the time of a Path's
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size
