"""Get a Jump On in SVG; the jumper is the large stone."""

from typing import Final

from domain.boards.pow2_svg import (
    FIGURE,
    FIGURE_RING,
    PieceKind,
    board_picture,
    figures_of,
    player_captions,
    stone_kind,
)
from domain.game.painter import BoardInput, Picture, body, stone
from domain.games.jump.sentences import SAY

_CORE: Final = 5
_KINDS: Final = {
    "O": PieceKind(
        "light jumper",
        0,
        SAY("jumper"),
        (*stone("light", FIGURE), body("light", _CORE, "core")),
        FIGURE_RING,
    ),
    "o": stone_kind("light", 0, SAY("stone")),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    letters, plies = [*view.position["board"].values()], view.position["plies"]
    stones, part_two = len(letters), letters and "O" not in letters
    counts = SAY("left", stones=stones, plies=plies) if part_two else SAY("set", stones=stones)
    return board_picture(
        view, _KINDS, player_captions(view, _KINDS, "o" if part_two else "O", [counts])
    )


FIGURES: Final = figures_of(_KINDS, {"jumper": "O", "stone": "o"})
