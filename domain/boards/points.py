"""Sets of points on square boards of up to 15 rows, and chains of stones on them.

A point is an int, 16 times its row plus its column, both from 0 and counted from the lower left, so that the same point has
the same number on each size of board. The last column of 16 is never used, which keeps a step from leading from
one row into the next. A set of points is an int with those bits set.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

Point = int

_ROW: Final = 16
LETTERS: Final = "abcdefghjklmnop"
"""The letters of columns, without `i` by custom."""


def point_of(column: int, row: int) -> Point:
    """Return a point by its column and row, both from 0."""
    return _ROW * row + column


NAMES: Final = {
    point_of(column, row): f"{letter}{row + 1}"
    for row in range(len(LETTERS))
    for column, letter in enumerate(LETTERS)
}
"""The names of points, such as `c4`."""
INDEX: Final = {name: point for point, name in NAMES.items()}


@cache
def all_points(size: int) -> int:
    """Return the set of all points of a board."""
    return sum(1 << point_of(column, row) for row in range(size) for column in range(size))


def beside(points: int) -> int:
    """Return a set of which the four neighbours of all points are members, and points that no board has."""
    return points << 1 | points >> 1 | points << _ROW | points >> _ROW


def grown(begin: int, within: int) -> int:
    """Return all points of a set that are connected, within it, with those to begin with."""
    found, new = 0, begin & within
    while new:
        found |= new
        new = beside(new) & within & ~found
    return found


def parts(points: int) -> Iterator[int]:
    """Yield the connected parts of a set."""
    while points:
        part = grown(points & -points, points)
        yield part
        points ^= part
