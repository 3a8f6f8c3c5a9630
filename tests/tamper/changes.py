"""Changes by chance of what a server has stored: of each kind of record in Redis and of each file.

A change is chosen by a seed. It may say nothing, as where two elements that are swapped are equal: then another
is tried.
"""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from infra.archive.directory_pages import DirectoryEntry, DirectoryPage
from infra.store.outcomes import parse
from tests.helpers.scrubbing import ScrubbedServer
from tests.helpers.server_copy import Dump

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
    "ends": r"\{s\d\d\.\w+\}:over",
    "archive marks": r"\{s\d\d\.\w+\}:gone",
    "seed counters": r"\{s\d\d\.\w+\}:draws",
    "board counter": r"\{boards\}",
    "account": r"\{a:[0-9a-f]{16}\}",
    "MAC": r"\{a:[0-9a-f]{16}\}:mac",
    "userid": r"\{u:\w+\}",
    "list of userids": r"\{users\}",
    "list of arbiters": r"\{arbiters\}",
    "lists and ratings": r"\{p:[a-z-]+:b\d\}:\d+:(?!at$|keys$|offloaded$|hold$|stuck$).+",
}
"""The kinds of keys that are changed. The others:

- `in`, `aside`, `tries`, `id:`, `ids`, `floor`, `no`, `laid`, `draft`: commands that wait, counters of attempts, what a
  player has prepared; nothing of it is a record, and the program meets each of them with its own checks;
- `published`, `closed`, `{boards}:shape`, projections' `live`, `last`, `at`, `keys`: compared by the tests of the
  table (`tests/scrub`) field by field, because most changes of them do no harm;
- messages, chat, notes, blocks, challenges, mail, tokens and sessions: no part of what is proven, and no second copy;
- leases, heartbeats, rate limits, the scrubber's own notes: they expire or are written anew.
"""

