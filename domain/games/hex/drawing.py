"""Hex as text and in SVG."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from domain.boards.pieces import PieceKinds, figures_of, player_captions
from domain.boards.rhombus import names_of, paint_rhombus, rhombus_places, rhombus_text, stone_on
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput, TextPlace
from domain.games.hex.rules import BLACK, LETTERS, WHITE
from domain.games.hex.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return rhombus_text(view.position["size"], view.position["board"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each place is in the drawing."""
    return rhombus_places(view.position["size"])


@cache
def kinds_of(size: int) -> PieceKinds:
    """Return the kinds of pieces on a board of a size."""
    return {
        "x": stone_on(size, "dark", BLACK, SAY("stone-of", stone=BLACK)),
        "o": stone_on(size, "light", WHITE, SAY("stone-of", stone=WHITE)),
    }


def paint(view: BoardInput) -> Picture:
    """Draw a position, with the sides that each player connects."""
    size, last = view.position["size"], view.last
    kinds = kinds_of(size)
    goals = [SAY("goal", sides=seat) for seat in (BLACK, WHITE)]
    if last == "swap":  # then the only stone is the one that was taken over
        marked = [*view.position["board"]]
    else:
        marked = [last] if last in names_of(size) else []
    return paint_rhombus(size, view, kinds, player_captions(view, kinds, LETTERS, goals), marked)


FIGURES: Final = figures_of(kinds_of(8), {"black": "x", "white": "o"})
