"""A board of squares: its places by name, and the places around each.

A place is an int, row by row from `a1`, which is at the upper left; columns have letters, rows numbers. A set of
places is an int with those bits set (`domain.boards.pieces`).

A board of squares as text and in SVG, with a piece on some of its places.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from string import ascii_lowercase
from typing import Final

from domain.boards.pieces import PLACES_KEPT, PieceKind, PieceKinds, stone_kind, where_pieces_are
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    number,
    place,
    ring,
    text_line,
)
from domain.game.protocol import TextPlace, unreadable_move
from domain.sentences import Text, Translation, text_in

Place = int

_SIDES: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
_CORNERS: Final = ((1, -1), (1, 1), (-1, 1), (-1, -1))


class SquareGrid:
    """The places of a board with up to 26 columns, as tables."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns: Final = columns
        self.rows: Final = rows
        self.names: Final = tuple(
            f"{ascii_lowercase[column]}{row + 1}"
            for row in range(rows)
            for column in range(columns)
        )
        """The names of the places, such as `c4`, in reading order."""
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
    letters = " " * _MARGIN + " ".join(ascii_lowercase[: grid.columns])
    rows = []
    for row in range(grid.rows):
        names = grid.names[row * grid.columns : (row + 1) * grid.columns]
        rows.append(
            f"{row + 1:>2} {' '.join(pieces.get(name, _EMPTY) for name in names)} {row + 1:>2}"
        )
    return "\n".join([letters, *rows, letters])


def grid_places(grid: SquareGrid, above: int = 0) -> Iterator[TextPlace]:
    """Return where each place is in what `grid_text` returns, below so many lines."""
    for at, name in enumerate(grid.names):
        row, column = divmod(at, grid.columns)
        yield TextPlace(name, above + 1 + row, _MARGIN + 2 * column)


# --- SVG

_EDGE: Final = 32
"""From the edge of the picture to the board; letters and numbers stand there."""
_STONE, _RING = 0.38, 0.46
"""The radius of a stone and of the mark around it, as parts of a square."""


class _GridPicture:
    """The parts of a picture of a grid, which may be turned by 180 degrees."""

    def __init__(self, grid: SquareGrid, *, turned: bool = False) -> None:
        self._grid, self._turned = grid, turned
        self.square: Final = square_of(grid)
        self.height: Final = 2 * _EDGE + grid.rows * self.square
        self.ground: Final = (*self._lines(), *self._labels())
        """The lines between the squares, the frame, and the letters and numbers around it."""

    def centre_of(self, name: str) -> Point:
        """Return the middle of a square."""
        row, column = divmod(self._grid.index[name], self._grid.columns)
        x, y = _EDGE + self.square * (column + 0.5), _EDGE + self.square * (row + 0.5)
        return (WIDTH - x, self.height - y) if self._turned else (x, y)

    def _lines(self) -> Iterator[Markup]:
        width, height = self._grid.columns * self.square, self._grid.rows * self.square
        across = (
            f"M{number(_EDGE + self.square * at)} {_EDGE}v{number(height)}"
            for at in range(1, self._grid.columns)
        )
        down = (
            f"M{_EDGE} {number(_EDGE + self.square * at)}h{number(width)}"
            for at in range(1, self._grid.rows)
        )
        yield element("path", class_="line", d="".join((*across, *down)))
        yield element("rect", class_="frame", x=_EDGE, y=_EDGE, width=width, height=height, rx=3)

    def _labels(self) -> Iterator[Markup]:
        for name in self._grid.names[: self._grid.columns]:
            x, _ = self.centre_of(name)
            for y in (_EDGE / 2, self.height - _EDGE / 2):
                yield text_line(name[0], (x, y), class_="label")
        for name in self._grid.names[:: self._grid.columns]:
            _, y = self.centre_of(name)
            for x in (_EDGE / 2, WIDTH - _EDGE / 2):
                yield text_line(name[1:], (x, y), class_="label")

    def draw_place(
        self, name: str, kind: PieceKind | None, language: Translation, *, last: bool
    ) -> Markup:
        """Return a square with the piece on it, if any, and the mark of the last move."""
        half = self.square / 2
        inside = [
            element("rect", class_="hit", x=-half, y=-half, width=self.square, height=self.square)
        ]
        if last:
            inside.append(ring(kind.ring if kind else self.square * _RING, gone=kind is None))
        if kind:
            inside.append(kind.piece())
        title = f"{name}: {text_in(kind.title, language)}" if kind else name
        return place(name, self.centre_of(name), title, *inside, last=last)


@cache
def _picture_of(grid: SquareGrid, *, turned: bool) -> _GridPicture:
    return _GridPicture(grid, turned=turned)


@lru_cache(PLACES_KEPT)
def _place(
    drawn: _GridPicture, name: str, kind: PieceKind | None, language: Translation, *, last: bool
) -> Markup:
    return drawn.draw_place(name, kind, language, last=last)


def square_of(grid: SquareGrid) -> float:
    """Return the side of a square in units of the drawing."""
    return (WIDTH - 2 * _EDGE) / grid.columns


def stone_on(grid: SquareGrid, look: str, seat: int, title: Text) -> PieceKind:
    """Return a kind of stones of the size that fits the squares."""
    square = square_of(grid)
    return stone_kind(look, seat, title, square * _STONE, square * _RING)


def paint_grid(
    grid: SquareGrid, view: BoardInput, kinds: PieceKinds, players: Sequence[PlayerCaption]
) -> Picture:
    """Draw the pieces of a position, by their letters in its `board`, and list where they are."""
    drawn, board = _picture_of(grid, turned=view.turned), view.position["board"]
    last = grid.in_text(view.last)
    places = (
        _place(
            drawn,
            name,
            kinds[board[name]] if name in board else None,
            view.language,
            last=name in last,
        )
        for name in grid.names
    )
    body = (*drawn.ground, *places)
    return Picture(body, drawn.height, tuple(players), where_pieces_are(view, kinds))