FILES: Final = {
    "bundle": r"log/s\d\d/tile/entries/.+",
    "tile": r"log/s\d\d/tile/\d/.+",
    "checkpoint": r"log/s\d\d/checkpoint",
    "directory page": r"log/s\d\d/boards/.+",
    "row page": r"log/rows/.+",
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
        self._before = before
        self._files = files
        self._names = [
            (kind, name)
            for kind, pattern in RECORDS.items()
            for name in sorted(now)
            if re.fullmatch(pattern, name.decode())
        ]
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
        """Make the change of a seed."""
        chance = random.Random(seed)
        kinds = sorted(self.kinds)
        while True:
            kind = kinds[seed % len(kinds)]
            if kind in RECORDS:
                name = chance.choice([name for one, name in self._names if one == kind])
                how, place = self._key(name, kind, chance)
                if self._client.dump(name) == self._now[name][1]:
                    continue
                what = name.decode()
            else:
                file = chance.choice([file for one, file in self._paths if one == kind])
                how, place = self._file(file, kind, chance)
                what = str(file.relative_to(self._server.folder))
            if how:
                return Change(kind, how, f"{what}{place}")

    def _key(self, name: bytes, kind: str, chance: random.Random) -> tuple[str, str]:
        """Change a key in one of the ways of its type; an empty name if this one says nothing."""
        of_type: dict[bytes, list[Callable[..., str]]] = {
            b"string": [self._edit_string, self._cut_string, self._longer_string],
            b"list": [self._edit_list, self._drop_list, self._swap_list, self._insert_list],
            b"hash": [self._edit_hash, self._drop_hash, self._swap_hash],
            b"zset": [self._edit_set, self._drop_set, self._insert_set],
            b"set": [self._drop_member],
            b"stream": [self._edit_stream, self._drop_stream, self._cut_stream],
        }
        ways: list[Callable[..., str]] = [*of_type[self._client.type(name)], self._drop]
        ways += [self._swap_keys, self._other_type]
        if name in self._before and self._before[name][1] != self._now[name][1]:
            ways += [self._roll_back] * 2
        way = chance.choice(ways)
        if kind == "list of userids" and way == self._insert_set:
            return "", ""  # any reader of the list removes it
        place = way(name, kind, chance)
        how = _HOW[way.__name__.strip("_")]
        return (how, place) if place else ("", "")

    # strings

    def _edit_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if not data:
            return ""
        place = chance.randrange(len(data))
        if data.isdigit():
            self._client.set(name, int(data) - chance.randint(1, int(data)))
            return " to a lower number"
        self._client.set(name, _other_byte(data, place, chance))
        return f" at byte {place}"

    def _cut_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if not data or data.isdigit():
            return ""
        self._client.set(name, data[: chance.randrange(len(data))])
        return " cut"

    def _longer_string(self, name: bytes, _kind: str, chance: random.Random) -> str:
        data = self._client.get(name)
        if data is None or data.isdigit():
            return ""
        more = bytes([chance.randrange(1, 256)])
        self._client.set(name, data + more)
        return " with a byte more"

    # lists

    def _edit_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        place = chance.randrange(self._client.llen(name))
        data = self._client.lindex(name, place)
        self._client.lset(name, place, _other_byte(data, chance.randrange(len(data)), chance))
        return f" at element {place}"

    def _drop_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        place = chance.randrange(len(rows))
        self._rewrite(name, rows[:place] + rows[place + 1 :])
        return f" at element {place}"

    def _swap_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
        if rows[one] == rows[other]:
            return ""
        rows[one], rows[other] = rows[other], rows[one]
        self._rewrite(name, rows)
        return f" at elements {one} and {other}"

    def _insert_list(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.lrange(name, 0, -1)
        place = chance.randrange(len(rows) + 1)
        self._rewrite(name, [*rows[:place], chance.choice(rows), *rows[place:]])
        return f" at element {place}"

    def _rewrite(self, name: bytes, rows: list[bytes]) -> None:
        self._client.delete(name)
        if rows:
            self._client.rpush(name, *rows)

    # hashes

    def _edit_hash(self, name: bytes, kind: str, chance: random.Random) -> str:
        field, value = chance.choice(sorted(self._client.hgetall(name).items()))
        if value.isdigit():
            if field == b"k" and value == b"0":
                return ""
            self._client.hset(name, field, int(value) + chance.choice([-1, 1]))
        else:
            # the digest of a refused command whose text is not stored can't be checked: see docs/audit.md
            first = 8 if kind == "outcomes" and parse(value).code else 0
            place = chance.randrange(first, len(value))
            other = _other_byte(value, place, chance)
            if kind == "statements" and _without_time(other) == _without_time(value):
                return ""  # only the digest of salt and text is in the log
            self._client.hset(name, field, other)
        return f" at {_shown(field)}"

    def _drop_hash(self, name: bytes, _kind: str, chance: random.Random) -> str:
        field = chance.choice(sorted(self._client.hgetall(name)))
        self._client.hdel(name, field)
        return f" at {_shown(field)}"

    def _swap_hash(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = sorted(self._client.hgetall(name).items())
        (one, first), (other, second) = chance.choice(rows), chance.choice(rows)
        if first == second:
            return ""
        self._client.hset(name, mapping={one: second, other: first})
        return f" at {_shown(one)} and {_shown(other)}"

    # sorted sets

    def _edit_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member, score = chance.choice(self._client.zrange(name, 0, -1, withscores=True))
        self._client.zadd(name, {member: score + chance.choice([-3_600_000, -1, 1, 3_600_000])})
        return f" at {_shown(member)}"

    def _drop_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member = chance.choice(self._client.zrange(name, 0, -1))
        self._client.zrem(name, member)
        return f" at {_shown(member)}"

    def _insert_set(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member, score = chance.choice(self._client.zrange(name, 0, -1, withscores=True))
        other = _other_byte(member, chance.randrange(len(member)), chance)
        if self._client.zscore(name, other) is not None:
            return ""
        self._client.zadd(name, {other: score})
        return f" at {_shown(other)}"

    def _drop_member(self, name: bytes, _kind: str, chance: random.Random) -> str:
        member = chance.choice(sorted(self._client.smembers(name)))
        self._client.srem(name, member)
        return f" at {_shown(member)}"

    # streams

    def _edit_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.xrange(name)
        place = chance.randrange(len(rows))
        id_, fields = rows[place]
        data = _other_byte(fields[b"l"], chance.randrange(len(fields[b"l"])), chance)
        rows[place] = (id_, {b"l": data})
        self._client.delete(name)
        for one, found in rows:
            self._client.xadd(name, found, id=one)
        return f" at {id_.decode()}"

    def _drop_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        id_, _ = chance.choice(self._client.xrange(name))
        self._client.xdel(name, id_)
        return f" at {id_.decode()}"

    def _cut_stream(self, name: bytes, _kind: str, chance: random.Random) -> str:
        rows = self._client.xrange(name)
        rows = rows[: chance.randrange(len(rows))]
        self._client.delete(name)
        for one, found in rows:
            self._client.xadd(name, found, id=one)
        return f" after {len(rows)} entries"

    # whole keys

    def _drop(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        self._client.delete(name)
        return " whole"

    def _swap_keys(self, name: bytes, kind: str, chance: random.Random) -> str:
        other = chance.choice([one for of, one in self._names if of == kind])
        if self._now[name][1] == self._now[other][1] or kind == "board counter":
            return ""
        for key, of in ((name, other), (other, name)):
            self._client.restore(key, 0, self._now[of][1], replace=True)
        return f" with {other.decode()}"

    def _other_type(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        was = self._client.type(name)
        self._client.delete(name)
        if was == b"string":
            self._client.rpush(name, "another type")
        else:
            self._client.set(name, "another type")
        return " to another type"

    def _roll_back(self, name: bytes, _kind: str, _chance: random.Random) -> str:
        self._client.restore(name, 0, self._before[name][1], replace=True)
        return " to an earlier value"

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
                other = _other_byte(data, place, chance)
                if kind == "directory page" and without_digests(other) == without_digests(data):
                    return "", ""
                file.write_bytes(other)
                return _HOW[way], f" at byte {place}"
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
                return _HOW[way], f" with {other.relative_to(self._server.folder)}"
            case _:
                assert earlier is not None
                file.write_bytes(earlier)
        return _HOW[way], ""


_HOW: Final = {
    "edit_string": "a byte or number edited",
    "cut_string": "cut off",
    "longer_string": "a byte more",
    "edit_list": "an element edited",
    "drop_list": "an element dropped",
    "swap_list": "two elements swapped",
    "insert_list": "an element inserted",
    "edit_hash": "a value edited",
    "drop_hash": "a field dropped",
    "swap_hash": "two values swapped",
    "edit_set": "a score edited",
    "drop_set": "a member dropped",
    "insert_set": "a member inserted",
    "drop_member": "a member dropped",
    "edit_stream": "an entry edited",
    "drop_stream": "an entry dropped",
    "cut_stream": "its end cut off",
    "drop": "dropped",
    "swap_keys": "swapped with another",
    "other_type": "of another type",
    "roll_back": "rolled back",
    "edit": "a byte edited",
    "cut": "cut off",
    "longer": "a byte more",
    "swap": "swapped with another",
    "roll back": "rolled back",
}
"""The ways in words."""


def _other_byte(data: bytes, place: int, chance: random.Random) -> bytes:
    return data[:place] + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :]


def _shown(field: bytes) -> str:
    return field.decode() if field.isascii() and field.decode().isprintable() else field.hex()


def _without_time(statement: bytes) -> object:
    """A statement without the time at which it was stored."""
    try:
        salt, account, _, text = msgspec.msgpack.decode(statement)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return statement
    return salt, account, text


def seeds(count: int, first: int) -> Iterator[int]:
    """The seeds of so many changes."""
    yield from range(first, first + count)
