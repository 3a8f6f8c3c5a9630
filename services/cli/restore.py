"""`matchpost restore TARGET`: put a backup into an empty data folder.

Exit codes: 0 done; 1 refused; 2 the store can't be reached.
"""

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from infra.backup.port import BackupError, Sealer
from infra.backup.repository import Manifest, Repository
from infra.backup.restoring import (
    EARLIER,
    begin_restore,
    check_empty,
    finish_restore,
    forget_seeds,
    has_log,
    place_of,
    rename_log,
    write_files,
)
from infra.backup.sealing import sealer_of
from infra.languages.wording import IN_ENGLISH
from infra.log.key_files import LogKeyError, keys_folder
from infra.log.signed_note import NoteError
from infra.objects.location import FOLDER_NAME as LOG
from infra.objects.location import open_objects, store_url
from infra.objects.port import ObjectStoreError
from infra.settings.settings import Settings
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN

_WHICH_LOG = (
    "the backup has the published log as it was then, and what was published later can't be known from it. If the "
    "newest log is still there, put it back by --log FOLDER; if nothing was published after the backup, because the "
    "server was stopped before it, say --same-log; otherwise the log goes on under a new name, by --new-log HOST, "
    "so that this server never signs a second history of the old one"
)


def run(  # noqa: PLR0913 - the arguments of the command
    *,
    target: str,
    keys_from: str | None,
    identity: Path | None,
    id_: str | None,
    is_list: bool,
    log: Path | None,
    is_same_log: bool,
    new_log: str | None,
    settings: Settings,
) -> int:
    """Restore a backup, or list those that there are, and return the exit code."""
    try:
        sealer = sealer_of(identity)
        source = _open(target, settings, sealer)
        if is_list:
            return _list(source)
        choice = _Choice(log, is_same_log, new_log)
        secrets = _open(keys_from, settings, sealer) if keys_from is not None else None
        _restore(source, secrets, id_ or _newest(source), choice, settings)
    except (BackupError, LogKeyError, NoteError, ValueError, OSError) as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_REFUSED
    except ObjectStoreError as error:
        print(f"matchpost: {error}", file=sys.stderr)
        return EXIT_UNKNOWN
    return EXIT_OK


class _Choice(NamedTuple):
    """The choice of the log that the restored server goes on with."""

    folder: Path | None
    is_same: bool
    host: str | None


def _restore(
    source: Repository, secrets: Repository | None, id_: str, choice: _Choice, settings: Settings
) -> None:
    """Restore a backup, and say what is to be done next."""
    if settings.redis_url is not None:
        raise BackupError(
            "a backup is restored for the embedded server: unset MATCHPOST_REDIS_URL, and run `matchpost move-to` "
            "with the URL afterwards"
        )
    made = source.read(id_)
    rest = secrets.read(id_) if secrets is not None else None
    check_empty(settings.data)
    is_here = settings.store is not None and has_log(settings)
    if made.has_log and not is_here and not any(choice):
        raise BackupError(_WHICH_LOG)
    begin_restore(settings.data)
    without = LOG if is_here or choice.folder else ""
    write_files(source, made, settings, without=without)
    if secrets is not None and rest is not None:
        write_files(secrets, rest, settings)
    if choice.folder is not None:
        shutil.copytree(choice.folder, place_of(f"{LOG}/x", settings).parent, dirs_exist_ok=True)
    if not choice.is_same:
        forget_seeds(settings)
    if choice.host is not None:
        rename_log(settings, choice.host)
    finish_restore(settings.data)
    _say(made, id_, choice, settings, has_secrets=rest is not None)


def _say(
    made: Manifest, id_: str, choice: _Choice, settings: Settings, *, has_secrets: bool
) -> None:
    when = IN_ENGLISH.stamp(made.begun)
    print(f"restored the backup {id_} of {when}, {len(made.files)} files, into {settings.data}")
    if choice.host is not None:
        print(
            f"the log goes on as {choice.host}/log, with new keys; those of the old one are in "
            f"{keys_folder(settings) / EARLIER}. Publish the new keys, and say from when they sign"
        )
    if not has_secrets:
        print(
            "keys, seeds and mail-key are not in it: put them back before you start the server, because without "
            "them nothing is published and matches with draws wait"
        )
    print("start it, and run `matchpost doctor` and `matchpost verify --all`")


def _open(place: str, settings: Settings, sealer: Sealer) -> Repository:
    found = Repository(open_objects(store_url(place), settings.data), sealer)
    found.check_format()
    return found


def _newest(source: Repository) -> str:
    ids = source.ids()
    if not ids:
        raise BackupError("there is no backup yet")
    return ids[-1]


def _list(source: Repository) -> int:
    """Print the backups, the newest first."""
    for id_ in reversed(source.ids()):
        made = source.read(id_)
        when = IN_ENGLISH.stamp(made.begun)
        print(f"{id_}  {when}  {len(made.files)} files, {made.size / (1 << 20):.1f} MiB")
    return EXIT_OK
