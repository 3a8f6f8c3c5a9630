"""The dump: all finished matches as files for download, one for each month, game and format.

A dump has what the published log has: moves and account ids, no names, so nothing in it has to be erased later. A file that
is final never changes. Objects are named after their content and written before the index that names them, so a reader
of the index finds whole files, whatever is killed.

| object | what |
|---|---|
| `dump/index` | the `DumpIndex` as JSON, the only object that is written again |
| `dump/files/<month>-<game>-<digest>.<suffix>` | a file |
"""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import groupby
from typing import Final

import msgspec

from domain.clocks.time_control import DAY
from domain.errors import Code, Refusal
from domain.rules import game_keys
from infra.archive.match_tables import JsonLines, ParquetTable
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.projections.archived_places import Place
from services.app.context import App
from services.app.match_lines import AT_ONCE, dump_lines
from services.app.sentences import SAY

logger = logging.getLogger(__name__)

MOST_MATCHES: Final = 100_000
"""Matches of a file, which is in memory, compressed, while it is written."""

PIECE: Final = 1 << 18
"""Bytes of a file that are read together."""

_INDEX: Final = "dump/index"
_FILES: Final = "dump/files"
_PLACES: Final = 5_000
_SETTLED_DAYS: Final = 5
"""How long after the end of its last matches' time in memory a month is final."""


class DumpFile(msgspec.Struct, frozen=True):
    """A file of a dump."""

    name: str
    """Such as `2026-11-pow2.ndjson.gz`, also while its content changes."""
    month: str
    """In which its matches ended, in UTC, such as `2026-11`."""
    game: str
    matches: int
    bytes: int
    sha256: str
    """In hex."""
    final: bool
    """Whether it never changes again."""
    object: str
    """Its name in the object store, or below the folder of a dump that was made by hand."""


class DumpIndex(msgspec.Struct, frozen=True):
    """The list of the files of a dump."""

    made: int = 0
    """When it was made, ms since 1970; 0 for never."""
    until: int = 0
    """It has the matches that ended before this time, ms since 1970."""
    files: tuple[DumpFile, ...] = ()


_decode: Final = msgspec.json.Decoder(DumpIndex).decode


def read_dump(objects: ObjectStore) -> DumpIndex:
    """Return the index of the last dump, an empty one if there is none; `unavailable` if it can't be read."""
    data = _read_index(objects)
    return DumpIndex() if data is None else _decode(data)


def _read_index(objects: ObjectStore) -> bytes | None:
    try:
        return objects.get(_INDEX)
    except ObjectNotFoundError:
        return None
    except ObjectStoreError as error:
        raise Refusal(Code.UNAVAILABLE, SAY("dump-away")) from error


def dump_file(objects: ObjectStore, name: str) -> DumpFile:
    """Return a file of the last dump; `not-found` if it has none of this name, `unavailable`."""
    for file in read_dump(objects).files:
        if file.name == name:
            return file
    raise Refusal(Code.NOT_FOUND, SAY("no-dump-file"))


def file_pieces(objects: ObjectStore, file: DumpFile) -> Iterator[bytes]:
    """Yield the bytes of a file, piece by piece."""
    for start in range(0, file.bytes, PIECE):
        yield objects.get_range(file.object, start, min(PIECE, file.bytes - start))


def make_dump(app: App, objects: ObjectStore) -> DumpIndex:
    """Write the matches that ended before today, and return the index; files that are final stay.

    Errors of the object store pass through; `unavailable` if the archive can't be read now.
    """
    before = _read_index(objects)
    old = DumpIndex() if before is None else _decode(before)
    now = app.store.now()
    until = now // DAY * DAY
    settled = now - (app.settings.archive_after + _SETTLED_DAYS) * DAY
    done = {(file.game, file.month) for file in old.files if file.final}
    files = [file for file in old.files if file.final]
    for game in game_keys():
        for month, places in _months(app, game, until, done):
            final = _end_of(month) <= settled
            for part in range(0, len(places), MOST_MATCHES):
                number = part // MOST_MATCHES + 1
                some = places[part : part + MOST_MATCHES]
                stem = f"{month}-{game}" + (f"-{number}" if number > 1 else "")
                files += _write(
                    app, objects, DumpFile(stem, month, game, 0, 0, "", final, ""), some
                )
    index = DumpIndex(now, until, tuple(sorted(files, key=lambda file: file.name)))
    objects.replace(_INDEX, msgspec.json.format(msgspec.json.encode(index)), before)
    # those of the index before stay, because somebody may be reading them
    kept = {file.object for file in (*index.files, *old.files)}
    for name in objects.names(_FILES):
        if name not in kept:
            objects.delete(name)
    return index


def _months(
    app: App, game: str, until: int, done: set[tuple[str, str]]
) -> Iterator[tuple[str, list[Place]]]:
    """Yield the months of a game that are not done, the newest first, with the places of their matches, the oldest first."""

    def places() -> Iterator[Place]:
        last, start = (until, b""), 0
        while found := app.history.places_of_game(game, start, _PLACES):
            # one that ended or left the list meanwhile moves the others, so some may come twice
            yield from (one for one in found if one < last)
            last = min(last, found[-1])
            start += len(found) - 1 if len(found) > 1 else 1

    for month, some in groupby(places(), key=lambda place: _month_of(place[0])):
        if (game, month) in done:
            return  # with all before it, because an index has all months up to its time
        yield month, list(some)[::-1]


def _month_of(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m}"


def _end_of(month: str) -> int:
    first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    following = (first + timedelta(days=32)).replace(day=1)
    return int(following.timestamp() * 1000)


def _write(app: App, objects: ObjectStore, plan: DumpFile, places: list[Place]) -> list[DumpFile]:
    """Write matches in all formats, and return their files; none if there are no matches."""
    formats: list[JsonLines | ParquetTable] = [JsonLines()]
    try:
        formats.append(ParquetTable())
    except ImportError:
        logger.info("the dump has no Parquet, which needs the group `parquet` of the package")
    count = 0
    for start in range(0, len(places), AT_ONCE):
        rows = [
            msgspec.to_builtins(line) for line in dump_lines(app, places[start : start + AT_ONCE])
        ]
        count += len(rows)
        for one in formats:
            one.add(rows)
    return [_store(objects, plan, count, one) for one in formats] if count else []


def _store(
    objects: ObjectStore, plan: DumpFile, count: int, one: JsonLines | ParquetTable
) -> DumpFile:
    data = one.finish()
    digest = sha256(data).hexdigest()
    stored = f"{_FILES}/{plan.name}-{digest[:16]}.{one.suffix}"
    objects.create(stored, data)
    return msgspec.structs.replace(
        plan,
        name=f"{plan.name}.{one.suffix}",
        matches=count,
        bytes=len(data),
        sha256=digest,
        object=stored,
    )
