"""The end of the append-only file after a power loss: found, cut at the last whole command, kept.

A disk that loses power keeps what was synced, and of what was written after that nothing, a part,
or a part with blocks of zeros or rubbish in it. Everything acknowledged was synced, so after a power
loss what follows the last whole command at the *end* of the file was never acknowledged and may go.
Valkey itself forgives only a file that stops short, and takes a damaged length in the middle for one:
it would cut off everything behind. So it is started with `aof-load-truncated no` and refuses both;
then `mend` looks at the file.

The file alone can't tell a torn end from one that was cut or has rotted. So a *mark* outside of it says
how far it is known to be synced (`SyncMark`). Damage before the mark is no torn end: nothing is
touched, and the server does not start. Nor does it where whole commands follow damaged lengths. Rubbish in
whole frames, which the server refuses as an unknown command, is cut off behind the mark only.

What is cut off is kept beside the file (`<name>.cut-at-<offset>`, then `.2`, `.3`).
"""

import os
import re
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from infra.synced_files import sync_folder

_FOLDER: Final = "appendonlydir"
_MANIFEST: Final = "appendonly.aof.manifest"

_LINE_LIMIT: Final = 64  # bytes of `*3`, `$11` or a time's annotation, with the line's end
_ARGUMENT_LIMIT: Final = 512 << 20  # bytes; the server's own limit
_ARGUMENTS_LIMIT: Final = 1 << 20  # the server's own limit as well

# a command that a server writes begins so; the length of its name is one or two digits
_COMMAND: Final = re.compile(rb"\*[1-9]\d{0,6}\r\n\$\d{1,2}\r\n[A-Za-z]")


class DamagedError(Exception):
    """The file is damaged, and not just at its end; the message is a sentence for the operator."""


class Mended(msgspec.Struct, frozen=True):
    """What was cut off."""

    path: Path
    offset: int
    """Where the file ends now."""
    kept: Path
    """The file with what followed."""
    size: int
    """Bytes of it."""
    known: int = 0
    """How much of the file was known to be synced."""

    def __str__(self) -> str:
        return (
            f"{self.size} bytes after the last good command of {self.path} were cut off and kept in "
            f"{self.kept}; {self._truth()}"
        )

    def _truth(self) -> str:
        if not self.known:
            known = "how far the file had been synced is not known"
        elif self.offset > self.known:
            known = (
                f"the {self.offset - self.known} bytes before them had not been seen synced either"
            )
        else:
            known = "everything before them had been synced"
        return (
            f"{known}. After a power loss nothing in what was cut off was ever acknowledged; if the file "
            "was damaged otherwise, moves that were acknowledged may be in it"
        )


class SyncMark:
    """How much of which append-only file is known to be synced; kept in a file of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, log: Path) -> int:
        """Return how many bytes of that file are known to be synced; 0 when nothing is known."""
        try:
            name, size = self.path.read_text("utf-8").split()
            return int(size) if name == log.name else 0
        except (OSError, ValueError):
            return 0

    def write(self, log: Path, size: int) -> None:
        """Note that so many bytes of that file are synced; a mark that is torn is none."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            data = f"{log.name} {size}\n".encode()
            os.pwrite(descriptor, data, 0)
            os.ftruncate(descriptor, len(data))
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)


def mend(files: Path, known: int = 0, unknown_command: bytes = b"") -> Mended | None:
    """Cut a torn end off the newest append-only file below `files`; None when it ends well.

    For a server that is not running, and has refused `unknown_command` if there is one. The first
    `known` bytes are known to be synced. Raises DamagedError, having touched nothing, when the damage
    is in these, or when whole commands follow damaged lengths.
    """
    path = newest(files)
    if path is None or not path.exists():
        return None
    with path.open("rb") as file:
        whole = last_whole(file)
        # where nothing is known to be synced, whole frames are not touched
        end = last_whole(file, unknown_command) if known else whole
        size = file.seek(0, os.SEEK_END)
        if end == size:
            return None
        if end < known:
            raise DamagedError(
                f"{path} is damaged at byte {end}, and was synced up to byte {known}: this is no torn "
                "end of a power loss, and moves that were acknowledged are gone; look at the disk, and "
                "restore the data from a copy"
            )
        if end == whole and (later := _whole_command_after(file, end)) is not None:
            raise DamagedError(
                f"{path} is damaged at byte {end}, and whole commands follow from byte {later} "
                "on; this is no torn end of a power loss: look at the disk, and restore the data "
                "from a copy"
            )
    return _cut(path, end, size, known)


