"""The notes of this server on its backups: the last one, the last that was tried, why one failed, and whether one is asked for.

| file in `backups/` of the data folder | what |
|---|---|
| `notes.json` | `BackupNotes` |
| `asked` | there from when somebody asks for a backup until `serve` begins it |
| `lock` | locked by the process that makes one |
| `fetched/` | the data of an operator's own server, while they are copied |
| `scratch/` | in which a backup is restored to try it |
"""

from pathlib import Path
from typing import Final

import msgspec

from infra.process.synced_files import write_synced
from infra.valkey.process import DirectoryLock, LockedError

FOLDER_NAME: Final = "backups"


class BackupNotes(msgspec.Struct, frozen=True):
    """Notes on the backups; times are ms since 1970, 0 for never."""

    begun: int = 0
    """When the last backup was begun, whatever came of it."""
    made: int = 0
    """When the last backup that was made had been begun."""
    id: str = ""
    """Its id."""
    size: int = 0
    """Bytes of its files."""
    tried: int = 0
    """When the last backup that was restored and verified had been begun."""
    found: str = ""
    """The finding of its verification, in a sentence."""
    fault: str = ""
    """Why the last backup was not made, or did not hold; empty if it holds."""
    failed: tuple[str, ...] = ()
    """The ids of the backups that did not hold, since the last that did."""


class BackupPlace:
    """The folder in the data folder."""

    def __init__(self, data: Path) -> None:
        self.path = data / FOLDER_NAME
        self.scratch = self.path / "scratch"
        self.fetched = self.path / "fetched"
        self._notes = self.path / "notes.json"
        self._asked = self.path / "asked"

    def read(self) -> BackupNotes:
        """Return the notes; those of a torn file count as none."""
        try:
            return msgspec.json.decode(self._notes.read_bytes(), type=BackupNotes)
        except (FileNotFoundError, msgspec.MsgspecError):
            return BackupNotes()

    def note(self, **changes: int | str | tuple[str, ...]) -> BackupNotes:
        """Change some of the notes, and return them."""
        notes = msgspec.structs.replace(self.read(), **changes)
        draft = self._notes.with_suffix(".new")
        write_synced(draft, msgspec.json.encode(notes))
        draft.replace(self._notes)
        return notes

    def lock(self) -> DirectoryLock:
        """Return the lock of the one process that makes a backup, not taken."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        return DirectoryLock(self.path)

    def is_busy(self) -> bool:
        """Return whether a backup is being made."""
        if not self.path.is_dir():
            return False
        lock = self.lock()
        try:
            lock.acquire()
        except LockedError:
            return True
        lock.release()
        return False

    def ask(self) -> None:
        """Ask `serve` for a backup."""
        write_synced(self._asked, b"")

    @property
    def is_asked(self) -> bool:
        """Whether somebody has asked for one that was not begun yet."""
        return self._asked.exists()

    def forget_asked(self) -> None:
        """Take note that it is begun."""
        self._asked.unlink(missing_ok=True)
