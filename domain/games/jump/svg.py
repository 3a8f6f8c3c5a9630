"""Get a Jump On in SVG; the jumper is the large stone."""

from typing import Final

from domain.boards.pow2_svg import FIGURE, PieceKind, board_picture, player_captions, stone_kind
from domain.drawing.svg.painter import BoardInput, Picture, body
from domain.rules.checks import quantity

_CORE: Final = 5
_KINDS: Final = {
    "O": PieceKind(
        "light jumper", 0, "the jumper", (body("light", FIGURE), body("light", _CORE, "core"))
    ),
    "o": stone_kind("light", 0, "a stone"),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    letters, plies = [*view.position["board"].values()], view.position["plies"]
    stones = quantity(len(letters), "stone")
    part_two = letters and "O" not in letters
    counts = (
        f"{stones} left after {quantity(plies, 'ply', 'plies')}" if part_two else f"{stones} set"
    )
    return board_picture(view, _KINDS, player_captions(_KINDS, "o" if part_two else "O", [counts]))
