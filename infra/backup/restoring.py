"""The restore of a backup into an empty data folder, and a log that goes on under another name.

What a server published after the backup can't be known from the backup. If its log was lost, and the restored
server went on with the same log, it would sign other leaves under numbers that it has signed before: a second history.
So such a server gets new keys and its log a new name, under which it begins with the leaves that the backup has.
"""

import os
from pathlib import Path
from typing import Final

from infra.backup.copying import MAIL_KEY, SEEDS
from infra.backup.port import BackupError
from infra.backup.repository import Manifest, Repository
from infra.log.checkpoint import LogCheckpoint, open_checkpoint
from infra.log.key_files import FOLDER_NAME as KEYS
from infra.log.key_files import (
    LOG_KEY,
    RECEIPTS_KEY,
    generate_keys,
    keys_folder,
    named_host,
    read_keys,
    read_public_keys,
)
from infra.log.names import CHECKPOINT, WITNESSED, folder, object_name, origin, shard_key
from infra.objects.location import FOLDER_NAME as LOG
from infra.objects.location import local_folder, open_objects
from infra.objects.port import ObjectNotFoundError
from infra.process.synced_files import sync_folder, write_synced
from infra.settings.setting_values import FILE_NAME as SETTINGS
from infra.settings.settings import Settings
from infra.store.seed_chains import retire_chains
from infra.valkey.directory import DataDirectory

EARLIER: Final = "earlier"
"""The folder beside a server's keys with those of the log that it had before."""

_MOST_SHARDS: Final = 100
_FREE: Final = 256 << 20
"""Bytes that stay free on the disk."""


def check_empty(data: Path) -> None:
    """Raise `BackupError` for a folder that has anything, unless a restore into it was cut off."""
    if DataDirectory(data).restoring.exists() or not data.exists():
        return
    if not data.is_dir() or any(data.iterdir()):
        raise BackupError(
            f"{data} is not empty, and a backup is restored into an empty folder only: move it away, and "
            "keep it, because it has the traces of what happened"
        )


def begin_restore(data: Path) -> None:
    """Mark a folder as one in which `serve` must not start; `BackupError` if it has other contents."""
    check_empty(data)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    data.chmod(0o700)
    write_synced(DataDirectory(data).restoring, b"")
    sync_folder(data)


def finish_restore(data: Path) -> None:
    """Let `serve` start in a folder, in which all is on the disk."""
    os.sync()
    DataDirectory(data).restoring.unlink()
    sync_folder(data)


def place_of(path: str, settings: Settings) -> Path:
    """Return where a file of a backup belongs by the settings; `BackupError` for a path that leads elsewhere."""
    first, _, rest = path.partition("/")
    if path.startswith("/") or ".." in path.split("/"):
        raise BackupError(f"the backup has a file {path!r}, which is not below its folder")
    data = settings.data
    log = local_folder(settings.store, data) or data / LOG
    roots = {KEYS: keys_folder(settings), SEEDS: settings.seeds or data / SEEDS, LOG: log}
    if path == SETTINGS:  # they might have a copy that is tried send mail or publish
        return data / f"{SETTINGS}.restored"
    if path == MAIL_KEY:
        return settings.mail_key or data / MAIL_KEY
    return roots[first] / rest if first in roots and rest else data / path


def write_files(
    source: Repository, made: Manifest, settings: Settings, *, without: str = ""
) -> None:
    """Write the files of a backup to where they belong, but for those in the folder `without`.

    A file outside of the data folder is never replaced. `BackupError` if one is there, if a piece is missing or was
    changed, or if the disk is too small.
    """
    data = settings.data
    disk = os.statvfs(data)
    if disk.f_bavail * disk.f_frsize < made.size + _FREE:
        raise BackupError(f"the disk of {data} has no room for {made.size >> 20} MiB more")
    for file in made.files:
        if without and file.path.startswith(f"{without}/"):
            continue
        place = place_of(file.path, settings)
        if place.is_relative_to(data):
            place.unlink(missing_ok=True)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError as error:
            raise BackupError(
                f"{place} is there, and is not replaced: move it away first"
            ) from error
        with os.fdopen(descriptor, "wb") as opened:
            for piece in source.pieces(file):
                opened.write(piece)


def has_log(settings: Settings) -> bool:
    """Return whether the object store of the settings has a published log; its errors pass through."""
    objects = open_objects(settings.store, settings.data)
    return any(objects.names(folder(shard)) for shard in range(_MOST_SHARDS))


def rename_log(settings: Settings, host: str) -> list[int]:
    """Rename a restored log after `host`, with new keys; return its shards' sizes.

    Every checkpoint is verified by the old keys, which are put aside, and signed by the new ones. `LogKeyError`,
    `NoteError` and `BackupError` if it can't be done.
    """
    keys, objects = keys_folder(settings), open_objects(settings.store, settings.data)
    if named_host(keys) == host:
        raise BackupError(f"the log in the backup is named after {host}: choose another name")
    public = read_public_keys(keys)
    found: dict[int, tuple[bytes, LogCheckpoint]] = {}
    for shard in range(_MOST_SHARDS):
        try:
            note = objects.get(object_name(shard, CHECKPOINT))
        except ObjectNotFoundError:
            continue
        name = origin(public[0].name, shard)
        found[shard] = note, open_checkpoint(note, name, [shard_key(one, shard) for one in public])
    aside = keys / EARLIER
    aside.mkdir(mode=0o700, exist_ok=True)
    for key in (LOG_KEY, RECEIPTS_KEY):
        for file in (keys / key, keys / f"{key}.old", keys / f"{key}.pub"):
            if file.exists():
                file.replace(aside / file.name)
    generate_keys(keys, host)
    secrets = read_keys(keys).secrets
    for shard, (note, checkpoint) in found.items():
        renamed = LogCheckpoint(origin(secrets[0].base, shard), checkpoint.size, checkpoint.root)
        signed = renamed.sign([secret.signer(shard) for secret in secrets]).encode()
        objects.replace(object_name(shard, CHECKPOINT), signed, note)
        objects.delete(object_name(shard, WITNESSED))
    return [checkpoint.size for _, checkpoint in found.values()]


def forget_seeds(settings: Settings) -> None:
    """Have the restored server draw from new chains of seeds, because more seeds may be known than the backup says."""
    retire_chains(settings.seeds or settings.data / SEEDS)
