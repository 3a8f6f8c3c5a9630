"""A witness: cosigns checkpoints of the logs that it knows, and never two that contradict each other.

What it has cosigned is in a folder of files, synced before a cosignature leaves the witness:

| file | what |
|---|---|
| `witness-key` | the private key; only the witness may read it |
| `witness-key.pub` | the public key, for those who check cosignatures |
| `logs/ID` | the last cosigned checkpoint of a log; ID is SHA-256 of its origin in hex digits |
| `forks/ID-SIZE-ROOT` | a signed checkpoint with its size and another root: a proof that the log has forked |
| `unproved/ID-SIZE-ROOT` | a signed checkpoint that came without a proof that it continues: to look at |
| `lock` | held while a witness works with the folder |

The request by which a log asks a witness for a cosignature: C2SP tlog-witness, `add-checkpoint`.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, Self

import msgspec

from infra.log.checkpoint import LogCheckpoint
from infra.log.merkle import verify_consistency
from infra.log.names import LogSecret
from infra.log.signed_note import (
    NoteError,
    SignatureType,
    Signer,
    VerifierKey,
    open_note,
    read_decimal,
    read_hash,
    split_note,
    write_base64,
)
from infra.process.synced_files import sync_folder, write_synced

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


KEY_FILE: Final = "witness-key"
_LOGS: Final = "logs"
_FORKS: Final = "forks"
_UNPROVED: Final = "unproved"
_MOST_KEPT: Final = 16
"""Checkpoints of a log that are kept in each of the two: one fork is enough as a proof."""


class Refused(IntEnum):
    """Why a checkpoint is not cosigned, by the HTTP status of the specification."""

    MALFORMED = 400
    NOT_SIGNED = 403
    UNKNOWN_LOG = 404
    OTHER_SIZE = 409
    """The witness has cosigned another size last, or another root at this size."""
    NOT_CONSISTENT = 422


class CosignRefusedError(Exception):
    """A checkpoint is not cosigned; the message is a sentence."""

    def __init__(self, why: Refused, sentence: str, size: int = 0, *, forked: bool = False) -> None:
        super().__init__(sentence)
        self.why = why
        self.size = size
        """Of the checkpoint that was cosigned last."""
        self.forked = forked
        """Whether the log has signed two checkpoints that contradict each other."""


class WitnessFolderError(Exception):
    """The folder of a witness can't be used; the message is a sentence."""


class CosignedCheckpoint(msgspec.Struct, frozen=True):
    """The last checkpoint of a log that a witness has cosigned."""

    checkpoint: LogCheckpoint
    note: str
    """With the log's signatures and the cosignature."""


