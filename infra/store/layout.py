"""The layout as it is recorded in the data, and the check that this program can read the data.

| field of `{boards}:shape` | what | changes |
|---|---|---|
| `format` | version of keys and values | never |
| `shards` | number of shards | never |
| `tags` | the hash tags of the shards | never |
| `numbering` | how boards are numbered: `infra.store.board_numbers` | never |
| `lanes` | number of lanes | by `matchpost lanes` |
| `from`, `to`, `moved` | where the data came from, or went, and when, in ms: `infra.store.moving` | by `matchpost move-to` |
| `unverified` | there while data that were copied here are not verified | by `matchpost move-to` |
"""

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
import redis

from infra.redis import keys
from infra.redis.cluster import in_cluster
from infra.redis.keys import Lane, all_lanes, lane_of, shard_of

FORMAT: Final = "2"
"""Version of the keys and values; data of another format are refused."""

OLD_FORMAT: Final = "1"
"""The format of the data of matchpost 0.2 and earlier."""

COPYING: Final = "copying"
"""In place of the format while the data are being copied here."""

MOVED: Final = "moved"
"""In place of the format of data that were moved to another server."""


LAYOUT_SECONDS: Final = 10.0
"""How old the layout may be that a process goes by: its lanes may change while it runs."""


class Numbering(StrEnum):
    """Where boards get their numbers."""

    SERVER = "server"
    """One counter numbers all boards."""
    SHARD = "shard"
    """Each shard numbers its own boards, as a cluster needs it."""


class Layout(msgspec.Struct, frozen=True):
    """Layout of the data: shards never change, lanes only when an operator asks for it."""

    shards: int
    lanes: int
    numbering: Numbering = Numbering.SERVER

    def shard_of(self, board: int) -> int:
        """Return the shard a board lives in."""
        return shard_of(board, self.shards)

    def lane_of(self, board: int) -> Lane:
        """Return the lane that drains a board's shard."""
        return lane_of(self.shard_of(board), self.lanes, self.shards)

    @property
    def all_lanes(self) -> list[Lane]:
        """Return all lanes."""
        return all_lanes(self.lanes)


def initial_layout(client: redis.Redis, shards: int, lanes: int) -> Layout:
    """Return the layout that new data get, with so many lanes at most."""
    numbering = Numbering.SHARD if in_cluster(client) else Numbering.SERVER
    return Layout(shards, min(lanes, shards), numbering)


def check_lanes(lanes: int, shards: int) -> None:
    """Raise ValueError for a number of lanes into which so many shards can't be divided."""
    if not 1 <= lanes <= shards:
        raise ValueError(
            f"the lanes are a number from 1 to {shards}, because there are {shards} shards"
        )


def read_layout(client: redis.Redis) -> Layout:
    """Return the recorded layout; `LookupError` if there is none, or this program can't read the data."""
    found: Any = client.hgetall(keys.LAYOUT)
    layout = decode_layout(found)
    if layout.numbering is Numbering.SERVER and in_cluster(client):
        raise LookupError(
            "the data was made on one server, where one counter numbers all matches, and can't be used on "
            "a cluster as they are; `matchpost move-to` takes them there"
        )
    return layout


class KnownLayout:
    """The layout of a store, read again when it was read `LAYOUT_SECONDS` ago, because its lanes may have changed."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._known: Layout | None = None
        self._due = 0.0

    def __call__(self) -> Layout:
        """Return the layout; `LookupError` before it is created."""
        if self._known is None or time.monotonic() >= self._due:
            return self.again()
        return self._known

    def again(self) -> Layout:
        """Read the layout now, and return it."""
        self._known = read_layout(self._client)
        self._due = time.monotonic() + LAYOUT_SECONDS
        return self._known

    @property
    def fixed(self) -> Layout:
        """The layout for what never changes in it: not read again."""
        return self._known or self()


def create_layout(client: redis.Redis, layout: Layout) -> None:
    """Record a layout, unless one is recorded already; `LookupError` for data that were not verified after a move."""
    if client.exists(keys.LAYOUT):
        if client.hexists(keys.LAYOUT, "unverified"):
            raise LookupError(
                "the data were copied here and not verified: run `matchpost move-to` again, which ends the move"
            )
        return
    fields = {
        "format": FORMAT,
        "shards": str(layout.shards),
        "tags": keys.shard_tags(layout.shards),
        "numbering": layout.numbering,
        "lanes": str(layout.lanes),
    }
    with client.pipeline(transaction=True) as pipe:
        # field by field, because another process may record another layout at the same time
        for field, value in fields.items():
            pipe.hsetnx(keys.LAYOUT, field, value)
        pipe.execute()


def decode_layout(found: Mapping[bytes, bytes]) -> Layout:
    """Return the layout that fields record; `LookupError` as `read_layout`."""
    if not found:
        raise LookupError("there is no data yet")
    theirs = found[b"format"].decode()
    if theirs == COPYING:
        raise LookupError(
            f"the data are being copied here from {found[b'from'].decode()}; if the copy was cut off, run "
            "`matchpost move-to` again, which begins it again"
        )
    if theirs == MOVED:
        raise LookupError(
            f"the data were moved to {found[b'to'].decode()}: set MATCHPOST_REDIS_URL to that server; "
            "`matchpost move-to URL --back` takes the move back as long as nobody has used it there"
        )
    if theirs == OLD_FORMAT:
        raise LookupError(
            f"the data has format {theirs}, which matchpost 0.2 and earlier wrote, and this version reads only "
            f"{FORMAT}; use the version of matchpost that wrote it"
        )
    if theirs != FORMAT:
        raise LookupError(
            f"the data has format {theirs}, and this version reads {FORMAT}; use the version of "
            "matchpost that wrote it"
        )
    layout = Layout(
        int(found[b"shards"]), int(found[b"lanes"]), Numbering(found[b"numbering"].decode())
    )
    if found[b"tags"].decode() != keys.shard_tags(layout.shards):
        raise LookupError(
            "the data has a format with other names of its shards than this version uses; use the "
            "version of matchpost that wrote it"
        )
    return layout
