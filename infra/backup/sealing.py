"""The encryption of backups by age, so that a copy elsewhere shows nothing to a finder.

A backup is encrypted to a key of the operator, whose secret is nowhere on the server, and to one that the server
makes for itself (`backup-key` beside its other keys): with that it restores each backup to try it.
"""

import hashlib
import hmac
from pathlib import Path
from typing import Final

from infra.backup.port import BackupError, Sealer
from infra.process.synced_files import create_once

OWN_KEY: Final = "backup-key"
"""The file of the server's own key, beside its other keys."""


class Plain:
    """See `Sealer`: nothing is encrypted."""

    is_encrypted = False

    def seal(self, data: bytes) -> bytes:
        """Return the bytes."""
        return data

    def open(self, sealed: bytes) -> bytes:
        """Return the bytes."""
        return sealed

    def name(self, data: bytes) -> str:
        """Return their SHA-256."""
        return hashlib.sha256(data).hexdigest()


class Encrypted:
    """See `Sealer`. `identity` is the text of an age key; what is sealed can be opened by it, and by `recipient`."""

    is_encrypted = True

    def __init__(self, identity: str, recipient: str = "") -> None:
        from pyrage import IdentityError, RecipientError, x25519  # noqa: PLC0415 - slow to import

        try:
            self._identity = x25519.Identity.from_str(identity.strip())
        except IdentityError as error:
            raise BackupError(
                "the key to open backups with is an age key, one line that begins with AGE-SECRET-KEY-1"
            ) from error
        self._recipients = [self._identity.to_public()]
        if recipient:
            try:
                self._recipients.append(x25519.Recipient.from_str(recipient.strip()))
            except RecipientError as error:
                raise BackupError(
                    "backups are encrypted to the public key of an age key, which begins with age1 and "
                    f"is one that `age-keygen` has printed: {error}"
                ) from error
        # names must not show to others whether a piece is one that they know
        self._secret = hashlib.sha256(b"names of pieces\n" + identity.strip().encode()).digest()

    def seal(self, data: bytes) -> bytes:
        """Encrypt the bytes to both keys."""
        import pyrage  # noqa: PLC0415 - slow to import

        return bytes(pyrage.encrypt(data, self._recipients))

    def open(self, sealed: bytes) -> bytes:
        """Decrypt the bytes."""
        import pyrage  # noqa: PLC0415 - slow to import

        try:
            return bytes(pyrage.decrypt(sealed, [self._identity]))
        except pyrage.DecryptError as error:
            raise BackupError(
                f"it can't be opened with this key: {error}; it was changed, or encrypted to another key"
            ) from error

    def name(self, data: bytes) -> str:
        """Return their HMAC, by a secret that follows from the identity."""
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()


def own_sealer(keys: Path, recipient: str | None) -> Sealer:
    """Return the sealer of this server: encrypted to a recipient if there is one; makes the server's key."""
    if recipient is None:
        return Plain()
    from pyrage import x25519  # noqa: PLC0415 - slow to import

    file = keys / OWN_KEY
    create_once(file, f"{x25519.Identity.generate()}\n".encode())
    return Encrypted(file.read_text("ascii"), recipient)


def sealer_of(identity: Path | None) -> Sealer:
    """Return the sealer of a restore: by the age key in a file if there is one; it is the last line of the file."""
    if identity is None:
        return Plain()
    try:
        lines = identity.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"the key in {identity} can't be read: {error}") from error
    found = [line for line in lines if line.strip() and not line.startswith("#")]
    return Encrypted(found[-1] if found else "")
