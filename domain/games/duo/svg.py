"""Cooperative That's My Line in SVG."""

from typing import Final

from domain.boards.pow2_svg import board_picture, player_captions, stone_kind
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.checks import quantity

_KINDS: Final = {"o": stone_kind("light", 0, "light"), "x": stone_kind("dark", 0, "dark")}


def paint(view: BoardInput) -> Picture:
    """Draw a position; the icon beside the name has the next colour."""
    letters = [*view.position["board"].values()]
    light, dark, colour = letters.count("o"), letters.count("x"), view.position["colour"]
    counts = f"{quantity(light + dark, 'stone')}, {light} light and {dark} dark"
    counts += f"; {colour} is next" if colour else ""
    return board_picture(
        view, _KINDS, player_captions(_KINDS, "x" if colour == "dark" else "o", [counts])
    )
