"""The copy of a server, made while people play.

The order makes it one state. *The data first*: the append-only files, up to where they end now. What was written by
then is there, and nothing later; a command that is cut in the middle is cut off when the copy starts. *Then the
published log*, as its checkpoints of now have it: it may be newer than the data, which then get the missing leaves
from it, and is never older. *Then keys and seeds*, so that no seed counts as unused that the data have used.

Objects beyond a checkpoint are left out: the leaves in them may be lost with the server, and others of the same
numbers come after a restore.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from infra.backup.port import BackupError, ChangedMeanwhileError
from infra.backup.repository import BackupFile, Manifest, Repository
from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import FOLDER_NAME as KEYS
from infra.log.key_files import LOG_KEY, RECEIPTS_KEY, keys_folder
from infra.log.names import CHECKPOINT, WITNESSED
from infra.log.tiles import LEVELS, WIDTH
from infra.objects.location import FOLDER_NAME as LOG
from infra.objects.location import local_folder
from infra.settings.setting_values import FILE_NAME as SETTINGS
from infra.settings.settings import Settings
from infra.valkey.aof import append_only_files
from infra.valkey.directory import DataDirectory

SEEDS: Final = "seeds"
MAIL_KEY: Final = "mail-key"
_SENT: Final = "mail-sent"

_TRIES: Final = 30
"""How often what changes while it is copied is copied again."""

_TILE: Final = re.compile(
    r"s(\d{2,3})/tile/(entries|\d{1,2})/((?:x\d{3}/)*)(\d{3})(?:\.p/(\d{1,3}))?"
)

_Files = dict[str, BackupFile]


class ServerCopies(msgspec.Struct, frozen=True):
    """Where a server is copied to."""

    data: Repository
    secrets: Repository | None
    """For keys and seeds, and never the same place."""

    def make(self, settings: Settings, data: Path, id_: str, begun: int, program: str) -> Manifest:
        """Copy a server, and return the list of its files but for keys and seeds.

        `data` is the folder with its append-only files, or with those that were fetched from an operator's own server. Errors of the stores pass through; `BackupError` where there is nothing to copy, or it keeps changing.
        """
        files = _again(lambda: _copy_data(self.data, data))
        log = local_folder(settings.store, settings.data)
        if log is not None:
            files |= _copy_log(self.data, log)
        keys, public = keys_folder(settings), {f"{LOG_KEY}.pub", f"{RECEIPTS_KEY}.pub"}
        files |= _copy_some(self.data, keys, KEYS, public)
        files |= _copy_file(self.data, settings.data / _SENT, _SENT)
        made = Manifest(
            program=program, begun=begun, has_log=log is not None, files=tuple(files.values())
        )
        if self.secrets is not None:
            secrets = _copy_some(self.secrets, keys, KEYS)
            secrets |= _copy_some(self.secrets, settings.seeds or settings.data / SEEDS, SEEDS)
            secrets |= _copy_file(
                self.secrets, settings.mail_key or settings.data / MAIL_KEY, MAIL_KEY
            )
            secrets |= _copy_file(self.secrets, settings.data / SETTINGS, SETTINGS)
            rest = msgspec.structs.replace(made, has_log=False, files=tuple(secrets.values()))
            self.secrets.finish(id_, rest)
        self.data.finish(id_, made)
        return made


def _again(copy: Callable[[], _Files]) -> _Files:
    """Return what is copied; from the beginning if a file has gone or was cut off meanwhile."""
    for _ in range(_TRIES):
        try:
            return copy()
        except (ChangedMeanwhileError, FileNotFoundError, NotADirectoryError) as error:
            last = error
    raise BackupError(f"it changed each time while it was copied: {last}") from last


def _copy_data(target: Repository, data: Path) -> _Files:
    """Copy the append-only files, which stay open so that a rewrite can't remove them."""
    folder = DataDirectory(data).files
    with ExitStack() as stack:
        listed = append_only_files(folder)
        if not listed:
            raise BackupError(f"there are no data of an embedded server in {data}")
        opened: list[tuple[str, BinaryIO, int]] = []
        for file in listed:
            source = stack.enter_context(file.open("rb"))
            opened.append((file.relative_to(data).as_posix(), source, source.seek(0, 2)))
            source.seek(0)
        if append_only_files(folder) != listed:
            raise ChangedMeanwhileError(f"the files in {folder} were written again")
        return {path: target.add_file(path, source, size) for path, source, size in opened}


def _copy_log(target: Repository, root: Path) -> _Files:
    """Copy the published log with the archive and the evidence, as the checkpoints of now have it."""
    done: _Files = {}

    def copy() -> _Files:
        notes = _read_notes(root)
        sizes = {path: _size_of(data) for path, data in notes.items() if path.endswith(CHECKPOINT)}
        by_shard = {int(path[1:].partition("/")[0]): size for path, size in sizes.items()}
        found: _Files = {}
        for path in _walk(root):
            if path in notes or path.rpartition("/")[2] in (CHECKPOINT, WITNESSED):
                continue
            if not is_within(path, by_shard):
                continue
            if path not in done:
                with (root / path).open("rb") as file:
                    size = file.seek(0, 2)
                    file.seek(0)
                    one = target.add_file(f"{LOG}/{path}", file, size)
                if _TILE.fullmatch(path):
                    done[path] = one  # it never changes
                found[one.path] = one
            else:
                found[done[path].path] = done[path]
        for path, data in notes.items():
            found[f"{LOG}/{path}"] = target.add_bytes(f"{LOG}/{path}", data)
        return found

    return _again(copy) if root.is_dir() else {}


def _read_notes(root: Path) -> dict[str, bytes]:
    """Return the checkpoints of all shards; first those of witnesses, which must not be newer."""
    found = {}
    for name in (WITNESSED, CHECKPOINT):
        for file in sorted(root.glob(f"s[0-9][0-9]*/{name}")):
            found[file.relative_to(root).as_posix()] = file.read_bytes()
    return found


def _size_of(note: bytes) -> int:
    return LogCheckpoint.parse(note.decode().partition("\n\n")[0]).size


def is_within(path: str, sizes: Mapping[int, int]) -> bool:
    """Return whether an object of the log is covered by the checkpoints, of which `sizes` has the leaves by shard."""
    found = _TILE.fullmatch(path)
    if found is None:
        return True
    shard, level, groups, last, width = found.groups()
    number = int("".join(groups.replace("/", "").split("x")) + last)
    nodes = sizes.get(int(shard), 0) >> (0 if level == "entries" else LEVELS * int(level))
    return number * WIDTH + int(width or WIDTH) <= nodes


def _walk(root: Path) -> Iterator[str]:
    """Yield the paths of all files below a folder, without unfinished ones; `FileNotFoundError` if one has gone."""
    for entry in sorted(root.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from (f"{entry.name}/{path}" for path in _walk(entry))
        else:
            yield entry.name


def _copy_some(target: Repository, folder: Path, name: str, only: set[str] | None = None) -> _Files:
    """Copy the files of a folder, or some of them."""
    if not folder.is_dir():
        return {}

    def copy() -> _Files:
        found: _Files = {}
        for path in _walk(folder):
            if only is None or path in only:
                found |= _copy_file(target, folder / path, f"{name}/{path}")
        return found

    return _again(copy)


def _copy_file(target: Repository, file: Path, path: str) -> _Files:
    """Copy one small file; nothing if there is none."""
    try:
        return {path: target.add_bytes(path, file.read_bytes())}
    except FileNotFoundError:
        return {}
