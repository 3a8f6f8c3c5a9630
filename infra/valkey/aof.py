"""Repairs an append-only file that a power loss has torn: cuts it after the last whole command.

After a power loss a disk has all synced data, and of later writes nothing, a part, or a part with
blocks of zeros or garbage in it. Everything acknowledged was synced, so the bytes after the last whole
command at the *end* of the file were never acknowledged and may be cut off. Valkey itself accepts only
a file that stops short, and takes a damaged length in the middle for one: it would cut off everything
that follows. So it is started with `aof-load-truncated no` and refuses both; then `repair_tail` reads the file.

The file alone does not show whether its end is torn, or was cut or damaged later. So a *mark* outside
of it has the size that is known to be synced (`SyncMark`). Damage before the mark is no torn end: the
file is not changed, and the server does not start. The same holds if whole commands follow damaged
lengths. Garbage in whole frames, which the server refuses as an unknown command, is cut off only after
the mark.

The cut part is kept beside the file (`<name>.cut-at-<offset>`, then `.2`, `.3`).

The daily rewrite of an embedded server's append-only file, after which nothing that was erased is in it.
"""

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from infra.process.intervals import every
from infra.process.synced_files import sync_folder

_FOLDER: Final = "appendonlydir"
_MANIFEST: Final = "appendonly.aof.manifest"

_LINE_LIMIT: Final = 64  # bytes of `*3`, `$11` or a time's annotation, with the line's end
_ARGUMENT_LIMIT: Final = 512 << 20  # bytes; the server's own limit
_ARGUMENTS_LIMIT: Final = 1 << 20  # the server's own limit as well

# the beginning of a command in the file; the length of its name is one or two digits
_COMMAND: Final = re.compile(rb"\*[1-9]\d{0,6}\r\n\$\d{1,2}\r\n[A-Za-z]")


class DamagedError(Exception):
    """The file is damaged not only at its end; the message is a sentence for the operator."""


class Repair(msgspec.Struct, frozen=True):
    """A repair of a file."""

    path: Path
    offset: int
    """The new size of the file."""
    kept_file: Path
    """The file with the cut part."""
    size: int
    """Bytes of the cut part."""
    synced: int = 0
    """Bytes of the file that were known to be synced."""

    def __str__(self) -> str:
        return (
            f"{self.size} bytes after the last good command of {self.path} were cut off and kept in "
            f"{self.kept_file}; {self._truth()}"
        )

    def _truth(self) -> str:
        if not self.synced:
            known = "how far the file had been synced is not known"
        elif self.offset > self.synced:
            known = (
                f"the {self.offset - self.synced} bytes before them had not been seen synced either"
            )
        else:
            known = "everything before them had been synced"
        return (
            f"{known}. After a power loss nothing in what was cut off was ever acknowledged; if the file "
            "was damaged otherwise, moves that were acknowledged may be in it"
        )


class SyncMark:
    """How much of which append-only file is known to be synced, in a separate file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, log: Path) -> int:
        """Return how many bytes of that file are known to be synced; 0 if none are."""
        try:
            name, size = self.path.read_text("utf-8").split()
            return int(size) if name == log.name else 0
        except (OSError, ValueError):
            return 0

    def write(self, log: Path, size: int) -> None:
        """Note that `size` bytes of that file are synced; a torn mark counts as none."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            data = f"{log.name} {size}\n".encode()
            os.pwrite(descriptor, data, 0)
            os.ftruncate(descriptor, len(data))
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)


def repair_tail(files: Path, known: int = 0, unknown_command: bytes = b"") -> Repair | None:
    """Cut a torn end off the newest append-only file below `files`; None if its end is whole.

    The server must not run; `unknown_command` is the one it has refused, if any. The first `known`
    bytes are known to be synced. Raises DamagedError without a change if the damage is in these, or if
    whole commands follow damaged lengths.
    """
    path = newest_log(files)
    if path is None or not path.exists():
        return None
    with path.open("rb") as file:
        whole = end_of_last_command(file)
        # if nothing is known to be synced, whole frames stay
        end = end_of_last_command(file, unknown_command) if known else whole
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


