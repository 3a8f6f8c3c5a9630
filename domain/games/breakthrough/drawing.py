"""Breakthrough as text and in SVG."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from domain.boards.grid import SquareGrid, grid_places, grid_text, paint_grid, stone_on
from domain.boards.pieces import PieceKinds, figures_of, player_captions
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput, TextPlace
from domain.games.breakthrough.rules import BLACK, LETTERS, MOST, WHITE
from domain.games.breakthrough.sentences import SAY


@cache
def _grid(size: int) -> SquareGrid:
    return SquareGrid(size, size, upward=True)


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return grid_text(_grid(view.position["size"]), view.position["board"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each square is in the drawing."""
    return grid_places(_grid(view.position["size"]))


@cache
def kinds_of(size: int) -> PieceKinds:
    """Return the kinds of pieces on a board of a size."""
    return {
        "o": stone_on(_grid(size), "light", WHITE, SAY("piece-of", piece=WHITE)),
        "x": stone_on(_grid(size), "dark", BLACK, SAY("piece-of", piece=BLACK)),
    }


def paint(view: BoardInput) -> Picture:
    """Draw a position, with the number of each player's pieces."""
    size, letters = view.position["size"], [*view.position["board"].values()]
    kinds = kinds_of(size)
    counts = [SAY("counts", pieces=letters.count(letter)) for letter in LETTERS]
    return paint_grid(_grid(size), view, kinds, player_captions(view, kinds, LETTERS, counts))


FIGURES: Final = figures_of(kinds_of(MOST), {"white": "o", "black": "x"})
