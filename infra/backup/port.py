"""The port of encryption, and why a backup is not made or not restored.

Equal bytes have equal names, sealed or not, so that each piece is stored once.
"""

from typing import Protocol


class BackupError(Exception):
    """A backup can't be made, read or restored; the message is a sentence for an operator."""


class ChangedMeanwhileError(BackupError):
    """A file was changed while it was copied, so it is copied again."""


class Sealer(Protocol):
    """Seals pieces, and names them by their bytes, so that equal pieces are stored once."""

    is_encrypted: bool

    def seal(self, data: bytes) -> bytes:
        """Return what is stored of some bytes."""
        ...

    def open(self, sealed: bytes) -> bytes:
        """Return the bytes; `BackupError` if they can't be opened."""
        ...

    def name(self, data: bytes) -> str:
        """Return the name of some bytes, 64 hex digits."""
        ...
