"""A board of squares: its places by name, and the places around each.

A place is an int, row by row from the upper left; columns have letters, rows numbers. A set of places is an int with
those bits set (`domain.boards.sets`).

A board of squares as text and in SVG, with a piece on some of its places.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from string import ascii_lowercase
from typing import Final

import msgspec

from domain.boards.drawn import BoardFace, hit_square, paint_board
from domain.boards.pieces import (
    PieceKind,
    PieceKinds,
    figures_of,
    player_captions,
    stone_kind,
)
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
from domain.game.protocol import TextInput, TextPlace, unreadable_move
from domain.sentences import Sentence, Text

Place = int

_SIDES: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
_CORNERS: Final = ((1, -1), (1, 1), (-1, 1), (-1, -1))


class SquareGrid:
    """The places of a board with up to 26 columns, as tables."""

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        letters: str = ascii_lowercase,
        upward: bool = False,
        stars: tuple[str, ...] = (),
        wells: bool = False,
    ) -> None:
        self.columns: Final = columns
        self.rows: Final = rows
        self.letters: Final = letters[:columns]
        self.names: Final = tuple(
            f"{letter}{rows - row if upward else row + 1}"
            for row in range(rows)
            for letter in self.letters
        )
        """The names of the places, such as `c4`, in reading order; rows are counted from below if `upward`."""
        self.stars: Final = stars
        """The marked points of a board whose stones lie on the crossings of lines; empty if they lie in squares."""
        self.wells: Final = wells
        """Whether the board has a round hole for each piece instead of lines between squares."""
        self.index: Final = {name: place for place, name in enumerate(self.names)}
        self.rays: Final = tuple(
            tuple(self._ray(place, *step) for step in (*_SIDES, *_CORNERS))
            for place in range(columns * rows)
        )
        """For each place the places in a straight line from it to the edge, in eight directions: those along
        rows and columns first. Where the place is at the edge the line is empty."""
        self.beside: Final = tuple(
            tuple(ray[0] for ray in rays[: len(_SIDES)] if ray) for rays in self.rays
        )
        """For each place those at its sides."""
        self.around: Final = tuple(tuple(ray[0] for ray in rays if ray) for rays in self.rays)
        """For each place those at its sides and corners."""

    def _ray(self, place: Place, across: int, down: int) -> tuple[Place, ...]:
        row, column = divmod(place, self.columns)
        found = []
        while (
            0 <= (row := row + down) < self.rows and 0 <= (column := column + across) < self.columns
        ):
            found.append(self.columns * row + column)
        return tuple(found)

    def read(self, text: str, form: Text, count: int = 1) -> tuple[Place, ...]:
        """Return the places of a move such as `a1-b2`, lenient in case and blanks.

        Raises `UnreadableMove` with `form`, which says how a move is written, unless there are so many.
        """
        names = "".join(text.split()).lower().split("-")
        if not text.isascii() or len(names) != count or not self.index.keys() >= {*names}:
            raise unreadable_move(text, form)
        return tuple(self.index[name] for name in names)

    def in_text(self, text: str) -> tuple[str, ...]:
        """Return the names of places in a text, such as a move, in their order."""
        words = re.findall(r"(?<![a-z0-9])[a-z][1-9][0-9]?(?![a-z0-9])", text)
        return tuple(name for name in words if name in self.index)


# --- text

_EMPTY: Final = "."
_MARGIN: Final = 3
"""Columns of the text to the left of a row."""


def grid_text(grid: SquareGrid, pieces: Mapping[str, str]) -> str:
    """Draw the board with a letter for each piece, and a dot for each empty place."""
    letters = " " * _MARGIN + " ".join(grid.letters)
    rows = []
    for row in range(grid.rows):
        names = grid.names[row * grid.columns : (row + 1) * grid.columns]
        label = names[0][1:]
        rows.append(f"{label:>2} {' '.join(pieces.get(name, _EMPTY) for name in names)} {label:>2}")
    return "\n".join([letters, *rows, letters])


def grid_places(grid: SquareGrid, above: int = 0) -> Iterator[TextPlace]:
    """Return where each place is in what `grid_text` returns, below so many lines."""
    for at, name in enumerate(grid.names):
        row, column = divmod(at, grid.columns)
        yield TextPlace(name, above + 1 + row, _MARGIN + 2 * column)


# --- SVG

_EDGE: Final = 32
"""From the edge of the picture to the board; letters and numbers stand there."""
_STONE, _WELL, _RING = 0.38, 0.42, 0.46
"""The radius of a stone, of a hole for it, and of the mark around it, as parts of a square."""
_MANY: Final = 100
"""On larger boards a stone is drawn with fewer parts."""
_STAR: Final = 3.5
"""The radius of a marked point."""


def _middle(grid: SquareGrid, at: Place, *, turned: bool) -> Point:
    row, column = divmod(at, grid.columns)
    square = square_of(grid)
    x, y = _EDGE + square * (column + 0.5), _EDGE + square * (row + 0.5)
    return (WIDTH - x, _height_of(grid) - y) if turned else (x, y)


def _height_of(grid: SquareGrid) -> float:
    return 2 * _EDGE + grid.rows * square_of(grid)


def _lines(grid: SquareGrid) -> Iterator[Markup]:
    """Yield the lines between the squares, or the holes in them, and the frame around them."""
    square = square_of(grid)
    width, height = grid.columns * square, grid.rows * square
    across = (
        f"M{number(_EDGE + square * at)} {_EDGE}v{number(height)}" for at in range(1, grid.columns)
    )
    down = (f"M{_EDGE} {number(_EDGE + square * at)}h{number(width)}" for at in range(1, grid.rows))
    if grid.wells:
        for at in range(len(grid.names)):
            x, y = _middle(grid, at, turned=False)
            yield element("circle", class_="well", cx=x, cy=y, r=square * _WELL)
    else:
        yield element("path", class_="line", d="".join((*across, *down)))
    yield element("rect", class_="frame", x=_EDGE, y=_EDGE, width=width, height=height, rx=3)


def _point_lines(grid: SquareGrid) -> Iterator[Markup]:
    """Yield lines through the middles of the squares, for boards whose stones lie on points."""
    square = square_of(grid)
    first, width, height = _EDGE + square / 2, (grid.columns - 1) * square, (grid.rows - 1) * square
    across = (
        f"M{number(first + square * at)} {number(first)}v{number(height)}"
        for at in range(grid.columns)
    )
    down = (
        f"M{number(first)} {number(first + square * at)}h{number(width)}" for at in range(grid.rows)
    )
    yield element("path", class_="line", d="".join((*across, *down)))
    for name in grid.stars:
        x, y = _middle(grid, grid.index[name], turned=False)
        yield element("circle", class_="spot", cx=x, cy=y, r=_STAR)


def _labels(grid: SquareGrid, centres: Mapping[str, Point]) -> Iterator[Markup]:
    height = _height_of(grid)
    for name in grid.names[: grid.columns]:
        for y in (_EDGE / 2, height - _EDGE / 2):
            yield text_line(name[0], (centres[name][0], y), class_="label")
    for name in grid.names[:: grid.columns]:
        for x in (_EDGE / 2, WIDTH - _EDGE / 2):
            yield text_line(name[1:], (x, centres[name][1]), class_="label")


@cache
def _drawn(grid: SquareGrid, *, turned: bool) -> BoardFace:
    centres = {name: _middle(grid, at, turned=turned) for at, name in enumerate(grid.names)}
    lines = _point_lines(grid) if grid.stars else _lines(grid)
    square = square_of(grid)
    ground = (*lines, *_labels(grid, centres))
    return BoardFace(centres, hit_square(square), ground, _height_of(grid), square * _RING)


def square_of(grid: SquareGrid) -> float:
    """Return the side of a square in units of the drawing."""
    return (WIDTH - 2 * _EDGE) / grid.columns


def stone_on(grid: SquareGrid, look: str, seat: int, title: Text) -> PieceKind:
    """Return a kind of stones of the size that fits the squares."""
    square = square_of(grid)
    short = len(grid.names) > _MANY
    return stone_kind(look, seat, title, square * _STONE, square * _RING, short=short)


def paint_grid(
    grid: SquareGrid, view: BoardInput, kinds: PieceKinds, players: Sequence[PlayerCaption]
) -> Picture:
    """Draw the pieces of a position, by their letters in its `board`, and list where they are."""
    drawn = _drawn(grid, turned=view.turned)
    return paint_board(drawn, view, kinds, players, grid.in_text(view.last))


def way_on(grid: SquareGrid, names: Sequence[str], *, turned: bool, thrown: bool = False) -> Markup:
    """Return the way of a piece over some squares; `thrown` if the piece stays and throws something."""
    points = [_middle(grid, grid.index[name], turned=turned) for name in names]
    way = outline(points).removesuffix("Z")
    return element("path", class_="trail thrown" if thrown else "trail", d=way)


class StonesDrawing:
    """The drawings of a game with dark and light stones on a grid: `x`, of seat 0, and `o`, of seat 1, in its `board`."""

    def __init__(
        self,
        grid: SquareGrid,
        stone_of: Callable[[int], Text],
        counted: Callable[[int], Sentence],
        *,
        upright: bool = False,
    ) -> None:
        """Take the name of a stone by its seat, and what is said of so many; `upright` boards are never turned."""
        self._grid = grid
        self._counted = counted
        self._upright = upright
        self.kinds: Final[PieceKinds] = {
            "x": stone_on(grid, "dark", 0, stone_of(0)),
            "o": stone_on(grid, "light", 1, stone_of(1)),
        }
        self.figures: Final = figures_of(self.kinds, {"black": "x", "white": "o"})

    def draw(self, view: TextInput) -> str:
        """Draw a position as text; there is only one display."""
        return grid_text(self._grid, view.position["board"])

    def text_places(self, view: TextInput) -> Iterator[TextPlace]:
        """Return where each square is in that drawing."""
        del view
        return grid_places(self._grid)

    def paint(self, view: BoardInput) -> Picture:
        """Draw a position in SVG, with the number of each player's stones."""
        stones = [*view.position["board"].values()]
        counts = [self._counted(stones.count(letter)) for letter in self.kinds]
        players = player_captions(view, self.kinds, "".join(self.kinds), counts)
        if self._upright:
            view = msgspec.structs.replace(view, turned=False)
        return paint_grid(self._grid, view, self.kinds, players)
