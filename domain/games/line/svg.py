"""That's My Line in SVG."""

from typing import Final

from domain.boards.pow2_svg import picture, players, stone
from domain.drawing.svg.painter import BoardInput, Picture
from domain.rules.helpers import counted

_KINDS: Final = {"o": stone("light", 0, "Light"), "x": stone("dark", 1, "Dark")}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [f"{counted(placed, 'stone')} placed" for placed in view.position["stones"]]
    return picture(view, _KINDS, players(_KINDS, "ox", counts))
