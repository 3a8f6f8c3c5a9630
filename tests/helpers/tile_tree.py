"""The tree of a log as a reader makes it from tiles, apart from the product's own ways to do so."""

from collections.abc import Callable

from infra.log.tiles import LEVELS, WIDTH, Tile, fold_pairs, tile_of, unpack_tile


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
