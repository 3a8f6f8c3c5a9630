"""Amazons as text and in SVG."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from domain.boards.grid import (
    SquareGrid,
    grid_places,
    grid_text,
    paint_grid,
    square_of,
    way_on,
)
from domain.boards.pieces import PieceKind, PieceKinds, figures_of
from domain.game.painter import BoardInput, Markup, Picture, PlayerCaption, element, number
from domain.game.protocol import TextInput, TextPlace
from domain.games.amazons.rules import ARROW, BLACK, LARGEST, LETTERS, WHITE
from domain.games.amazons.sentences import SAY

_NOBODY: Final = 2
"""Arrows belong to nobody: no seat has this number."""


@cache
def _grid(size: int) -> SquareGrid:
    return SquareGrid(size, size, upward=True)


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    return grid_text(_grid(view.position["size"]), view.position["board"])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each square is in the drawing."""
    return grid_places(_grid(view.position["size"]))


# --- SVG

_CROWN: Final = "M-16-8L-8 1-7-13-1 0 0-16 1 0 7-13 8 1 16-8 10 11H-10Z"
_PEARLS: Final = ((-16, -8), (-7, -13), (0, -16), (7, -13), (16, -8))
"""An amazon is a crown, because it moves like a queen: its outline and its points, on a square of 44 units."""
_ARROW: Final = "M-10 10L10-10M2-10H10V-2M-12 6H-6V12M-9 3H-3V9"
"""An arrow, which points to the upper right."""
_SQUARE, _RING = 44.8, 0.47


def _kind(size: int, look: str, seat: int, *shapes: Markup) -> PieceKind:
    """Return a kind of pieces whose shapes fit a square of the largest board."""
    square = square_of(_grid(size))
    part = square / _SQUARE
    whole = element("g", *shapes, transform=f"scale({number(part)})")
    scaled = whole if part != 1 else Markup("".join(shapes))
    return PieceKind(look, seat, SAY("thing-of", thing=seat), (scaled,), square * _RING, 1 / part)


def _amazon(size: int, look: str, seat: int) -> PieceKind:
    shapes = (
        element("ellipse", class_="shade", cy=16, rx=14, ry=4),
        element("path", class_="body", d=_CROWN),
        *(element("circle", class_="body", cx=x, cy=y, r=2.3) for x, y in _PEARLS),
        element("rect", class_="body", x=-11, y=11, width=22, height=5, rx=2),
    )
    return _kind(size, f"{look} amazon", seat, *shapes)


def _arrow(size: int) -> PieceKind:
    """Return the arrows: squares that are closed, and darker."""
    ground = element("path", class_="shade", d="M-22-22h44v44h-44z")  # shorter than a rectangle
    return _kind(
        size, "third arrow", _NOBODY, ground, element("path", class_="line edge", d=_ARROW)
    )


@cache
def kinds_of(size: int) -> PieceKinds:
    """Return the kinds of pieces on a board of a size."""
    white, black = _amazon(size, "light", WHITE), _amazon(size, "dark", BLACK)
    return {"o": white, "x": black, ARROW: _arrow(size)}


def paint(view: BoardInput) -> Picture:
    """Draw a position, with the ways of the last move and of its arrow."""
    size = view.position["size"]
    grid, kinds = _grid(size), kinds_of(size)
    captions = [PlayerCaption(kinds[letter].icon(), "") for letter in LETTERS]
    picture = paint_grid(grid, view, kinds, captions)
    ends, turned = grid.in_text(view.last), view.turned
    if len(ends) != len(("from", "to", "arrow")):
        return picture
    ways = way_on(grid, ends[:2], turned=turned), way_on(grid, ends[1:], turned=turned, thrown=True)
    return msgspec.structs.replace(picture, body=(*ways, *picture.body))


FIGURES: Final = figures_of(kinds_of(LARGEST), {"white": "o", "black": "x", "arrow": ARROW})
