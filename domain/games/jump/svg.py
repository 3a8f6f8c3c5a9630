"""Get a Jump On in SVG; the jumper is the large stone."""

from typing import Final

from domain.boards.pow2_svg import FIGURE, Stone, picture, players, stone
from domain.drawing.svg.painter import BoardInput, Picture, body
from domain.rules.helpers import counted

_CORE: Final = 5
_KINDS: Final = {
    "O": Stone(
        "light jumper", 0, "the jumper", (body("light", FIGURE), body("light", _CORE, "core"))
    ),
    "o": stone("light", 0, "a stone"),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    letters, plies = [*view.position["board"].values()], view.position["plies"]
    stones = counted(len(letters), "stone")
    part_two = letters and "O" not in letters
    counts = (
        f"{stones} left after {counted(plies, 'ply', 'plies')}" if part_two else f"{stones} set"
    )
    return picture(view, _KINDS, players(_KINDS, "o" if part_two else "O", [counts]))
