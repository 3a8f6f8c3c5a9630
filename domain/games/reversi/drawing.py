"""Reversi as text and in SVG."""

from collections.abc import Iterator
from typing import Final

from domain.boards.grid import grid_places, grid_text, paint_grid, stone_on
from domain.boards.pieces import figures_of, player_captions
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput, TextPlace
from domain.games.reversi.rules import BLACK, GRID, LETTERS, WHITE
from domain.games.reversi.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return grid_text(GRID, view.position["board"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each square is in the drawing."""
    del view
    return grid_places(GRID)


KINDS: Final = {
    "x": stone_on(GRID, "dark", BLACK, SAY("disc-of", disc=BLACK)),
    "o": stone_on(GRID, "light", WHITE, SAY("disc-of", disc=WHITE)),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position, with the number of each player's discs."""
    letters = [*view.position["board"].values()]
    counts = [SAY("counts", discs=letters.count(letter)) for letter in LETTERS]
    return paint_grid(GRID, view, KINDS, player_captions(view, KINDS, LETTERS, counts))


FIGURES: Final = figures_of(KINDS, {"black": "x", "white": "o"})
