"""Files that are on the disk, for this user only, before the caller goes on."""

import os
from pathlib import Path


def write_synced(file: Path, data: bytes) -> None:
    """Write a file and sync it; its entry in the folder is synced by `sync_folder`."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def create_once(file: Path, data: bytes) -> None:
    """Write a file, whole or not at all, unless another process has made it; sync it and its folder."""
    if file.exists():
        return
    draft = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
    write_synced(draft, data)
    try:
        os.link(draft, file)  # which never replaces another process's file
    except FileExistsError:
        return
    finally:
        draft.unlink()
    sync_folder(file.parent)


def overwrite_synced(file: Path, data: bytes) -> None:
    """Overwrite the beginning of an existing file and sync it; raises `FileNotFoundError`."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, data, 0)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder: its new, renamed and removed files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
