"""A rhombus of hexagons: its places by name, those beside them, and the board as text and in SVG.

Each row stands half a hexagon farther to the right than the one above. A place is an int, 16 times its row plus its
column, so that the same place has the same number on each size of board; a set of places is an int with those bits
set. The last column of 16 is never used, which keeps a step from leading from one row into the next.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from string import ascii_lowercase
from typing import Final

from domain.boards.drawn import BoardFace, paint_board
from domain.boards.pieces import PieceKind, PieceKinds, stone_kind
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    number,
    outline,
    text_line,
)
from domain.game.protocol import TextPlace
from domain.sentences import Text

Place = int

_ROW: Final = 16
MOST: Final = 14
"""The most rows and columns of a board."""


def place_of(column: int, row: int) -> Place:
    """Return a place by its column and row, both from 0."""
    return _ROW * row + column


def column_and_row(place: Place) -> tuple[int, int]:
    """Return the column and the row of a place, both from 0."""
    return place % _ROW, place // _ROW


NAMES: Final = {
    place_of(column, row): f"{ascii_lowercase[column]}{row + 1}"
    for row in range(MOST)
    for column in range(MOST)
}
"""The name of each place of the largest board, in reading order."""
INDEX: Final = {name: place for place, name in NAMES.items()}


def beside(places: int) -> int:
    """Return a set of which the six neighbours of all places are members, and places that no board has."""
    return (
        places << 1
        | places >> 1
        | places << _ROW
        | places >> _ROW
        | places << (_ROW - 1)
        | places >> (_ROW - 1)
    )


@cache
def all_places(size: int) -> int:
    """Return the set of all places of a board."""
    return sum(1 << place_of(column, row) for row in range(size) for column in range(size))


@cache
def sides_of(size: int) -> tuple[int, int, int, int]:
    """Return the places along the four sides of a board: above, below, left, right."""
    line = range(size)
    return (
        sum(1 << place_of(at, 0) for at in line),
        sum(1 << place_of(at, size - 1) for at in line),
        sum(1 << place_of(0, at) for at in line),
        sum(1 << place_of(size - 1, at) for at in line),
    )


def names_of(size: int) -> tuple[str, ...]:
    """Return the names of the places of a board in reading order."""
    return tuple(
        f"{ascii_lowercase[column]}{row + 1}" for row in range(size) for column in range(size)
    )


# --- text

_EMPTY: Final = "."
_MARGIN: Final = 3
"""Columns of the text to the left of the first place of the first row."""


def rhombus_text(size: int, pieces: Mapping[str, str]) -> str:
    """Draw the board with a letter for each piece, and a dot for each empty place."""
    letters = " ".join(ascii_lowercase[:size])
    rows = [" " * (_MARGIN - 1) + letters]
    for row in range(size):
        shown = " ".join(
            pieces.get(f"{letter}{row + 1}", _EMPTY) for letter in ascii_lowercase[:size]
        )
        rows.append(f"{' ' * row}{row + 1:>2} {shown}  {row + 1}")
    rows.append(" " * (_MARGIN + size) + letters)
    return "\n".join(rows)


def rhombus_places(size: int) -> Iterator[TextPlace]:
    """Return where each place is in what `rhombus_text` returns."""
    for name in names_of(size):
        column, row = column_and_row(INDEX[name])
        yield TextPlace(name, 1 + row, _MARGIN + row + 2 * column)


# --- SVG

_EDGE: Final = 26
"""From the edge of the picture to the board; letters and numbers stand there."""
_STONE, _RING = 0.39, 0.47
"""The radius of a stone and of the mark around it, as parts of a hexagon's width."""


def _measures(size: int) -> tuple[int, int]:
    """Return the width of a hexagon and the length of its side, in units of the drawing.

    Both are even, which keeps all coordinates short, so hexagons are regular only nearly.
    """
    width = (WIDTH - 2 * _EDGE) / (size + (size - 1) / 2)
    return 2 * int(width / 2), 2 * round(width / sqrt(3) / 2)


def _corners(size: int, at: Point) -> tuple[Point, ...]:
    """Return the corners of a hexagon from the one above, clockwise."""
    width, side = _measures(size)
    half, low = width / 2, side / 2
    x, y = at
    return (
        (x, y - side),
        (x + half, y - low),
        (x + half, y + low),
        (x, y + side),
        (x - half, y + low),
        (x - half, y - low),
    )


def _hexagon(size: int, at: Point) -> str:
    """Return the path of a hexagon, relative to its upper corner because that is shorter."""
    width, side = _measures(size)
    x, low = width // 2, side // 2
    begin = f"M{number(at[0])} {number(at[1] - side)}"
    return f"{begin}l{x} {low}v{side}l-{x} {low}-{x}-{low}v-{side}z"


def _middle(size: int, column: int, row: int) -> Point:
    width, side = _measures(size)
    left = (WIDTH - width * (size + (size - 1) / 2)) / 2
    return left + width * (0.5 + column + row / 2), _EDGE + side * (1 + 1.5 * row)


def _side(size: int, cells: Sequence[Point], corners: Sequence[int], look: str) -> Iterator[Markup]:
    """Yield a side of the board, along some corners of each of its hexagons, in a player's colour."""
    way = [_corners(size, at)[corner] for at in cells for corner in corners]
    path = outline(way).removesuffix("Z")
    yield element("path", class_=f"line of-{look}", d=path)
    yield element("path", class_=f"line inlay {look}", d=path)


def _sides(size: int) -> Iterator[Markup]:
    """Yield the four sides: those above and below are the dark player's, the others the light one's."""
    line, last = range(size), size - 1
    yield from _side(size, [_middle(size, at, 0) for at in line], (5, 0, 1), "dark")
    yield from _side(size, [_middle(size, at, last) for at in line], (4, 3, 2), "dark")
    yield from _side(size, [_middle(size, 0, at) for at in line], (5, 4, 3), "light")
    yield from _side(size, [_middle(size, last, at) for at in line], (0, 1, 2), "light")


def _labels(size: int) -> Iterator[Markup]:
    away = _measures(size)[0] / 2 + _EDGE / 2
    for at in range(size):
        for row, step in ((0, -1), (size - 1, 1)):
            x, y = _middle(size, at, row)
            there = (x + step * away / 2, y + step * away)
            yield text_line(ascii_lowercase[at], there, class_="label")
        for column, step in ((0, -1), (size - 1, 1)):
            x, y = _middle(size, column, at)
            yield text_line(str(at + 1), (x + step * away, y), class_="label")


@cache
def _drawn(size: int) -> BoardFace:
    width, side = _measures(size)
    middles = {name: _middle(size, *column_and_row(INDEX[name])) for name in names_of(size)}
    cells = "".join(_hexagon(size, at) for at in middles.values())
    ground = (element("path", class_="line", d=cells), *_sides(size), *_labels(size))
    hit = element("circle", class_="hit", r=width / 2)  # a path would be twice as long, each time
    height = 2 * _EDGE + side * (1.5 * size + 0.5)
    return BoardFace(middles, hit, ground, height, width * _RING)


def stone_on(size: int, look: str, seat: int, title: Text) -> PieceKind:
    """Return a kind of stones of the size that fits the hexagons."""
    width, _ = _measures(size)
    return stone_kind(look, seat, title, width * _STONE, width * _RING, short=True)


def paint_rhombus(
    size: int,
    view: BoardInput,
    kinds: PieceKinds,
    players: Sequence[PlayerCaption],
    last: Iterable[str],
) -> Picture:
    """Draw the pieces of a position, by their letters in its `board`, and list where they are."""
    return paint_board(_drawn(size), view, kinds, players, last)
