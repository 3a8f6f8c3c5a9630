"""David and Goliath in SVG, with the paths of the last move and throw."""

from typing import Final

from domain.boards.pow2_svg import FIGURE, Stone, Trail, picture, players, stone, trail_of
from domain.drawing.svg.elements import lettering
from domain.drawing.svg.painter import BoardInput, Picture, body
from domain.rules.helpers import counted


def _figure(look: str, seat: int, name: str) -> Stone:
    letter = lettering(name[0], (0, 0), class_="letter")
    return Stone(f"{look} figure", seat, name, (body(look, FIGURE), letter))


_KINDS: Final = {
    "D": _figure("light", 0, "David"),
    "G": _figure("dark", 1, "Goliath"),
    "o": stone("light", 0, "a stone of David's"),
    "x": stone("dark", 1, "a stone of Goliath's"),
}


def _with_throw(last: str) -> Trail:
    """Return the paths of a figure's move and of the throw from its end."""
    trail, target = trail_of(last), last.replace(">", ":").rpartition(":")[2]
    if target not in trail.places or not trail.paths:
        return trail
    return Trail(trail.places, trail.paths, ((trail.paths[0][-1], target),))


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [f"{counted(left, 'stone')} left" for left in view.position["supply"]]
    return picture(view, _KINDS, players(_KINDS, "DG", counts), _with_throw(view.last))
