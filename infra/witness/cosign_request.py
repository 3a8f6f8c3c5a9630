"""The request by which a log asks a witness for a cosignature: C2SP tlog-witness, `add-checkpoint`."""

from typing import Final, Self

import msgspec

from infra.log.note_lines import read_decimal, read_hash, write_base64
from infra.log.signed_note import NoteError, split_note

MOST_BYTES: Final = 64 * 1024
"""Of a request: a checkpoint with 64 signatures and 63 hashes is far smaller."""

_OLD: Final = "old "
_MOST_HASHES: Final = 63


class CosignRequest(msgspec.Struct, frozen=True):
    """A checkpoint, and the proof that it continues the one that the witness cosigned last."""

    old_size: int
    """Of the checkpoint that the witness cosigned last, as the log knows; 0 if it cosigned none."""
    proof: tuple[bytes, ...]
    """The consistency proof from `old_size`; empty for 0."""
    checkpoint: str
    """The signed note."""

    def __str__(self) -> str:
        hashes = "".join(f"{write_base64(one)}\n" for one in self.proof)
        return f"{_OLD}{self.old_size}\n{hashes}\n{self.checkpoint}"

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a request; `NoteError`, with a sentence, if it is malformed."""
        if len(data) > MOST_BYTES:
            raise NoteError(f"a request has at most {MOST_BYTES} bytes")
        try:
            head, gap, checkpoint = data.decode().partition("\n\n")
        except UnicodeDecodeError as error:
            raise NoteError(f"a request is UTF-8 text: {error}") from None
        old, *hashes = head.split("\n")
        if not gap or not old.startswith(_OLD):
            raise NoteError("a request begins with `old` and a size, and has an empty line in it")
        if len(hashes) > _MOST_HASHES:
            raise NoteError(f"a proof has at most {_MOST_HASHES} hashes")
        split_note(checkpoint)
        size = read_decimal(old.removeprefix(_OLD), "old size")
        return cls(size, tuple(map(read_hash, hashes)), checkpoint)
