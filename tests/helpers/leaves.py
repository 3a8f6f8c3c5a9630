"""Leaves of a shard's log: what they are, and a change of one, which no command of the server makes.

The tree of a log as a reader makes it from tiles, apart from the product's own ways to do so.

Changes that somebody may make to the bytes of a stored event.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from redis import Redis

from domain.match.history import decode_event, encode_event
from infra.log.tiles import LEVELS, WIDTH, Tile, fold_pairs, tile_of, unpack_tile
from infra.redis import keys


class _EventPlace(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of an event; the rest is not decoded. Other leaves begin with a word."""

    schema: int
    match: int
    seq: int


_PLACES = msgspec.msgpack.Decoder(_EventPlace)


def event_place(leaf: bytes) -> tuple[int, int] | None:
    """Return the match and sequence number of an event's leaf; None for any other leaf."""
    try:
        place = _PLACES.decode(leaf)
    except msgspec.MsgspecError:
        return None
    return place.match, place.seq


def replace_leaf(client: Redis, shard: int, index: int, leaf: bytes) -> None:
    """Write the whole log again, with another leaf at that index."""
    name = keys.log(shard)
    entries: Any = client.xrange(name)
    client.delete(name)
    for id_, fields in entries:
        client.xadd(name, {"l": leaf} if id_ == b"%d-1" % index else fields, id_)


class TileTree:
    """The tree of a log of one size, read from its tiles.

    `read` returns the bytes of a tile. Each tile is read once.
    """

    def __init__(self, size: int, read: Callable[[Tile], bytes]) -> None:
        self.size = size
        self._read = read
        self._tiles: dict[Tile, list[bytes]] = {}

    def node(self, level: int, number: int) -> bytes:
        """Return the hash of a complete node of the tree; the reader for `infra.log.merkle`."""
        below, height = divmod(level, LEVELS)
        first = number << height
        tile = tile_of(below, first, self.size)
        if tile not in self._tiles:
            self._tiles[tile] = unpack_tile(self._read(tile), tile.width)
        start = first % WIDTH
        hashes = self._tiles[tile][start : start + (1 << height)]
        if len(hashes) < 1 << height:
            raise ValueError(
                f"node {number} of level {level} is not complete at {self.size} leaves"
            )
        return fold_pairs(hashes)


def a_flipped_bit(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def another_time(data: bytes) -> bytes:
    envelope = decode_event(data)
    return encode_event(msgspec.structs.replace(envelope, at=envelope.at + 1))


def another_actor(data: bytes) -> bytes:
    return encode_event(msgspec.structs.replace(decode_event(data), actor=b"intruder"))


def another_command(data: bytes) -> bytes:
    return encode_event(msgspec.structs.replace(decode_event(data), command=b"x" * 16))


def nothing(data: bytes) -> bytes:
    del data
    return b""


def a_cut(data: bytes) -> bytes:
    return data[:-1]


EDITS: list[Callable[[bytes], bytes]] = [
    a_flipped_bit, another_time, another_actor, another_command, nothing, a_cut,
]  # fmt: skip
