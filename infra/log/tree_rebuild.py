"""A Merkle tree made again from all leaves, bundle by bundle, with the tiles that belong to it."""

from collections.abc import Iterator, Sequence

from infra.log import merkle
from infra.log.tiles import LEVELS, WIDTH, Tile, fold_pairs


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
