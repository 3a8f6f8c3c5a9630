"""Cooperative That's My Line in SVG."""

from typing import Final

from domain.boards.pow2_svg import picture, players, stone
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.helpers import counted

_KINDS: Final = {"o": stone("light", 0, "light"), "x": stone("dark", 0, "dark")}


def paint(view: BoardInput) -> Picture:
    """Draw a position; the icon beside the name has the next colour."""
    letters = [*view.position["board"].values()]
    light, dark, colour = letters.count("o"), letters.count("x"), view.position["colour"]
    counts = f"{counted(light + dark, 'stone')}, {light} light and {dark} dark"
    counts += f"; {colour} is next" if colour else ""
    return picture(view, _KINDS, players(_KINDS, "x" if colour == "dark" else "o", [counts]))
