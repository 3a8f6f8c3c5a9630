"""MACs of accounts: a keyed digest of each record, whose key is outside of Redis.

| key | what |
|---|---|
| `{a:<hex>}:mac` | HMAC-SHA256 of the account's id and its record, by the key in the file `accounts-key` |

Somebody who can write to Redis alone can change a record, but can't make its MAC. Record and MAC are in one slot, and
one script writes both. The scrubber compares them (`workers.scrub.accounts`).

The file has the key with a checksum, and below it the time since which every record has a MAC. Before that line is
there the scrubber *adopts* records without a fitting MAC as they are: it believes what it finds. After that a record
without a fitting MAC is a fault. A process that lacks the file writes records without a MAC.
"""

import hmac
import logging
import secrets
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from domain.records import AccountId
from infra.process.synced_files import sync_folder, write_synced

logger = logging.getLogger(__name__)

ACCOUNTS_KEY: Final = "accounts-key"
"""The file in the folder of keys."""

KEYS_FOLDER: Final = "keys"
"""The folder of keys in the data directory, without a setting."""

_KEY_BYTES: Final = 32
_CHECKSUM_BYTES: Final = 4
_SINCE: Final = "all have MACs since "


class MacKeyError(Exception):
    """The key is missing or damaged; the message is a sentence."""


class MacKey(msgspec.Struct, frozen=True):
    """The key of the MACs."""

    secret: bytes
    since: int
    """When every record had a MAC, ms; 0 before that."""

    def mac(self, account: AccountId, record: bytes) -> bytes:
        """Return the MAC of a record."""
        return hmac.digest(self.secret, b"account" + account + record, "sha256")


def read_mac_key(folder: Path) -> MacKey:
    """Return the key in a folder of keys; `MacKeyError` if it is missing or damaged."""
    file = folder / ACCOUNTS_KEY
    try:
        first, *rest = file.read_text("ascii").splitlines()
        data = b64decode(first, validate=True)
        since = int(rest[0].removeprefix(_SINCE)) if rest else 0
        whole = _text(MacKey(data[:_KEY_BYTES], since))
    except FileNotFoundError:
        raise MacKeyError(f"the key of the accounts' MACs is missing: {file}") from None
    except (OSError, ValueError) as error:
        raise MacKeyError(f"the key of the accounts' MACs can't be read: {file}") from error
    if whole != file.read_text("ascii"):
        raise MacKeyError(f"the key of the accounts' MACs is damaged: {file}")
    return MacKey(data[:_KEY_BYTES], since)


def make_mac_key(folder: Path) -> bool:
    """Make a key if there is none; return whether this did."""
    if (folder / ACCOUNTS_KEY).exists():
        return False
    _write(folder, MacKey(secrets.token_bytes(_KEY_BYTES), 0))
    return True


def note_all_have_macs(folder: Path, now: int) -> None:
    """Note in the file that every record has a MAC."""
    _write(folder, msgspec.structs.replace(read_mac_key(folder), since=now))


def _write(folder: Path, key: MacKey) -> None:
    temporary = folder / f".{ACCOUNTS_KEY}"
    write_synced(temporary, _text(key).encode())
    temporary.replace(folder / ACCOUNTS_KEY)
    sync_folder(folder)


def _text(key: MacKey) -> str:
    since = f"{_SINCE}{key.since}\n" if key.since else ""
    checksum = sha256(key.secret + since.encode()).digest()[:_CHECKSUM_BYTES]
    return f"{b64encode(key.secret + checksum).decode()}\n{since}"


class AccountMacs:
    """MACs for the records that a process writes; without a folder, or a key in it, there are none."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._key: MacKey | None = None

    def mac(self, account: AccountId, record: bytes) -> bytes:
        """Return the MAC of a record, empty without a key or for no record."""
        key = self._read()
        return key.mac(account, record) if key and record else b""

    def sealing_key(self) -> bytes:
        """Return a key, 256 bits, for what must not be read in Redis; empty without the file."""
        key = self._read()
        return hmac.digest(key.secret, b"seal", "sha256") if key else b""

    def _read(self) -> MacKey | None:
        if self._key is None and self._folder is not None:
            try:
                self._key = read_mac_key(self._folder)
            except MacKeyError as error:
                logger.warning("an account is written without a MAC: %s", error)
        return self._key
