"""The keys of the published log, in a folder of files.

| file | what |
|---|---|
| `log-key` | the private key that signs checkpoints; only the publisher may read it |
| `log-key.old` | the one before: as long as it is there, it signs beside the new one |
| `log-key.pub` | the public keys, the newest first; everybody may have it |
| `receipts-key`, `receipts-key.pub` | the same for receipts |
"""

import os
import secrets
from pathlib import Path
from typing import Final

import msgspec

from infra.log.names import LogSecret
from infra.log.signed_note import NoteError, VerifierKey
from infra.synced_files import sync_folder, write_synced

LOG_KEY: Final = "log-key"
RECEIPTS_KEY: Final = "receipts-key"
FOLDER_NAME: Final = "keys"
"""The folder in the data directory, without a setting."""

_OLD: Final = ".old"
_PUBLIC: Final = ".pub"
_SECRET_BYTES: Final = 32


class LogKeyError(Exception):
    """A key is missing, unreadable, or there already; the message is a sentence."""


class LogKeys(msgspec.Struct, frozen=True):
    """The keys that sign checkpoints, and those by which earlier ones are verified."""

    secrets: tuple[LogSecret, ...]
    """The newest first."""
    public: tuple[VerifierKey, ...]


def generate_keys(folder: Path, host: str) -> list[Path]:
    """Write the keys that are missing, and return their files; `LogKeyError` if all are there.

    `host` names the server in them, and in everything that is signed with them, for good.
    """
    try:
        base = VerifierKey.parse(str(VerifierKey(f"{host}/log", bytes(_SECRET_BYTES)))).name
    except NoteError as error:
        raise LogKeyError(f"{host!r} can't name a log: {error}") from error
    missing = [name for name in (LOG_KEY, RECEIPTS_KEY) if not (folder / name).exists()]
    if not missing:
        raise LogKeyError(
            f"{folder} has keys already, and they are not overwritten; to replace the log key, rename "
            f"{LOG_KEY} to {LOG_KEY}{_OLD} first"
        )
    return [_generate(folder / name, LogSecret(base, _new_secret())) for name in missing]


def _new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def _generate(file: Path, secret: LogSecret) -> Path:
    """Write one key: first the public one, so that whatever is signed can be verified."""
    public = file.with_name(file.name + _PUBLIC)
    earlier = public.read_text("utf-8") if public.exists() else ""
    write_synced(public, f"{secret.public}\n{earlier}".encode())
    public.chmod(0o644)
    temporary = file.with_name(f".{file.name}")
    write_synced(temporary, f"{secret}\n".encode())
    try:
        os.link(temporary, file)
    except FileExistsError:
        raise LogKeyError(f"{file} was made by another process meanwhile") from None
    finally:
        temporary.unlink()
    sync_folder(file.parent)
    return file


def has_keys(folder: Path) -> bool:
    """Return whether there is a log key."""
    return (folder / LOG_KEY).exists()


def read_keys(folder: Path) -> LogKeys:
    """Return the keys; `LogKeyError` if there is none, or it can't be used."""
    current = _read_secret(folder / LOG_KEY)
    old = folder / f"{LOG_KEY}{_OLD}"
    found = (current, *([_read_secret(old)] if old.exists() else []))
    if len({one.base for one in found}) > 1:
        raise LogKeyError(f"{old} has another name than the present key, {current.base}")
    return LogKeys(found, tuple(read_public_keys(folder)))


def read_public_keys(folder: Path) -> list[VerifierKey]:
    """Return the public keys of the log, the newest first; `LogKeyError` if there are none."""
    file = folder / f"{LOG_KEY}{_PUBLIC}"
    try:
        return [VerifierKey.parse(line) for line in file.read_text("utf-8").split()]
    except FileNotFoundError:
        raise LogKeyError(f"there are no public keys of the log: {file} is missing") from None
    except (OSError, UnicodeDecodeError, NoteError) as error:
        raise LogKeyError(f"{file} can't be used: {error}") from error


def _read_secret(file: Path) -> LogSecret:
    try:
        return LogSecret.parse(file.read_text("ascii"))
    except FileNotFoundError:
        raise LogKeyError(
            f"there is no log key: {file} is missing; restore it from a backup, or make one with "
            "`matchpost keygen` where nothing was ever published"
        ) from None
    except (OSError, UnicodeDecodeError, NoteError) as error:
        raise LogKeyError(f"{file} can't be used: {error}") from error