def newest(files: Path) -> Path | None:
    """Return the append-only file that is written to, by the manifest; None when there is none."""
    manifest = files / _FOLDER / _MANIFEST
    if not manifest.exists():
        return None
    found = re.findall(r"^file (\S+) seq (\d+) type i\b", manifest.read_text("utf-8"), re.MULTILINE)
    if not found:
        return None
    name, _ = max(found, key=lambda row: int(row[1]))
    return files / _FOLDER / str(name)


def last_whole(file: BinaryIO, unknown_command: bytes = b"") -> int:
    """Return where the last whole command ends, or the transaction that it belongs to.

    What the server does not know is no command, nor is anything behind it.
    """
    refused = unknown_command.upper()
    file.seek(0)
    end = 0
    begun = False
    while (name := _read_command(file)) is not None:
        if refused and name == refused:
            break
        if name == b"MULTI":
            begun = True
        elif name == b"EXEC":
            begun = False
        if not begun:
            end = file.tell()
    return end


def _read_command(file: BinaryIO) -> bytes | None:
    """Read a command or an annotation; give the command's name, or None if there is none whole."""
    line = _read_line(file)
    if line is None:
        return None
    if line.startswith(b"#"):
        return b""
    arguments = _number(line, b"*", _ARGUMENTS_LIMIT)
    if not arguments:
        return None
    name = _read_argument(file)
    if name is None:
        return None
    for _ in range(arguments - 1):
        if _read_argument(file) is None:
            return None
    return name.upper()


def _read_argument(file: BinaryIO) -> bytes | None:
    line = _read_line(file)
    size = None if line is None else _number(line, b"$", _ARGUMENT_LIMIT)
    if size is None:
        return None
    data = file.read(size + 2)
    return data[:-2] if len(data) == size + 2 and data.endswith(b"\r\n") else None


def _read_line(file: BinaryIO) -> bytes | None:
    line = file.readline(_LINE_LIMIT)
    return line[:-2] if line.endswith(b"\r\n") else None


def _number(line: bytes, mark: bytes, limit: int) -> int | None:
    """Return the number after the mark, if that is all there is and it is within the limit."""
    digits = line[1:]
    if line[:1] != mark or not digits.isdigit() or int(digits) > limit:
        return None
    return int(digits)


def _whole_command_after(file: BinaryIO, start: int) -> int | None:
    """Return where the first whole command after the damage begins; None when there is none.

    The torn command itself, or the transaction, begins at `start`: what is whole in that was not
    acknowledged either, as long as nothing damaged comes between it and the end.
    """
    damage = _damage(file, start)
    file.seek(damage)
    rest = file.read()
    for found in _COMMAND.finditer(rest):
        file.seek(damage + found.start())
        if _read_command(file) is not None:
            return damage + found.start()
    return None


def _damage(file: BinaryIO, start: int) -> int:
    """Return where the first command that is not whole begins: `start`, or later in a transaction."""
    file.seek(start)
    place = start
    while _read_command(file) is not None:
        place = file.tell()
    return place


def _cut(path: Path, end: int, size: int, known: int) -> Mended:
    """Keep what follows `end` in a file beside, synced, before it is cut off."""
    kept = _unused(path.with_name(f"{path.name}.cut-at-{end}"))
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with path.open("r+b") as file, os.fdopen(descriptor, "wb") as copy:
        file.seek(end)
        while part := file.read(1 << 20):
            copy.write(part)
        copy.flush()
        os.fsync(copy.fileno())
        sync_folder(path.parent)
        file.truncate(end)
        os.fsync(file.fileno())
    return Mended(path, end, kept, size - end, known)


def _unused(path: Path) -> Path:
    """Return the path, with a number behind it if there is such a file from an earlier cut."""
    names = (path.with_name(f"{path.name}.{n}" if n > 1 else path.name) for n in count(1))
    return next(name for name in names if not name.exists())
