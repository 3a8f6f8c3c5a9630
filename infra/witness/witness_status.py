"""How far each witness of this server has cosigned its logs, read from the object store."""

from collections.abc import Sequence

import msgspec

from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import keys_folder
from infra.log.names import WITNESSED, object_name
from infra.log.signed_note import NoteError, VerifierKey, open_note, split_note
from infra.objects.location import open_objects
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.settings.settings import Settings
from infra.witness.client import read_witnesses


class WitnessStatus(msgspec.Struct, frozen=True):
    """The last cosignatures of one witness."""

    name: str
    leaves: int = 0
    """The cosigned sizes of all shards together."""
    oldest: int | None = None
    """When it cosigned the shard that it cosigned longest ago, s since 1970; None if it lacks one."""


class WitnessReport(msgspec.Struct, frozen=True):
    """All witnesses of a server."""

    witnesses: tuple[WitnessStatus, ...] = ()
    fault: str = ""
    """Why it can't be read."""


def read_witness_report(settings: Settings, shards: int) -> WitnessReport:
    """Return what the witnesses named beside the log's keys have cosigned; empty without any."""
    folder = keys_folder(settings)
    try:
        keys = [one.key for one in read_witnesses(folder)]
        if not keys:
            return WitnessReport()
        objects = open_objects(settings.store, settings.data)
        notes = [note for shard in range(shards) if (note := _note(objects, shard))]
        return WitnessReport(tuple(_status(key, notes, shards) for key in keys))
    except (NoteError, OSError, ObjectStoreError) as error:
        return WitnessReport(fault=str(error))


def _note(objects: ObjectStore, shard: int) -> bytes:
    try:
        return objects.get(object_name(shard, WITNESSED))
    except ObjectNotFoundError:
        return b""


def _status(key: VerifierKey, notes: Sequence[bytes], shards: int) -> WitnessStatus:
    leaves, times = 0, []
    for note in notes:
        _, signatures = split_note(note)
        seconds = [
            int.from_bytes(data[4:12])
            for name, data in signatures
            if (name, data[:4]) == (key.name, key.id)
        ]
        if seconds:
            leaves += LogCheckpoint.parse(open_note(note, [key])).size
            times.append(max(seconds))
    return WitnessStatus(key.name, leaves, min(times) if len(times) == shards else None)
