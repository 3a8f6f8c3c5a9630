"""Go as text and in SVG."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from domain.boards.grid import SquareGrid, grid_places, grid_text, paint_grid, stone_on
from domain.boards.pieces import PieceKind, PieceKinds, figures_of, player_captions
from domain.boards.points import LETTERS as COLUMNS
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput, TextPlace
from domain.games.go.rules import BLACK, WHITE
from domain.games.go.sentences import SAY
from domain.sentences import Text

_STARS: Final = {
    9: ("c7", "g7", "e5", "c3", "g3"),
    13: ("d10", "k10", "g7", "d4", "k4"),
}
"""The marked points of the usual boards; any other has its middle marked, or a point next to it."""


@cache
def grid_of(size: int) -> SquareGrid:
    """Return the board of a size."""
    middle = f"{COLUMNS[size // 2]}{size // 2 + 1}"
    return SquareGrid(size, size, letters=COLUMNS, upward=True, stars=_STARS.get(size, (middle,)))


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return grid_text(grid_of(view.position["size"]), view.position["board"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each point is in the drawing."""
    return grid_places(grid_of(view.position["size"]))


@cache
def kinds_of(size: int) -> PieceKinds:
    """Return the kinds of pieces on a board of a size."""
    grid = grid_of(size)
    black = stone_on(grid, "dark", BLACK, SAY("stone-of", stone=BLACK))
    white = stone_on(grid, "light", WHITE, SAY("stone-of", stone=WHITE))
    return {
        "x": black,
        "o": white,
        "b": _dead(black, SAY("dead-of", stone=BLACK)),
        "w": _dead(white, SAY("dead-of", stone=WHITE)),
    }


def _dead(kind: PieceKind, title: Text) -> PieceKind:
    """Return a kind of stones that are drawn as faint as what is drained."""
    return msgspec.structs.replace(kind, classes=f"{kind.classes} drained", title=title)


def paint(view: BoardInput) -> Picture:
    """Draw a position, while it is counted with each player's points."""
    position = view.position
    grid, kinds = grid_of(position["size"]), kinds_of(position["size"])
    if position["phase"] == "playing":
        letters = [*position["board"].values()]
        counts = [SAY("stones", stones=letters.count(letter)) for letter in "xo"]
    else:
        black, white = position["points"]
        komi = position["komi"]
        counts = [SAY("points", points=black), SAY("points-komi", points=white, komi=komi)]
    return paint_grid(grid, view, kinds, player_captions(view, kinds, "xo", counts))


FIGURES: Final = figures_of(kinds_of(9), {"black": "x", "white": "o", "dead": "b"})