def newest_log(files: Path) -> Path | None:
    """Return the append-only file in use, by the manifest; None if there is none."""
    manifest = files / _FOLDER / _MANIFEST
    if not manifest.exists():
        return None
    found = re.findall(r"^file (\S+) seq (\d+) type i\b", manifest.read_text("utf-8"), re.MULTILINE)
    if not found:
        return None
    name, _ = max(found, key=lambda row: int(row[1]))
    return files / _FOLDER / str(name)


def append_only_files(files: Path) -> list[Path]:
    """Return the list of the append-only files and all that it names, in its order; none if there is no list.

    Two equal answers mean that no file was replaced in between.
    """
    manifest = files / _FOLDER / _MANIFEST
    try:
        text = manifest.read_text("utf-8")
    except FileNotFoundError:
        return []
    names = re.findall(r"^file (\S+) seq \d+ type [bi]\b", text, re.MULTILINE)
    return [manifest, *(files / _FOLDER / str(name) for name in names)]


def dumps_of(files: Path, count: int) -> list[Path]:
    """Return the paths of so many dumps, of servers that have no key in common, from which a server is to start."""
    base = files / _FOLDER / "appendonly.aof.1.base.rdb"
    return [base, *(_increment(files, number) for number in range(1, count))]


def write_list(files: Path, dumps: Sequence[Path]) -> None:
    """Write the list of the append-only files that begin with these dumps, and the empty one to which is written."""
    newest = _increment(files, len(dumps))
    newest.touch(mode=0o600)
    rows = [f"file {dumps[0].name} seq 1 type b"]
    rows += [f"file {one.name} seq {n} type i" for n, one in enumerate([*dumps[1:], newest], 1)]
    (files / _FOLDER / _MANIFEST).write_text("".join(f"{row}\n" for row in rows), "utf-8")


def _increment(files: Path, number: int) -> Path:
    return files / _FOLDER / f"appendonly.aof.{number}.incr.aof"


def end_of_last_command(file: BinaryIO, unknown_command: bytes = b"") -> int:
    """Return where the last whole command ends, or the whole transaction that it belongs to.

    A command that the server has refused does not count, nor does anything after it.
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
    """Read a command or an annotation; return the command's name, None if it is not whole."""
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
    """Return the number after the mark; None for anything else, and beyond the limit."""
    digits = line[1:]
    if line[:1] != mark or not digits.isdigit() or int(digits) > limit:
        return None
    return int(digits)


def _whole_command_after(file: BinaryIO, start: int) -> int | None:
    """Return where the first whole command after the damage begins; None if there is none.

    The torn command or transaction begins at `start`. Whole commands of a torn transaction were not
    acknowledged either, as long as no damage comes between them and its end.
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
    """Return where the first torn command begins: `start`, or later in a transaction."""
    file.seek(start)
    place = start
    while _read_command(file) is not None:
        place = file.tell()
    return place


def _cut(path: Path, end: int, size: int, known: int) -> Repair:
    """Copy the bytes after `end` to a synced file, and then cut them off."""
    kept = _unused_path(path.with_name(f"{path.name}.cut-at-{end}"))
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
    return Repair(path, end, kept, size - end, known)


def _unused_path(path: Path) -> Path:
    """Return the path, with a number added if an earlier cut has made such a file."""
    names = (path.with_name(f"{path.name}.{n}" if n > 1 else path.name) for n in count(1))
    return next(name for name in names if not name.exists())


REWRITE_SECONDS: Final = 24 * 3600
"""How long what was erased may stay in the file."""

_LOOK_SECONDS: Final = 600
"""Between two looks, and after a rewrite that failed."""


class DailyRewrite:
    """Asks a server, whose files are in `folder`, to rewrite its log a day after the last time; call `tick` often.

    The server itself rewrites a log that has doubled, which may take months.
    """

    def __init__(self, data: Redis, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._data = data
        self._folder = folder
        self._now = now
        self.tick = every(_LOOK_SECONDS, self._look, now)

    def _look(self) -> None:
        """Ask if it is time; a server that does not answer is asked later."""
        now = self._now()
        # a rewrite makes another file of this name, and nothing writes to it after that
        bases = [one.stat().st_mtime for one in self._folder.glob("appendonlydir/*.base.*")]
        if bases and now - max(bases) >= REWRITE_SECONDS:
            with suppress(RedisError):
                self._data.bgrewriteaof()
