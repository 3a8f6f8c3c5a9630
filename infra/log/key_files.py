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
from infra.process.synced_files import sync_folder, write_synced
from infra.settings.settings import Settings

LOG_KEY: Final = "log-key"
RECEIPTS_KEY: Final = "receipts-key"
FOLDER_NAME: Final = "keys"
"""The folder in the data directory, without a setting."""

_OLD: Final = ".old"
_PUBLIC: Final = ".pub"
_LOGS: Final = "/log"
"""The end of the common name of a server's logs, after its host."""

_SECRET_BYTES: Final = 32


def keys_folder(settings: Settings) -> Path:
    """Return the folder of a server's keys."""
    return settings.keys or settings.data / FOLDER_NAME


class LogKeyError(Exception):
    """A key is missing, unreadable, or there already; the message is a sentence."""


class LogKeys(msgspec.Struct, frozen=True):
    """The keys that sign checkpoints, and those by which earlier ones are verified."""

    secrets: tuple[LogSecret, ...]
    """The newest first."""
    public: tuple[VerifierKey, ...]


def generate_keys(folder: Path, host: str) -> list[Path]:
    """Write the keys that are missing, and return their files; `LogKeyError` if all are there.

    `host` names the server in them, and in everything that is signed with them, for good. So it has to be
    the one that names the keys that are there.
    """
    try:
        base = VerifierKey.parse(str(VerifierKey(f"{host}{_LOGS}", bytes(_SECRET_BYTES)))).name
    except NoteError as error:
        raise LogKeyError(f"{host!r} can't name a log: {error}") from error
    missing = missing_keys(folder)
    if not missing:
        raise LogKeyError(
            f"{folder} has keys already, and they are not overwritten; to replace a key, rename "
            f"{LOG_KEY} to {LOG_KEY}{_OLD} first, or {RECEIPTS_KEY} to {RECEIPTS_KEY}{_OLD}"
        )
    if (named := named_host(folder)) not in ("", host):
        raise LogKeyError(
            f"the keys in {folder} are named after {named!r}, and all have one name; make the others "
            f"with --host {named}"
        )
    return [_generate(folder / name, LogSecret(base, _new_secret())) for name in missing]


def missing_keys(folder: Path) -> list[str]:
    """Return the names of the keys that are not there."""
    return [name for name in (LOG_KEY, RECEIPTS_KEY) if not (folder / name).exists()]


def named_host(folder: Path) -> str:
    """Return the host that names the keys in a folder; empty if there are none."""
    for name in (LOG_KEY, RECEIPTS_KEY):
        if (folder / f"{name}{_PUBLIC}").exists() and (found := read_public_keys(folder, name)):
            return found[0].name.removesuffix(_LOGS)
    return ""


def _new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def _generate(file: Path, secret: LogSecret) -> Path:
    """Write one key: first the public one, so that whatever is signed can be verified."""
    public = file.with_name(file.name + _PUBLIC)
    earlier = public.read_text("utf-8") if public.exists() else ""
    temporary = file.with_name(f".{file.name}")
    # one that a killed process has left may be a second name of a key, which would be overwritten
    temporary.unlink(missing_ok=True)
    write_synced(temporary, f"{secret.public}\n{earlier}".encode())
    temporary.chmod(0o644)
    temporary.replace(public)
    write_synced(temporary, f"{secret}\n".encode())
    try:
        os.link(temporary, file)
    except FileExistsError:
        raise LogKeyError(f"{file} was made by another process meanwhile") from None
    finally:
        temporary.unlink()
    sync_folder(file.parent)
    return file


def read_keys(folder: Path) -> LogKeys:
    """Return the keys of the log; `LogKeyError` if there is none, or it can't be used."""
    return LogKeys(_read_secrets(folder, LOG_KEY), tuple(read_public_keys(folder)))


def read_receipt_secrets(folder: Path) -> tuple[LogSecret, ...]:
    """Return the keys that sign receipts, the newest first; `LogKeyError` as for `read_keys`."""
    return _read_secrets(folder, RECEIPTS_KEY)


def read_public_keys(folder: Path, name: str = LOG_KEY) -> list[VerifierKey]:
    """Return the public keys of the log or of receipts, the newest first; `LogKeyError` if there are none."""
    file = folder / f"{name}{_PUBLIC}"
    try:
        return [VerifierKey.parse(line) for line in file.read_text("utf-8").split()]
    except FileNotFoundError:
        raise LogKeyError(f"there are no public keys: {file} is missing") from None
    except (OSError, UnicodeDecodeError, NoteError) as error:
        raise LogKeyError(f"{file} can't be used: {error}") from error


def _read_secrets(folder: Path, name: str) -> tuple[LogSecret, ...]:
    """Return a key, and the one before it if that is still there."""
    current = _read_secret(folder / name)
    old = folder / f"{name}{_OLD}"
    found = (current, *([_read_secret(old)] if old.exists() else []))
    if len({one.base for one in found}) > 1:
        raise LogKeyError(f"{old} has another name than the present key, {current.base}")
    return found


def _read_secret(file: Path) -> LogSecret:
    try:
        return LogSecret.parse(file.read_text("ascii"))
    except FileNotFoundError:
        raise LogKeyError(_missing(file)) from None
    except (OSError, UnicodeDecodeError, NoteError) as error:
        raise LogKeyError(f"{file} can't be used: {error}") from error


def _missing(file: Path) -> str:
    if file.name == LOG_KEY:
        return (
            f"there is no log key: {file} is missing; restore it from a backup, or make one with "
            "`matchpost keygen` where nothing was ever published"
        )
    return f"there is no receipts key: {file} is missing; `matchpost keygen` makes one"
