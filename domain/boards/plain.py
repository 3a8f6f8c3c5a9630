"""Boards for games that need no drawing of their own: squares, points or hexagons, with pieces on some of the places.

A place is its number in reading order. `squares(8, 8)` and its sisters make a board, and `PlainDrawing` draws it, so that a game
is its rules and two lines:

    BOARD = squares(5, 5)
    DRAWING = PlainDrawing(BOARD, {"x": ("dark", 0, "a black stone"), "o": ("light", 1, "a white stone")})
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from string import ascii_lowercase
from typing import Final, Protocol

from domain.boards import rhombus
from domain.boards.grid import SquareGrid, grid_places, grid_text, paint_grid, stone_on
from domain.boards.pieces import PieceKind, PieceKinds, figures_of
from domain.boards.sets import bits
from domain.game.painter import BoardInput, Markup, Picture, PlayerCaption
from domain.game.protocol import TextInput, TextPlace, unreadable_move
from domain.sentences import Text

Place = int
Piece = tuple[str, int, Text]
"""A look (`light`, `dark` or `third`), the seat of the owner, and the name, such as "a black stone"."""


class _Shape(Protocol):
    """How places of a board are shown."""

    def text(self, pieces: Mapping[str, str]) -> str:
        """Return the board with a letter for each piece."""
        ...

    def text_places(self) -> Iterable[TextPlace]:
        """Return where that text shows each place."""
        ...

    def stone(self, look: str, seat: int, title: Text) -> PieceKind:
        """Return a kind of stones that fit on the places."""
        ...

    def paint(
        self, view: BoardInput, kinds: PieceKinds, players: Sequence[PlayerCaption]
    ) -> Picture:
        """Return the board in SVG."""
        ...


class PlainBoard:
    """The places of a board: their names, those beside each, and how all are shown."""

    def __init__(
        self, names: Sequence[str], beside: Iterable[Iterable[Place]], shape: _Shape
    ) -> None:
        self.names: Final = tuple(names)
        """The names of the places, in reading order."""
        self.index: Final = {name: place for place, name in enumerate(names)}
        self.beside: Final = tuple(map(tuple, beside))
        """For each place those at its sides."""
        self.shape: Final = shape

    def read(self, text: str, form: Text, count: int = 1) -> tuple[Place, ...]:
        """Return the places of a move such as `a1-b2`, lenient in case and blanks.

        Raises `UnreadableMove` with `form`, which says how a move is written, unless there are so many.
        """
        names = "".join(text.split()).lower().split("-")
        if not text.isascii() or len(names) != count or not self.index.keys() >= {*names}:
            raise unreadable_move(text, form)
        return tuple(self.index[name] for name in names)

    def connected(self, place: Place, within: int) -> int:
        """Return the set of places that are connected with one, by steps within a set of places."""
        found, new = 0, 1 << place & within
        while new:
            found |= new
            around = {near for at in bits(new) for near in self.beside[at]}
            new = sum(1 << near for near in around) & within & ~found
        return found


class _Squares:
    def __init__(self, grid: SquareGrid) -> None:
        self._grid = grid
        self.text = partial(grid_text, grid)
        self.stone = partial(stone_on, grid)
        self.paint = partial(paint_grid, grid)

    def text_places(self) -> Iterator[TextPlace]:
        return grid_places(self._grid)


class _Hexagons:
    def __init__(self, size: int) -> None:
        self._size = size
        self.text = partial(rhombus.rhombus_text, size)
        self.stone = partial(rhombus.stone_on, size)
        self.text_places = partial(rhombus.rhombus_places, size)

    def paint(
        self, view: BoardInput, kinds: PieceKinds, players: Sequence[PlayerCaption]
    ) -> Picture:
        last = [name for name in view.last.split("-") if name in rhombus.names_of(self._size)]
        return rhombus.paint_rhombus(self._size, view, kinds, players, last)


def squares(columns: int, rows: int) -> PlainBoard:
    """Return a board of squares, of up to 26 columns; row 1 is below."""
    grid = SquareGrid(columns, rows, upward=True)
    return PlainBoard(grid.names, grid.beside, _Squares(grid))


def points(columns: int, rows: int) -> PlainBoard:
    """Return a board of points on which lines cross, of up to 26 columns; row 1 is below."""
    middle = f"{ascii_lowercase[columns // 2]}{rows // 2 + 1}"
    grid = SquareGrid(columns, rows, upward=True, stars=(middle,))
    return PlainBoard(grid.names, grid.beside, _Squares(grid))


def hexagons(size: int) -> PlainBoard:
    """Return a rhombus of hexagons, with up to 14 columns and as many rows; row 1 is above."""
    names = rhombus.names_of(size)
    index = {rhombus.INDEX[name]: at for at, name in enumerate(names)}
    near = (bits(rhombus.beside(1 << place) & rhombus.all_places(size)) for place in index)
    beside = ((index[place] for place in places) for places in near)
    return PlainBoard(names, beside, _Hexagons(size))


class PlainDrawing:
    """The drawings of a game by the `board` of its JSON form: the letters of pieces, by the names of their places."""

    def __init__(self, board: PlainBoard, pieces: Mapping[str, Piece]) -> None:
        self._board = board
        self._kinds = {letter: board.shape.stone(*piece) for letter, piece in pieces.items()}
        owners = {kind.seat: letter for letter, kind in reversed(self._kinds.items())}
        self._players = "".join(owners[seat] for seat in sorted(owners))
        self.figures: Final[Mapping[str, Markup]] = figures_of(
            self._kinds, {letter: letter for letter in pieces}
        )
        """A small drawing of each piece, by its letter."""

    def draw(self, view: TextInput) -> str:
        """Draw a position as text; there is only one display."""
        return self._board.shape.text(view.position["board"])

    def text_places(self, view: TextInput) -> Iterable[TextPlace]:
        """Return where each place is in that drawing."""
        del view
        return self._board.shape.text_places()

    def paint(self, view: BoardInput) -> Picture:
        """Draw a position in SVG, with the number of each player's pieces."""
        letters = [*view.position["board"].values()]
        captions = [
            PlayerCaption(self._kinds[own].icon(), str(self._count(letters, own)))
            for own in self._players
        ]
        return self._board.shape.paint(view, self._kinds, captions)

    def _count(self, letters: Sequence[str], own: str) -> int:
        seat = self._kinds[own].seat
        return sum(self._kinds[letter].seat == seat for letter in letters)
