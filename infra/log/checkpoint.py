"""Checkpoints (C2SP tlog-checkpoint) and inclusion proofs in a file (C2SP tlog-proof).

A checkpoint is a signed note of three lines: origin, size and root of a log. A proof file has an index,
the hashes of the path, and the checkpoint, so that one entry is verified without any server.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Self

import msgspec

from infra.log.merkle import verify_inclusion
from infra.log.signed_note import (
    NoteError,
    Signer,
    VerifierKey,
    open_note,
    read_base64,
    read_decimal,
    read_hash,
    sign,
    split_note,
    write_base64,
)

PROOF_HEADER: Final = "c2sp.org/tlog-proof@v1"

_MOST_HASHES: Final = 63
_EXTRA: Final = "extra "
_INDEX: Final = "index "


class LogCheckpoint(msgspec.Struct, frozen=True):
    """The head of a log at one size."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """Return the text that is signed."""
        return f"{self.origin}\n{self.size}\n{write_base64(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of a note; `NoteError` if it is no checkpoint. Extension lines are ignored."""
        lines = text.removesuffix("\n").split("\n")
        if len(lines) < 3 or not all(lines):  # noqa: PLR2004 - origin, size and root
            raise NoteError("a checkpoint has three lines or more, none of them empty")
        origin, size, root = lines[:3]
        return cls(origin, read_decimal(size, "size"), read_hash(root))

    def sign(self, signers: Iterable[Signer]) -> str:
        """Return the signed checkpoint."""
        return sign(self.text, signers)


def open_checkpoint(note: str | bytes, origin: str, keys: Sequence[VerifierKey]) -> LogCheckpoint:
    """Return a checkpoint of the log `origin` that one of its keys has signed; `NoteError` else."""
    found = LogCheckpoint.parse(open_note(note, keys))
    if found.origin != origin:
        raise NoteError(f"the checkpoint is of {found.origin}, not of {origin}")
    return found


class InclusionProof(msgspec.Struct, frozen=True):
    """A leaf's place in a log, and its path to the root of a checkpoint."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: str
    """The signed note, as it came from the log."""
    extra: bytes = b""
    """Data for the application, which nothing signs."""

    def __str__(self) -> str:
        extra = f"{_EXTRA}{write_base64(self.extra)}\n" if self.extra else ""
        path = "".join(f"{write_base64(one)}\n" for one in self.hashes)
        return f"{PROOF_HEADER}\n{extra}{_INDEX}{self.index}\n{path}\n{self.checkpoint}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a proof file; `NoteError`, with a sentence, if it is malformed."""
        head, gap, checkpoint = text.partition("\n\n")
        header, *lines = head.split("\n")
        if header != PROOF_HEADER or not gap:
            raise NoteError(f"a proof begins with {PROOF_HEADER!r} and has an empty line in it")
        extra = b""
        if lines and lines[0].startswith(_EXTRA):
            extra = read_base64(lines.pop(0).removeprefix(_EXTRA))
            if not extra:
                raise NoteError("a proof without extra data leaves out the line for them")
        if not lines or not lines[0].startswith(_INDEX):
            raise NoteError("a proof names the index of its entry")
        index = read_decimal(lines.pop(0).removeprefix(_INDEX), "index")
        if len(lines) > _MOST_HASHES:
            raise NoteError(f"a proof has at most {_MOST_HASHES} hashes")
        split_note(checkpoint)
        return cls(index, tuple(map(read_hash, lines)), checkpoint, extra)

    def verify(self, leaf_hash: bytes, origin: str, keys: Sequence[VerifierKey]) -> LogCheckpoint:
        """Return the checkpoint that proves the leaf; ValueError, with the reason, if it does not."""
        found = open_checkpoint(self.checkpoint, origin, keys)
        verify_inclusion(leaf_hash, self.index, found.size, self.hashes, found.root)
        return found
