"""The walk through all keys of the matches' server: matches, accounts, names, and keys that nobody writes."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from zlib import crc32

from redis.exceptions import ResponseError

from infra.redis import keys
from infra.redis.cluster import in_cluster, servers_of
from infra.redis.key_table import KEYS
from workers.scrub.accounts import AccountCheck
from workers.scrub.matches import MatchCheck
from workers.scrub.scrubber import ScrubFault, ScrubParts, Step

COUNT: Final = 20
"""Keys of a step, about: a match among them takes some ms."""

_MATCH: Final = re.compile(r"(\{s\d\d\.[0-9a-z]+\}):m:(\d{1,18})(:[a-z]+)?")
_SHARD: Final = re.compile(r"(\{s\d\d\.[0-9a-z]+\}):([a-z]+)(:.+)?")
_ACCOUNT: Final = re.compile(r"\{a:([0-9a-f]{16})\}(:mac)?")
_NAME: Final = re.compile(r"\{u:([^}]+)\}")

_OF_SHARD: Final = "{s07.a1y}:"
_OF_MATCH: Final = "m:<board>"
_PATTERNS: Final = [
    key.name.removeprefix(_OF_SHARD) for key in KEYS if key.name.startswith(_OF_SHARD)
]
"""The keys of a shard, as their table has them."""

_MATCH_PARTS: Final = frozenset(
    one.removeprefix(_OF_MATCH) for one in _PATTERNS if one.startswith(_OF_MATCH)
)
_SHARD_KEYS: Final = frozenset(
    one.partition(":")[0] for one in _PATTERNS if not one.startswith(_OF_MATCH)
)
_RECORDS: Final = frozenset({"", ":ev", ":at", ":out", ":moves", ":turns"})
"""Parts that tell of a match."""


class WalkPlace(NamedTuple):
    """A place in the walk."""

    slots: int
    """A checksum of which node has which slots; 0 for one server."""
    node: int = 0
    """The place of the node among all."""
    cursor: int = 0
    """That of its SCAN."""


def read_walk_place(client: Any, cursor: str) -> WalkPlace:
    """Return the place of a cursor: the beginning if it is empty, or if slots have moved since.

    A key whose slot has moved to a node that was walked already would not be met.
    """
    nodes = servers_of(client)
    slots = crc32(repr(nodes[0].cluster("slots")).encode()) if in_cluster(client) else 0
    parts = [int(part) for part in cursor.split("/") if part]
    return (
        WalkPlace(*parts)
        if len(parts) == len(WalkPlace._fields) and parts[0] == slots
        else WalkPlace(slots)
    )


def _scan(client: Any, place: WalkPlace) -> tuple[str | None, list[bytes]]:
    """Return the next cursor, None at the end, and the names of keys."""
    nodes: list[Any] = servers_of(client)
    cursor, found = nodes[place.node].scan(place.cursor, count=COUNT)
    after = WalkPlace(place.slots, place.node if cursor else place.node + 1, cursor)
    return None if after.node == len(nodes) else "/".join(map(str, after)), found


class StoredKeys:
    """All keys; each match and each account is checked where its keys are met."""

    name = "keys"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        self._matches = MatchCheck(parts)
        self._accounts = AccountCheck(parts)

    def step(self, cursor: str) -> Step:
        """Check the next keys."""
        place = read_walk_place(self._parts.data, cursor)
        if place == WalkPlace(place.slots):
            self._accounts.begin()
        after, found = _scan(self._parts.data, place)
        names = sorted({name.decode(errors="replace") for name in found})
        faults: list[ScrubFault] = []
        boards: dict[int, bool] = {}
        tags: Mapping[str, int] = {
            keys.shard_tag(shard): shard for shard in range(self._parts.shards)
        }
        for name in names:
            if match := _MATCH.fullmatch(name):
                faults += self._place(name, match, tags, boards)
            elif shard := _SHARD.fullmatch(name):
                if shard[1] not in tags or shard[2] not in _SHARD_KEYS:
                    faults.append(_unknown(name))
            elif account := _ACCOUNT.fullmatch(name):
                faults += _guarded(
                    name,
                    lambda account=account: self._accounts.record(bytes.fromhex(account[1])),  # type: ignore[misc]
                )
            elif user := _NAME.fullmatch(name):
                faults += _guarded(name, lambda user=user: self._accounts.name(user[1]))  # type: ignore[misc]
        found_in_matches, checked = self._matches.check(self._once(boards))
        faults += found_in_matches
        if not after:
            faults += self._accounts.end()
        return Step(after, faults, checked)

    def _once(self, boards: Mapping[int, bool]) -> list[int]:
        """Return the boards to check: a match with a snapshot is checked where that is met."""
        others = [board for board, has_snapshot in boards.items() if not has_snapshot]
        with self._parts.data.pipeline(transaction=False) as pipe:
            for board in others:
                pipe.exists(keys.snapshot(keys.shard_of(board, self._parts.shards), board))
            there = dict(zip(others, pipe.execute(), strict=True))
        return sorted(board for board in boards if not there.get(board))

    def _place(
        self, name: str, found: re.Match[str], tags: Mapping[str, int], boards: dict[int, bool]
    ) -> Iterator[ScrubFault]:
        """Yield the fault of a key of a match that is in a wrong place; else note its board."""
        board, part = int(found[2]), found[3] or ""
        shard = tags.get(found[1])
        if (
            shard is None
            or part not in _MATCH_PARTS
            or keys.shard_of(board, len(tags)) != shard
            or str(board) != found[2]
        ):
            yield _unknown(name)
        elif part in _RECORDS:
            boards[board] = boards.get(board, False) or not part


def _guarded(name: str, check: Callable[[], list[ScrubFault]]) -> list[ScrubFault]:
    """Return what a check finds; a key of another type is a fault."""
    try:
        return check()
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        return [ScrubFault(f"key {name}", "it is of another type than this program writes there")]


def _unknown(name: str) -> ScrubFault:
    return ScrubFault(
        f"key {name}", "this program writes no such key there: it was inserted or moved"
    )
