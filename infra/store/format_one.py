"""Data of format 1, as `matchpost upgrade` reads it.

| key | what |
|---|---|
| `{s07}:log` | stream with ids `<index>-1`: `e` board:seq, or `l` the bytes of a leaf |
| `{s07}:m:<board>` | string: snapshot |
| `{s07}:m:<board>:ev` | list of event bytes, position = seq - 1 |
| `{s07}:m:<board>:out` | hash: command id -> digest, log index in decimal, `:`, MessagePack of [code, seq, sentence] |
| `{s07}:due` | sorted set: board by the ms at which it is due |
| `{s07}:...`, `{s07}:m:<board>:...` | everything else is the same in format 2, under the shard's new tag |
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec
import redis

from domain.match.events import CommandId, decode_event

_SCAN: Final = 1_000
_KEY: Final = re.compile(r"\{s(\d\d)\}:(.+)")
_MATCH_KEY: Final = re.compile(r"m:(\d+)(?::(ev|out))?")
_TAILS: Final = msgspec.msgpack.Decoder(tuple[str, int, str])


class FormatOneOutcome(msgspec.Struct, frozen=True):
    """An outcome as format 1 stores it."""

    digest: bytes
    index: int
    """Of the command's first leaf in its shard's log."""
    code: str
    seq: int
    sentence: str


class FormatOneMatch(msgspec.Struct, frozen=True):
    """A match in the store of format 1."""

    board: int
    events: Sequence[bytes]
    outcomes: Mapping[CommandId, FormatOneOutcome]

    def leaf_indexes(self) -> list[int]:
        """Return the log indexes of all leaves of the match, events and refusals, in order."""
        starts = {command: outcome.index for command, outcome in self.outcomes.items()}
        indexes: list[int] = []
        by_command = groupby(self.events, key=lambda data: decode_event(data).command)
        for command, group in by_command:
            start = starts.pop(command)
            indexes += range(start, start + len(list(group)))
        return sorted([*indexes, *starts.values()])


class FormatOneLeaf(msgspec.Struct, frozen=True):
    """A leaf of a shard's log."""

    index: int
    data: bytes
    event: str = ""
    """`board:seq` of an event; empty for another leaf."""


class FormatOneKeys(msgspec.Struct, frozen=True):
    """The keys of a server's shards."""

    boards: Mapping[int, Sequence[int]]
    """By shard, in order, those with an event or an outcome."""
    others: Sequence[tuple[int, str]]
    """Shard and rest of each key that is the same in format 2 but for the shard's tag."""


class FormatOneData:
    """The data of a server. Errors of the server pass through."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def keys(self) -> FormatOneKeys:
        """Return which keys there are."""
        boards: dict[int, set[int]] = {}
        others: list[tuple[int, str]] = []
        for name in self._client.scan_iter("{s[0-9][0-9]}:*", count=_SCAN):
            found = _KEY.fullmatch(name.decode())
            assert found is not None, name
            shard, rest = int(found[1]), found[2]
            if match := _MATCH_KEY.fullmatch(rest):
                boards.setdefault(shard, set()).add(int(match[1]))
            elif rest not in ("log", "due"):
                others.append((shard, rest))
        return FormatOneKeys({shard: sorted(some) for shard, some in boards.items()}, others)

    def matches(self, shard: int, boards: Sequence[int]) -> list[FormatOneMatch]:
        """Return matches of a shard."""
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.lrange(old_key(shard, f"m:{board}:ev"), 0, -1)
                pipe.hgetall(old_key(shard, f"m:{board}:out"))
            found = iter(pipe.execute())
        rows = zip(boards, found, found, strict=True)
        return [
            FormatOneMatch(board, events, {id_: _outcome(data) for id_, data in stored.items()})
            for board, events, stored in rows
        ]

    def leaves(self, shard: int, start: int, count: int) -> list[FormatOneLeaf]:
        """Return up to `count` leaves of a shard's log from index `start`."""
        entries: Any = self._client.xrange(old_key(shard, "log"), f"{start}-0", count=count)
        with self._client.pipeline(transaction=False) as pipe:
            for _, fields in entries:
                if b"e" in fields:
                    board, seq = map(int, fields[b"e"].split(b":"))
                    pipe.lindex(old_key(shard, f"m:{board}:ev"), seq - 1)
            events = iter(pipe.execute())
        return [
            FormatOneLeaf(_index(id_), next(events), fields[b"e"].decode())
            if b"e" in fields
            else FormatOneLeaf(_index(id_), fields[b"l"])
            for id_, fields in entries
        ]

    def garbage(self) -> Iterator[bytes]:
        """Yield the keys that format 2 does not use: of the shards, of leases, of projections."""
        for pattern in ("{s[0-9][0-9]}:*", "lease:*", "{p:*"):
            yield from self._client.scan_iter(pattern, count=_SCAN)


def old_key(shard: int, rest: str) -> str:
    """Return a key of a shard in format 1."""
    return f"{{s{shard:02}}}:{rest}"


def _outcome(stored: bytes) -> FormatOneOutcome:
    index, _, rest = stored[8:].partition(b":")
    return FormatOneOutcome(stored[:8], int(index), *_TAILS.decode(rest))


def _index(id_: bytes) -> int:
    return int(id_.partition(b"-")[0])
