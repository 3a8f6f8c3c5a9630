"""The witnesses of a server: those named beside its log's keys, and how far each has cosigned its logs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from infra.log.checkpoint import LogCheckpoint
from infra.log.key_files import keys_folder
from infra.log.names import WITNESSED, object_name
from infra.log.signed_note import NoteError, SignatureType, VerifierKey, open_note, split_note
from infra.objects.location import open_objects
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.settings.settings import Settings

WITNESSES_FILE: Final = "witnesses"
"""The file beside the log's keys: a line for each witness, its key and its URL."""


class WitnessAddress(msgspec.Struct, frozen=True):
    """A witness: its key, and the prefix of its addresses."""

    key: VerifierKey
    url: str

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read `KEY URL`; `NoteError`, with a sentence, if it is something else."""
        key, _, url = line.strip().partition(" ")
        found = VerifierKey.parse(key)
        if found.type is not SignatureType.COSIGNATURE:
            raise NoteError(f"{found.name} isn't the key of a witness, whose type is 4")
        if not url.strip().startswith(("http://", "https://")):
            raise NoteError(f"behind the key of {found.name} its address is missing: http(s)://...")
        return cls(found, url.strip().rstrip("/"))


def read_witnesses(folder: Path) -> list[WitnessAddress]:
    """Return the witnesses of a folder of keys, none without a file; `NoteError` for a malformed line."""
    try:
        lines = (folder / WITNESSES_FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [WitnessAddress.parse(line) for line in lines if line.strip() and line[0] != "#"]


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
