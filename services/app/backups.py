"""Backups: an operator makes one, or asks the running server for one, and sees how they stand."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from redis import Redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.backup.copying import ServerCopies
from infra.backup.fetching import fetched_data
from infra.backup.notes import BackupNotes, BackupPlace
from infra.backup.port import BackupError
from infra.backup.repository import Manifest, Repository
from infra.backup.retention import Retention, id_of, kept, time_of
from infra.backup.sealing import Plain, own_sealer
from infra.log.key_files import keys_folder, named_host
from infra.objects.location import local_folder, open_objects, store_url
from infra.objects.port import ObjectStoreError
from infra.people.acts import Act
from infra.redis.clients import make_client
from infra.redis.cluster import in_cluster
from infra.settings.settings import Settings
from infra.store.layout import read_layout
from infra.store.log_gate import read_ends
from infra.store.watermarks import read_published_sizes
from infra.valkey.server import is_embedded
from services import __version__
from services.app.acts import record_act
from services.app.context import App
from services.app.roles import require_operator
from services.app.sentences import SAY

PUBLISHED_SECONDS: Final = 120.0
"""How long a backup of a cluster waits for the publisher."""

LATE_MS: Final = 2 * 86_400_000
"""A backup that was tried longer ago is too old, because one is made each day."""


class BackupState(msgspec.Struct, frozen=True):
    """How the backups of a server stand."""

    is_scheduled: bool
    """Whether one is made each day."""
    is_busy: bool
    """Whether one is being made, or was asked for."""
    notes: BackupNotes

    def is_late(self, now: int) -> bool:
        """Return whether none that was made in the last days was tried; `now` is in ms."""
        return now - self.notes.tried > LATE_MS


def read_state(settings: Settings) -> BackupState:
    """Return how the backups stand, as the data folder of this machine says."""
    place = BackupPlace(settings.data)
    return BackupState(settings.backup is not None, place.is_asked or place.is_busy(), place.read())


def backup_state(app: App, reader: AccountId) -> BackupState:
    """Return how the backups stand; `not-an-operator` for anybody else."""
    require_operator(app, reader)
    return read_state(app.settings)


class KeptBackup(msgspec.Struct, frozen=True):
    """A backup at its place."""

    id: str
    begun: int
    """In ms since 1970."""


def kept_backups(app: App, reader: AccountId) -> list[KeptBackup]:
    """Return the backups at the place of the settings, the newest first; none where they name no place.

    `not-an-operator` for anybody else, and `unavailable` if the place can't be read.
    """
    require_operator(app, reader)
    settings = app.settings
    if settings.backup is None:
        return []
    try:
        objects = open_objects(store_url(settings.backup), settings.data)
        ids = Repository(objects, Plain()).ids()  # whose names are not encrypted
    except ObjectStoreError as error:
        raise Refusal(Code.UNAVAILABLE, SAY("backups-away")) from error
    times = {id_: at for id_ in ids if (at := time_of(id_))}
    return [KeptBackup(id_, int(at.timestamp() * 1000)) for id_, at in reversed(times.items())]


def ask_for_backup(app: App, by: AccountId) -> None:
    """Have `serve` make a backup now, as an operator; `not-wanted` where the settings name no place for it."""
    require_operator(app, by)
    state = read_state(app.settings)
    if not state.is_scheduled:
        raise Refusal(Code.NOT_WANTED, SAY("no-backups"))
    if not state.is_busy:
        BackupPlace(app.settings.data).ask()
        record_act(app, by, Act.BACKUP_ASKED)


def make_backup(settings: Settings) -> tuple[str, Manifest]:
    """Make a backup where the settings say, under the lock of its folder, and return its id and its list.

    Errors of the stores pass through; `BackupError` if it can't be made.
    """
    data, secrets = _repositories(settings)
    server = named_host(keys_folder(settings))
    for target in (data, secrets):
        if target is not None:
            target.begin(server)
    begun = time.time()
    id_ = id_of(begun)
    with _data_folder(settings) as folder:
        copies = ServerCopies(data, secrets)
        return id_, copies.make(settings, folder, id_, int(begun * 1000), __version__)


@contextmanager
def _data_folder(settings: Settings) -> Iterator[Path]:
    """Yield the folder with the data: that of the server, or one into which they are fetched from another server."""
    if settings.redis_url is None or is_embedded(settings):
        yield settings.data
        return
    with make_client(settings.redis_url) as client:
        layout = read_layout(client)
        with fetched_data(client, BackupPlace(settings.data).fetched) as folder:
            if in_cluster(client) and settings.durability.durable:
                _wait_until_published(client, range(layout.shards))
            yield folder


def _wait_until_published(client: Redis, shards: range) -> None:
    """Wait until the published log has all that a node of a cluster may know of the others, which are a moment older."""
    ends = read_ends(client, shards)
    late = time.monotonic() + PUBLISHED_SECONDS
    while any(
        size.size < end
        for size, end in zip(read_published_sizes(client, len(shards)), ends, strict=True)
    ):
        if time.monotonic() > late:
            raise BackupError(
                "the log is not published as far as the data go; look at the publisher with `matchpost doctor`"
            )
        time.sleep(0.2)


def thin_out(
    settings: Settings, retention: Retention | None = None, failed: Collection[str] = ()
) -> None:
    """Delete older backups, once the newest was tried and holds; errors as of `make_backup`.

    Those that `failed` their trials are deleted, so that none of them stands for its day, week or month.
    """
    for target in _repositories(settings):
        if target is not None:
            ids = target.ids()
            target.remove(set(ids) - kept(set(ids) - set(failed), retention or Retention()))


def read_backups(settings: Settings) -> Repository:
    """Return the backups of this server, to be read with the key that it has itself."""
    return _repositories(settings)[0]


def _repositories(settings: Settings) -> tuple[Repository, Repository | None]:
    """Return the places of the backups and of their keys; `BackupError` for settings that can't be used."""
    check_places(settings)
    assert settings.backup is not None
    sealer = own_sealer(keys_folder(settings), settings.backup_encrypt_to)
    found = [
        Repository(open_objects(store_url(place), settings.data), sealer)
        for place in (settings.backup, settings.backup_keys)
        if place is not None
    ]
    return found[0], found[1] if found[1:] else None


def check_places(settings: Settings) -> None:
    """Raise `BackupError` if a server of these settings can't be copied to where they say."""
    if settings.backup is None:
        raise BackupError("name a place for the backup, or set MATCHPOST_BACKUP")
    folders = [local_folder(store_url(settings.backup), settings.data)]
    if settings.backup_keys is not None:
        if store_url(settings.backup_keys).rstrip("/") == store_url(settings.backup).rstrip("/"):
            raise BackupError(
                "keys and seeds need another place than the data: a finder of both has the server"
            )
        folders.append(local_folder(store_url(settings.backup_keys), settings.data))
    own = [settings.data, local_folder(settings.store, settings.data), keys_folder(settings)]
    for folder in folders:
        for one in own:
            if folder and one and _is_below(folder, one):
                raise BackupError(
                    f"{folder} is within {one}, which is to be copied: choose another place"
                )


def _is_below(folder: Path, above: Path) -> bool:
    return folder.resolve().is_relative_to(above.resolve())
