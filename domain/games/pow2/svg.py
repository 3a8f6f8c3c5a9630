"""The Power of Two in SVG: fresh pieces are solid, aged ones are rings."""

from typing import Final

from domain.boards.pow2_svg import PieceKind, board_picture, player_captions
from domain.drawing.svg.painter import BoardInput, Picture, body

_SIZE, _HOLE = 12.5, 7


def _fresh(look: str, seat: int, side: str) -> PieceKind:
    return PieceKind(f"{look} fresh", seat, f"{side}, fresh", (body(look, _SIZE),))


def _aged(look: str, seat: int, side: str) -> PieceKind:
    shapes = (body(look, _SIZE), body(look, _HOLE, "hole"))
    return PieceKind(f"{look} aged", seat, f"{side}, aged", shapes)


_KINDS: Final = {
    "O": _fresh("light", 0, "Light"),
    "o": _aged("light", 0, "Light"),
    "X": _fresh("dark", 1, "Dark"),
    "x": _aged("dark", 1, "Dark"),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [f"{left} left to place" for left in view.position["supply"]]
    return board_picture(view, _KINDS, player_captions(_KINDS, "OX", counts))
