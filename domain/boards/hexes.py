"""Hexagonal cells without a board: flat-topped, by axial coordinates.

A cell `(q, r)` lies q columns to the right and, counted in half cells, 2r + q lines down. It is
kept as one int that is greater the later the cell comes in reading order (by line, then column),
and from which its neighbours differ by six constants.

Sets of tiles are ints with the bits of their places in a tuple of cells in reading order.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

Cell = int

_LINE: Final = 1 << 10  # more than twice the farthest column
FARTHEST: Final = 200
"""No coordinate is farther from 0 than this; matches have 180 tiles at most, all connected."""


def cell(q: int, r: int) -> Cell:
    """Return the cell of coordinates up to `FARTHEST`."""
    return (2 * r + q) * _LINE + q


def column(at: Cell) -> int:
    """Return q, the cell's column."""
    return (at + _LINE // 2) % _LINE - _LINE // 2


def line(at: Cell) -> int:
    """Return 2r + q, the cell's line."""
    return (at - column(at)) // _LINE


def axial(at: Cell) -> tuple[int, int]:
    """Return the coordinates `(q, r)` of a cell."""
    q = column(at)
    return q, (line(at) - q) // 2


STEPS: Final = tuple(cell(q, r) for q, r in ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)))
"""To the six neighbours, clockwise from the one above."""


def bits(tiles: int) -> Iterator[int]:
    """Yield the places of a set, in reading order."""
    while tiles:
        lowest = tiles & -tiles
        yield lowest.bit_length() - 1
        tiles ^= lowest


class Shape:
    """Which of a tuple of cells are neighbours, and where taking one away may part the others."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        places = {at: place for place, at in enumerate(cells)}
        around = [[places.get(at + step) for step in STEPS] for at in cells]
        self.near: Final = tuple(
            sum(1 << place for place in ring if place is not None) for ring in around
        )
        """Each cell's neighbours."""
        self.parts: Final = tuple(map(_Parts, around))
        """For each cell and each set of its neighbours, how many parts the set has by itself.
        Where it has one, taking the cell away never parts what is connected."""

    def group(self, start: int, tiles: int) -> int:
        """Return the tiles of `tiles` that are connected with one of them, `start`."""
        near, rest, edge = self.near, tiles ^ start, start
        while edge:
            place = edge.bit_length() - 1
            new = near[place] & rest
            rest ^= new
            edge ^= new | 1 << place
        return tiles ^ rest

    def groups(self, tiles: int) -> list[int]:
        """Return the connected groups of a set, by their first tile in reading order."""
        found = []
        while tiles:
            group = self.group(tiles & -tiles, tiles)
            found.append(group)
            tiles ^= group
        return found


class _Parts(dict[int, int]):
    """The number of arcs that a set of a cell's neighbours makes around it; 64 sets at most."""

    def __init__(self, ring: list[int | None]) -> None:
        super().__init__()
        self._ring = ring

    def __missing__(self, tiles: int) -> int:
        there = [place is not None and tiles >> place & 1 == 1 for place in self._ring]
        before = [there[-1], *there[:-1]]
        arcs = sum(now and not last for last, now in zip(before, there, strict=True))
        self[tiles] = found = max(arcs, 1) if any(there) else 0
        return found


@lru_cache(256)
def shape_of(cells: tuple[Cell, ...]) -> Shape:
    """Return the shape of some cells, which must be in reading order."""
    return Shape(cells)
