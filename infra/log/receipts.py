"""Receipts: signed notes by which a server promises that a leaf is in its published log, or soon will be.

The text has six lines: `<origin>/receipt`, board, seq, the leaf's hash, the hash of the match's event before
it, and the leaf's own time in ms. The signature is Ed25519 by the key `<origin>/receipts`. So the same leaf
gets the same receipt at any time, and OpenSSL is enough to verify one (docs/formats.md).

A receipt is no proof. It shows that the server has promised; a proof (`infra.log.checkpoint`) shows that the
leaf is in the log.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Self

import msgspec

from domain.match.leaves import NO_HASH, decode_event, decode_refusal, is_event, leaf_hash
from infra.log.note_lines import read_decimal, read_hash, write_base64
from infra.log.signed_note import NoteError, Signer, VerifierKey, open_note, sign, split_note

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
