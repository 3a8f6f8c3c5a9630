"""The page of the published log: its latest checkpoints, and the witnesses that cosigned them."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec
from litestar import Response

from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import LogKeyError, keys_folder, read_public_keys
from infra.log.names import CHECKPOINT, WITNESSED, folder, object_name
from infra.log.signed_note import NoteError, split_note
from infra.objects.port import ObjectNotFoundError
from services.app.context import App
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render

pages = Pages()


class ShownLog(msgspec.Struct, frozen=True):
    """The log of a shard as the page shows it."""

    folder: str
    note: str
    """Its latest checkpoint."""
    size: int
    witnesses: tuple[str, ...] = ()
    """The names of the witnesses that have cosigned it."""
    witnessed: int = 0
    """How many leaves they have cosigned."""


@pages.get("/log")
def show_log(context: ContextDependency, visitor: VisitorDependency) -> Response[str]:
    """Show the latest checkpoint of each log, for anybody to keep."""
    logs = list(_read_logs(context.app))
    leaves = sum(log.size for log in logs)
    return render("log.html", visitor, logs=logs, leaves=leaves)


def _read_logs(app: App) -> Iterator[ShownLog]:
    settings = app.settings
    with suppress(LogKeyError):
        read_public_keys(keys_folder(settings))
        for shard in range(app.store.layout().shards):
            with suppress(ObjectNotFoundError, NoteError):
                yield _read_log(app, shard)


def _read_log(app: App, shard: int) -> ShownLog:
    note = app.objects.get(object_name(shard, CHECKPOINT)).decode()
    found = ShownLog(folder(shard), note, LogCheckpoint.parse(split_note(note)[0]).size)
    try:
        text, signatures = split_note(app.objects.get(object_name(shard, WITNESSED)))
    except ObjectNotFoundError:
        return found
    checkpoint = LogCheckpoint.parse(text)
    names = tuple(dict.fromkeys(name for name, _ in signatures if name != checkpoint.origin))
    return msgspec.structs.replace(found, witnesses=names, witnessed=checkpoint.size)
