"""Flat-topped hexagonal cells on an unlimited plane, by axial coordinates.

A cell `(q, r)` lies q columns to the right and, counted in half cells, 2r + q lines down. It is
represented by one int. These ints sort in reading order (by line, then by column), and the six
neighbours of a cell differ from it by six constants.

A tuple of cells in reading order numbers its cells from 0, and a set of tiles is an int with the
bits of their numbers.
"""

from functools import lru_cache
from typing import Final

Cell = int

_LINE: Final = 1 << 10  # more than twice the farthest column
MAX_COORDINATE: Final = 200
"""The largest coordinate. It is enough, because a match has at most 180 tiles, all connected."""


def cell(q: int, r: int) -> Cell:
    """Return the cell of coordinates up to `MAX_COORDINATE`."""
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
"""The differences to the six neighbours, clockwise from the one above."""


class CellNeighbours:
    """The neighbours among a tuple of cells, and the cells whose removal may separate the others."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        places = {at: place for place, at in enumerate(cells)}
        around = [[places.get(at + step) for step in STEPS] for at in cells]
        self.neighbours: Final = tuple(
            sum(1 << place for place in ring if place is not None) for ring in around
        )
        """The neighbours of each cell, as a set."""
        self.parts: Final = tuple(map(_ArcCounts, around))
        """For each cell and each set of its neighbours, the number of arcs of the set around the cell.
        If there is one arc, removing the cell never separates connected cells."""

    def group(self, start: int, tiles: int) -> int:
        """Return the part of `tiles` that is connected with `start`, one of them."""
        near, rest, edge = self.neighbours, tiles ^ start, start
        while edge:
            place = edge.bit_length() - 1
            new = near[place] & rest
            rest ^= new
            edge ^= new | 1 << place
        return tiles ^ rest

    def groups(self, tiles: int) -> list[int]:
        """Return the connected groups of a set, ordered by their first tiles."""
        found = []
        while tiles:
            group = self.group(tiles & -tiles, tiles)
            found.append(group)
            tiles ^= group
        return found


class _ArcCounts(dict[int, int]):
    """The number of arcs that a set of neighbours has around a cell, for at most 64 sets."""

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
def neighbours_of_cells(cells: tuple[Cell, ...]) -> CellNeighbours:
    """Return the neighbourhood of cells, which must be in reading order."""
    return CellNeighbours(cells)
