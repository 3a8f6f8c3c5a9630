"""Tiles and entry bundles (C2SP tlog-tiles): their paths, their bytes, and the tree in them.

A tile holds up to 256 hashes of one level of tiles, which is every eighth level of the tree. A bundle
holds the bytes of up to 256 entries. Full ones never change; partial ones belong to one size of the log.

A Merkle tree made again from all leaves, bundle by bundle, with the tiles that belong to it.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

import msgspec

from infra.log import merkle
from infra.log.merkle import HASH_SIZE, node_hash

WIDTH: Final = 256
"""Hashes of a full tile, and entries of a full bundle."""

LEVELS: Final = 8
"""Levels of the tree in one level of tiles."""

_LENGTH: Final = Struct(">H")
MOST_ENTRY_BYTES: Final = 65_535


class Tile(msgspec.Struct, frozen=True):
    """The name of a tile."""

    level: int
    number: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """Return its path below the log's prefix."""
        return f"tile/{self.level}/{number_path(self.number, self.width)}"


def bundle_path(number: int, width: int = WIDTH) -> str:
    """Return the path of an entry bundle below the log's prefix."""
    return f"tile/entries/{number_path(number, width)}"


def number_path(number: int, width: int = WIDTH) -> str:
    """Return a number as a path of groups of three digits, and for a partial tile its width."""
    groups = [f"{number % 1000:03}"]
    while number := number // 1000:
        groups.append(f"x{number % 1000:03}")
    partial = f".p/{width}" if width < WIDTH else ""
    return "/".join(reversed(groups)) + partial


def tile_of(level: int, number: int, size: int) -> Tile:
    """Return the tile of a log of that size with the node that a tile of `level` has at `number`."""
    nodes = size >> (LEVELS * level)
    if not 0 <= number < nodes:
        raise ValueError(
            f"a log of {size} leaves has no hash {number} at level {level} of its tiles"
        )
    tile = number // WIDTH
    return Tile(level, tile, min(WIDTH, nodes - tile * WIDTH))


def pack_bundle(entries: Sequence[bytes]) -> bytes:
    """Return the bytes of a bundle; ValueError for an entry of more than 65,535 bytes."""
    for entry in entries:
        if len(entry) > MOST_ENTRY_BYTES:
            raise ValueError(f"an entry has at most {MOST_ENTRY_BYTES} bytes, not {len(entry)}")
    return b"".join(_LENGTH.pack(len(entry)) + entry for entry in entries)


def unpack_bundle(data: bytes) -> list[bytes]:
    """Return the entries of a bundle; ValueError if it is cut off or has more than 256."""
    entries: list[bytes] = []
    at, end = 0, len(data)
    try:
        while at < end:
            start = at + _LENGTH.size
            at = start + (data[at] << 8 | data[at + 1])
            entries.append(data[start:at])
    except IndexError:
        raise ValueError("the bundle is cut off in a length") from None
    if at > end:
        raise ValueError("the bundle is cut off in an entry")
    if len(entries) > WIDTH:
        raise ValueError(f"a bundle has at most {WIDTH} entries, not {len(entries)}")
    return entries


def unpack_tile(data: bytes, width: int) -> list[bytes]:
    """Return the hashes of a tile; ValueError if they are not `width`."""
    if len(data) != width * HASH_SIZE:
        raise ValueError(f"a tile of {width} hashes has {width * HASH_SIZE} bytes, not {len(data)}")
    return [data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE)]


def fold_pairs(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of the node over these, whose number is a power of two."""
    row = list(hashes)
    while len(row) > 1:
        row = [node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)]
    return row[0]


class TreeRebuild:
    """The tree over the leaves so far. It keeps the unfinished tile of each level and nothing else."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: list[list[bytes]] = [[]]
        """The hashes of the unfinished tile of each level, the lowest first."""

    def add(self, leaves: Sequence[bytes]) -> Iterator[tuple[Tile, list[bytes]]]:
        """Add the leaves of the next bundle, and yield the tiles that are full now, with their hashes."""
        assert self.size % WIDTH + len(leaves) <= WIDTH
        self._rows[0] += map(merkle.leaf_hash, leaves)
        self.size += len(leaves)
        level = 0
        while len(self._rows[level]) == WIDTH:
            row, self._rows[level] = self._rows[level], []
            number = (self.size >> (LEVELS * (level + 1))) - 1
            yield Tile(level, number), row
            level += 1
            if level == len(self._rows):
                self._rows.append([])
            self._rows[level].append(fold_pairs(row))

    def unfinished(self) -> Iterator[tuple[Tile, list[bytes]]]:
        """Yield the partial tiles that a log of this size has."""
        for level, row in enumerate(self._rows):
            if row:
                number = self.size >> (LEVELS * (level + 1))
                yield Tile(level, number, len(row)), row

    def root(self) -> bytes:
        """Return the root of the tree so far."""
        return merkle.root(self.size, self._node)

    def _node(self, level: int, number: int) -> bytes:
        """Return the hash of a node; those of a root are all over unfinished tiles."""
        row, height = divmod(level, LEVELS)
        first = (number << height) % WIDTH
        return fold_pairs(self._rows[row][first : first + (1 << height)])
