"""Backups in an object store: pieces that are stored once, and for each backup a list of its files.

| object | what |
|---|---|
| `matchpost-backup` | the format, whose backups these are, and whether they are encrypted; never changes |
| `pieces/ab/abcd...` | up to 4 MiB of a file, sealed, under a name that follows from its bytes |
| `backups/20261128T033000Z` | a `Manifest`, sealed: it is written last, so what it names is there |

Files grow at their end and objects of the log never change, so a backup writes little but the new pieces.
One process at a time writes, by a lock on the server.
"""

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import BinaryIO, Final

import msgspec

from infra.backup.port import BackupError, ChangedMeanwhileError, Sealer
from infra.objects.port import (
    ObjectDiffersError,
    ObjectNotFoundError,
    ObjectStore,
)

FORMAT: Final = 1
"""The format of backups that this program makes, and the only one that it reads."""

PIECE_BYTES: Final = 4 << 20

_HEADER: Final = "matchpost-backup"
_BACKUPS: Final = "backups"
_PIECES: Final = "pieces"


class _Header(msgspec.Struct, frozen=True):
    format: int
    server: str
    encrypted: bool


class BackupFile(msgspec.Struct, frozen=True):
    """A file of a backup."""

    path: str
    """Below the data folder, wherever it lay on the server."""
    size: int
    sha256: str
    pieces: tuple[str, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The list of a backup's files."""

    format: int = FORMAT
    program: str
    """The version of matchpost that made it."""
    begun: int
    """When the copy of the data was begun, ms since 1970."""
    has_log: bool
    """Whether the published log is in it, because it is no store at a cloud."""
    files: tuple[BackupFile, ...]

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)


class Repository:
    """The backups in an object store, of the server of a name; errors of the store pass through.

    `BackupError` for a store that has something else, or another format.
    """

    def __init__(self, objects: ObjectStore, sealer: Sealer) -> None:
        self._objects = objects
        self._sealer = sealer
        self._there: set[str] = set()

    def begin(self, server: str) -> None:
        """Begin to write: create the store's header if there is none, and look which pieces it has."""
        header = _Header(FORMAT, server, self._sealer.is_encrypted)
        found = self._header()
        if found is None:
            if self.ids():
                raise BackupError(f"{self._objects} has backups without their header, {_HEADER}")
            self._objects.create(_HEADER, msgspec.json.encode(header))
        elif found != header:
            known, ours = (
                "encrypted" if one.encrypted else "not encrypted" for one in (found, header)
            )
            raise BackupError(
                f"{self._objects} has backups of the log {found.server!r}, {known}; those of {server!r}, "
                f"{ours}, need a place of their own"
            )
        self._there = {*self._piece_names()}

    def ids(self) -> list[str]:
        """Return the ids of the backups, the oldest first."""
        return [name.rpartition("/")[2] for name in self._objects.names(_BACKUPS)]

    def add_file(self, path: str, file: BinaryIO, size: int) -> BackupFile:
        """Store the first `size` bytes of a file; `ChangedMeanwhileError` if it has fewer."""
        whole, pieces, left = hashlib.sha256(), [], size
        while left:
            data = file.read(min(PIECE_BYTES, left))
            if not data:
                raise ChangedMeanwhileError(f"{path} was cut off while it was copied")
            left -= len(data)
            whole.update(data)
            pieces.append(self._add_piece(data))
        return BackupFile(path, size, whole.hexdigest(), tuple(pieces))

    def add_bytes(self, path: str, data: bytes) -> BackupFile:
        """Store a small file."""
        return self.add_file(path, BytesIO(data), len(data))

    def _add_piece(self, data: bytes) -> str:
        name = self._sealer.name(data)
        if name not in self._there:
            try:
                self._objects.create(_piece(name), self._sealer.seal(data))
            except ObjectDiffersError:
                # no two encryptions of the same bytes are equal; any other piece of this name is a fault
                if self._sealer.open(self._objects.get(_piece(name))) != data:
                    raise
            self._there.add(name)
        return name

    def finish(self, id_: str, manifest: Manifest) -> None:
        """Write the list of a backup, whose files are all there."""
        data = gzip.compress(msgspec.json.encode(manifest), mtime=0)
        self._objects.create(f"{_BACKUPS}/{id_}", self._sealer.seal(data))

    def check_format(self) -> None:
        """Raise `BackupError` where there are no backups, of another format, or whether encrypted is not as asked."""
        header = self._header()
        if header is None:
            raise BackupError(f"there is no backup in {self._objects}")
        if header.encrypted and not self._sealer.is_encrypted:
            raise BackupError(
                f"the backups in {self._objects} are encrypted: name the file of your age key by --identity"
            )
        if self._sealer.is_encrypted and not header.encrypted:
            raise BackupError(
                f"the backups in {self._objects} are not encrypted: leave out --identity"
            )

    def read(self, id_: str) -> Manifest:
        """Return the list of a backup; `BackupError` if it can't be read."""
        try:
            sealed = self._objects.get(f"{_BACKUPS}/{id_}")
        except ObjectNotFoundError as error:
            raise BackupError(f"there is no backup {id_} in {self._objects}") from error
        try:
            data = gzip.decompress(self._sealer.open(sealed))
            _check(msgspec.json.decode(data, type=_Format).format)
            return msgspec.json.decode(data, type=Manifest)
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            raise BackupError(f"the list of the backup {id_} can't be read: {error}") from error

    def pieces(self, file: BackupFile) -> Iterator[bytes]:
        """Return the bytes of a file, piece by piece; `BackupError` at the end if they are others."""
        whole = hashlib.sha256()
        for name in file.pieces:
            try:
                data = self._sealer.open(self._objects.get(_piece(name)))
            except ObjectNotFoundError as error:
                raise BackupError(f"a piece of {file.path} is missing: {error}") from error
            whole.update(data)
            yield data
        if whole.hexdigest() != file.sha256:
            raise BackupError(f"{file.path} has other bytes than were copied")

    def remove(self, ids: Iterable[str]) -> None:
        """Delete backups, and then the pieces that no other has; all are kept if a list can't be read."""
        for id_ in ids:
            self._objects.delete(f"{_BACKUPS}/{id_}")
        used = {
            piece for id_ in self.ids() for file in self.read(id_).files for piece in file.pieces
        }
        for name in self._piece_names():
            if name not in used:
                self._objects.delete(_piece(name))
        self._there &= used

    def _header(self) -> _Header | None:
        try:
            data = self._objects.get(_HEADER)
        except ObjectNotFoundError:
            return None
        try:
            _check(msgspec.json.decode(data, type=_Format).format)
            return msgspec.json.decode(data, type=_Header)
        except msgspec.MsgspecError as error:
            raise BackupError(f"{_HEADER} in {self._objects} can't be read: {error}") from error

    def _piece_names(self) -> Iterator[str]:
        for number in range(256):
            for name in self._objects.names(f"{_PIECES}/{number:02x}"):
                yield name.rpartition("/")[2]


class _Format(msgspec.Struct):
    format: int


def _check(found: int) -> None:
    """Raise `BackupError` for another format, with what to do about it."""
    if found > FORMAT:
        raise BackupError(
            f"a newer matchpost made this backup: it has format {found}, and this program reads {FORMAT}; "
            "restore it with that version or a later one"
        )
    if found < FORMAT:
        raise BackupError(
            f"an older matchpost made this backup: it has format {found}, and this program reads {FORMAT}; "
            "restore it with the version that made it, and upgrade that server"
        )


def _piece(name: str) -> str:
    return f"{_PIECES}/{name[:2]}/{name}"
