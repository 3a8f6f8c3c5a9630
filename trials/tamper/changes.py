"""Changes by chance of what a server has stored: of each kind of record in Redis and of each file.

A change is chosen by a seed. It may say nothing, as where two elements that are swapped are equal: then another
is tried.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from infra.archive.directory_pages import DirectoryEntry, DirectoryPage
from tests.helpers.scrubbing import ScrubbedServer
from tests.helpers.server_copy import Dump
from trials.tamper.key_changes import KeyChanges, other_byte

RECORDS: Final = {
    "snapshot": r"\{s\d\d\.\w+\}:m:\d+",
    "moves": r"\{s\d\d\.\w+\}:m:\d+:moves",
    "times of moves": r"\{s\d\d\.\w+\}:m:\d+:turns",
    "events": r"\{s\d\d\.\w+\}:m:\d+:ev",
    "outcomes": r"\{s\d\d\.\w+\}:m:\d+:out",
    "locator": r"\{s\d\d\.\w+\}:m:\d+:at",
    "statements": r"\{s\d\d\.\w+\}:m:\d+:texts",
    "log": r"\{s\d\d\.\w+\}:log",
    "due times": r"\{s\d\d\.\w+\}:due",
    "ends": r"\{s\d\d\.\w+\}:ended",
    "archive marks": r"\{s\d\d\.\w+\}:archived",
    "seed counters": r"\{s\d\d\.\w+\}:draws",
    "board counter": r"\{boards\}",
    "account": r"\{a:[0-9a-f]{16}\}",
    "MAC": r"\{a:[0-9a-f]{16}\}:mac",
    "userid": r"\{u:\w+\}",
    "list of userids": r"\{users\}",
    "list of arbiters": r"\{arbiters\}",
    "lists and ratings": r"\{p:[a-z-]+:b\d\}:\d+:(?!at$|keys$|hold$|stuck$).+",
}
"""The kinds of keys that are changed. The others:

- `in`, `aside`, `tries`, `id:`, `ids`, `floor`, `no`, `laid`, `draft`: commands that wait, counters of attempts, what a
  player has prepared; nothing of it is a record, and the program meets each of them with its own checks;
- `published`, `closed`, `{boards}:shape`, projections' `live`, `last`, `at`, `keys`: compared by the tests of the
  table (`tests/scrub`) field by field, because most changes of them do no harm;
- `refused`: a refused command that is changed has another digest than its outcome; one that is missing may have been
  erased, so it is only counted (`trials/tamper/forgeries.py` changes them);
- messages, chat, notes, blocks, challenges, mail, tokens and sessions: no part of what is proven, and no second copy;
- leases, heartbeats, rate limits, the scrubber's own notes: they expire or are written again.
"""

FILES: Final = {
    "bundle": r"log/s\d\d/tile/entries/.+",
    "tile": r"log/s\d\d/tile/\d/.+",
    "checkpoint": r"log/s\d\d/checkpoint",
    "directory page": r"log/s\d\d/boards/.+",
    "log key": r"keys/(log|receipts)-key(\.pub)?",
    "accounts' key": r"keys/accounts-key",
    "seeds": r"seeds/s\d\d-\d+-[0-9a-f]+",
    "mark of seeds": r"seeds/.+\.used",
}
"""The kinds of files that are changed."""


def is_read(file: Path) -> bool:
    """Whether a file is not a partial tile or bundle in whose place there is a longer one: nobody reads it."""
    if not file.parent.name.endswith(".p"):
        return True
    longest = max(int(one.name) for one in file.parent.iterdir())
    return int(file.name) == longest and not file.parent.with_suffix("").exists()


def without_digests(data: bytes) -> object:
    """A directory page without the digests of refused commands.

    Where the text of such a command is not stored, nothing can check its digest.
    """
    try:
        page = msgspec.msgpack.decode(data, type=DirectoryPage)
        entries = [msgspec.msgpack.decode(one, type=DirectoryEntry | None) for one in page.entries]
    except (msgspec.MsgspecError, ValueError):
        return data
    return (
        page.version,
        page.shards,
        page.shard,
        page.number,
        [
            entry
            and msgspec.structs.replace(
                entry, refusals=tuple((id_, stored[8:]) for id_, stored in entry.refusals)
            )
            for entry in entries
        ],
    )


class Change(NamedTuple):
    """One change, made."""

    kind: str
    """The kind of key or file."""
    how: str
    what: str
    """The key or file, and the place."""


class Tampering:
    """Makes changes of a server; `before` is an earlier state of its keys and files."""

    def __init__(
        self, server: ScrubbedServer, now: Dump, before: Dump, files: dict[Path, bytes]
    ) -> None:
        self._server = server
        # redis-py types no answer precisely
        self._client: Any = server.client
        self._now = now
        self._files = files
        self._names = [
            (kind, name)
            for kind, pattern in RECORDS.items()
            for name in sorted(now)
            if re.fullmatch(pattern, name.decode())
        ]
        self._keys = KeyChanges(self._client, now, before, self._names)
        self._paths = [
            (kind, file)
            for kind, pattern in FILES.items()
            for file in sorted(server.folder.rglob("*"))
            if file.is_file()
            and re.fullmatch(pattern, str(file.relative_to(server.folder)))
            and is_read(file)
        ]

    @property
    def kinds(self) -> set[str]:
        """The kinds of keys and files that this server has."""
        return {kind for kind, _ in (*self._names, *self._paths)}

    def change(self, seed: int) -> Change:
        chance = random.Random(seed)
        kinds = sorted(self.kinds)
        while True:
            kind = kinds[seed % len(kinds)]
            if kind in RECORDS:
                name = chance.choice([name for one, name in self._names if one == kind])
                how, place = self._keys.change(name, kind, chance)
                if self._client.dump(name) == self._now[name][1]:
                    continue
                what = name.decode()
            else:
                file = chance.choice([file for one, file in self._paths if one == kind])
                how, place = self._file(file, kind, chance)
                what = str(file.relative_to(self._server.folder))
            if how:
                return Change(kind, how, f"{what}{place}")

    # files

    def _file(self, file: Path, kind: str, chance: random.Random) -> tuple[str, str]:
        data = file.read_bytes()
        earlier = self._files.get(file.relative_to(self._server.folder))
        ways = ["edit", "cut", "longer", "drop", "swap"]
        if earlier is not None and earlier != data:
            ways += ["roll back"] * 2
        match way := chance.choice(ways):
            case "edit":
                place = chance.randrange(len(data))
                other = other_byte(data, place, chance)
                if kind == "directory page" and without_digests(other) == without_digests(data):
                    return "", ""
                file.write_bytes(other)
                return way, f" at byte {place}"
            case "cut":
                file.write_bytes(data[: chance.randrange(len(data))])
            case "longer":
                file.write_bytes(data + bytes([chance.randrange(1, 256)]))
            case "drop":
                file.unlink()
            case "swap":
                other = chance.choice([one for of, one in self._paths if of == kind])
                if other.read_bytes() == data:
                    return "", ""
                file.write_bytes(other.read_bytes())
                other.write_bytes(data)
                return way, f" with {other.relative_to(self._server.folder)}"
            case _:
                assert earlier is not None
                file.write_bytes(earlier)
        return way, ""


def seeds(count: int, first: int) -> Iterator[int]:
    yield from range(first, first + count)
