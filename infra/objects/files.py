"""An object store in a folder.

An object is written to a temporary file, synced, and then linked or renamed to its name, so that it is
there whole or not at all. Names of temporary files begin with a dot, which no object's name does.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from infra.objects.port import (
    ObjectChangedError,
    ObjectDiffersError,
    ObjectNotFoundError,
    ObjectStoreError,
    check_name,
)
from infra.process.synced_files import sync_folder, write_synced

_ABSENT: Final = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)


class FileObjects:
    """See `infra.objects.port.ObjectStore`. `root` is created with the first object."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __repr__(self) -> str:
        return f"the folder {self._root}"

    def get(self, name: str) -> bytes:
        """Return an object."""
        with self._failures(name):
            return self._file(name).read_bytes()

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Return a part of an object."""
        with self._failures(name), self._file(name).open("rb") as opened:
            return os.pread(opened.fileno(), length, start)

    def create(self, name: str, data: bytes) -> None:
        """Write an object that never changes."""
        file = self._file(name)
        with self._failures(name), self._temporary(file, data) as temporary:
            try:
                os.link(temporary, file)
            except FileExistsError:
                if file.read_bytes() != data:
                    raise ObjectDiffersError(
                        f"{file} exists with other bytes than those that belong there"
                    ) from None
                # its writer may have been killed before it was synced
            sync_folder(file.parent)

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        """Write an object that was `before`; writers on one machine exclude each other."""
        file = self._file(name)
        with self._failures(name), self._temporary(file, data) as temporary, _locked(file.parent):
            found = file.read_bytes() if file.exists() else None
            if found not in (before, data):
                raise ObjectChangedError(f"{file} has been changed by another writer")
            temporary.replace(file)
            sync_folder(file.parent)

    def delete(self, name: str) -> None:
        """Delete an object."""
        file = self._file(name)
        with self._failures(name):
            try:
                file.unlink()
            except (FileNotFoundError, NotADirectoryError):
                return
            sync_folder(_remove_empty(file.parent))

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects in a folder."""
        place = self._file(folder)
        with self._failures(folder):
            try:
                with os.scandir(place) as found:
                    names = [one.name for one in found if one.is_file()]
            except (FileNotFoundError, NotADirectoryError):
                return []
        return [f"{folder}/{name}" for name in sorted(names) if not name.startswith(".")]

    def _file(self, name: str) -> Path:
        check_name(name)
        return self._root / name

    @contextmanager
    def _temporary(self, file: Path, data: bytes) -> Iterator[Path]:
        """Write a temporary file beside `file`, synced; it is removed in the end."""
        self._make_folder(file.parent)
        temporary = file.parent / f".{uuid4().hex}"
        try:
            write_synced(temporary, data)
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()

    def _make_folder(self, folder: Path) -> None:
        """Create a folder and those above it, each synced into the one above."""
        if folder.is_dir():
            return
        if folder != folder.parent:
            self._make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)

    @contextmanager
    def _failures(self, name: str) -> Iterator[None]:
        """Raise errors of the system as errors of the store."""
        try:
            yield
        except OSError as error:
            if error.errno in _ABSENT:
                raise ObjectNotFoundError(f"{self._root / name} does not exist") from None
            raise ObjectStoreError(f"{self._root / name}: {error.strerror}") from error


def _remove_empty(folder: Path) -> Path:
    """Remove a folder if it is empty, and return the one whose entries have changed."""
    try:
        folder.rmdir()
    except OSError:
        return folder
    return folder.parent


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other writers of this machine out of a folder's changes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