class Witness:
    """A witness with its folder. One process at a time may have it; its threads may share it."""

    def __init__(
        self,
        folder: Path,
        signer: Signer,
        logs: Mapping[str, Sequence[VerifierKey]],
        lock_file: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._signer = signer
        self._logs = logs
        self._lock_file = lock_file
        self._now = now
        self._lock = Lock()

    @classmethod
    def open(cls, folder: Path, name: str, keys: Sequence[VerifierKey]) -> Self:
        """Return the witness of a folder, made with a new key where there is none.

        `keys` are those of the logs that it cosigns. `WitnessFolderError` if another process has the
        folder, or its key has another name.
        """
        logs: dict[str, list[VerifierKey]] = {}
        for key in keys:
            logs.setdefault(key.name, []).append(key)
        lock_file = _lock(folder)
        try:
            signer = _read_or_make_key(folder, name)
        except WitnessFolderError:
            os.close(lock_file)
            raise
        return cls(folder, signer, logs, lock_file)

    def close(self) -> None:
        """Let another process have the folder."""
        os.close(self._lock_file)

    @property
    def key(self) -> VerifierKey:
        """Return the public key of the cosignatures."""
        return self._signer.key

    @property
    def origins(self) -> list[str]:
        """Return the origins of the logs that it knows."""
        return sorted(self._logs)

    def cosigned(self, origin: str) -> CosignedCheckpoint | None:
        """Return the last cosigned checkpoint of a log, None for none; `WitnessFolderError` if damaged."""
        file = self._folder / _LOGS / log_id(origin)
        try:
            note = file.read_text("utf-8")
        except FileNotFoundError:
            return None
        try:
            return CosignedCheckpoint(LogCheckpoint.parse(open_note(note, [self.key])), note)
        except NoteError as error:
            raise WitnessFolderError(f"{file} is damaged: {error}") from error

    def cosign(self, request: CosignRequest) -> str:
        """Return the cosignature line of a checkpoint; `CosignRefusedError` if it can't be cosigned."""
        found = self._open(request.checkpoint)
        if request.old_size > found.size:
            raise CosignRefusedError(
                Refused.MALFORMED,
                f"the old size, {request.old_size}, is above that of the checkpoint, {found.size}",
            )
        with self._lock:
            self._compare(request, found)
            line = self._signer.signature(signed_text(request.checkpoint), int(self._now()))
            self._record(found.origin, request.checkpoint + line)
        return line

    def _open(self, note: str) -> LogCheckpoint:
        """Return a checkpoint that its log has signed."""
        try:
            found = LogCheckpoint.parse(signed_text(note))
        except NoteError as error:
            raise CosignRefusedError(Refused.MALFORMED, str(error)) from None
        keys = self._logs.get(found.origin)
        if keys is None:
            raise CosignRefusedError(
                Refused.UNKNOWN_LOG, f"this witness does not know {found.origin[:200]}"
            )
        try:
            open_note(note, keys)
        except NoteError as error:
            raise CosignRefusedError(Refused.NOT_SIGNED, str(error)) from None
        return found

    def _compare(self, request: CosignRequest, found: LogCheckpoint) -> None:
        """Refuse a checkpoint that is not proved to continue the last one."""
        before = self.cosigned(found.origin)
        last = before.checkpoint if before else LogCheckpoint(found.origin, 0, b"")
        if found.size == last.size and before and found.root != last.root:
            self._keep(_FORKS, found, request.checkpoint)
            raise CosignRefusedError(
                Refused.OTHER_SIZE,
                f"{found.origin} has signed two roots for {found.size} leaves: it has forked",
                last.size,
                forked=True,
            )
        if request.old_size != last.size:
            raise CosignRefusedError(
                Refused.OTHER_SIZE,
                f"the last checkpoint that was cosigned has {last.size} leaves, not {request.old_size}",
                last.size,
            )
        try:
            _verify_consistency(last, found, request.proof)
        except ValueError as error:
            # no proof of a fork, because anybody may send a public checkpoint with a wrong proof
            if found.size != last.size:
                self._keep(_UNPROVED, found, request.checkpoint)
            raise CosignRefusedError(
                Refused.NOT_CONSISTENT,
                f"it is not proved that {found.origin} with {found.size} leaves begins with the "
                f"{last.size} that were cosigned: {error}",
                last.size,
            ) from None

    def _record(self, origin: str, note: str) -> None:
        folder = self._folder / _LOGS
        temporary = folder / f".{log_id(origin)}"
        write_synced(temporary, note.encode())
        temporary.replace(folder / log_id(origin))
        sync_folder(folder)

    def _keep(self, name: str, found: LogCheckpoint, note: str) -> None:
        folder, id_ = self._folder / name, log_id(found.origin)
        file = folder / f"{id_}-{found.size}-{found.root.hex()[:16]}"
        if file.exists() or len([*folder.glob(f"{id_}-*")]) >= _MOST_KEPT:
            return
        write_synced(file, note.encode())
        sync_folder(folder)


def _verify_consistency(last: LogCheckpoint, found: LogCheckpoint, proof: Sequence[bytes]) -> None:
    """Verify that a log begins with its last checkpoint; ValueError, with the reason, if not."""
    if last.size:
        verify_consistency(last.size, last.root, found.size, found.root, proof)
    elif proof:
        raise ValueError("a proof from an empty log has no hashes")


def signed_text(note: str) -> str:
    """Return the text that a note's signatures are over."""
    return note.rpartition("\n\n")[0] + "\n"


def log_id(origin: str) -> str:
    """Return the name of a log's files: SHA-256 of its origin in hex digits."""
    return sha256(origin.encode()).hexdigest()


def _lock(folder: Path) -> int:
    """Return the descriptor of the folder's lock, which is free when it is closed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WitnessFolderError(f"{folder} can't be used: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise WitnessFolderError(f"another witness works with {folder}") from None
    return descriptor


def _read_or_make_key(folder: Path, name: str) -> Signer:
    file = folder / KEY_FILE
    try:
        if not file.exists():
            secret = LogSecret(name, secrets.token_bytes(32))
            signer = Signer(name, secret.secret, SignatureType.COSIGNATURE)
            write_synced(folder / f"{KEY_FILE}.pub", f"{signer.key}\n".encode())
            temporary = folder / f".{KEY_FILE}"
            write_synced(temporary, f"{secret}\n".encode())
            temporary.replace(file)
            sync_folder(folder)
        secret = LogSecret.parse(file.read_text("ascii"))
    except (OSError, UnicodeDecodeError, NoteError) as error:
        raise WitnessFolderError(f"{file} can't be used: {error}") from error
    if secret.base != name:
        raise WitnessFolderError(f"{file} is the key of {secret.base}, not of {name}")
    return Signer(name, secret.secret, SignatureType.COSIGNATURE)
