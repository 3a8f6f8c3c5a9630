"""That's My Line in SVG."""

from typing import Final

from domain.boards.pow2_svg import board_picture, player_captions, stone_kind
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.checks import quantity

_KINDS: Final = {"o": stone_kind("light", 0, "Light"), "x": stone_kind("dark", 1, "Dark")}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [f"{quantity(placed, 'stone')} placed" for placed in view.position["stones"]]
    return board_picture(view, _KINDS, player_captions(_KINDS, "ox", counts))
