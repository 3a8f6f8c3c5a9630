"""David and Goliath as text, and in SVG with the paths of the last move and throw."""

from typing import Final

from domain.boards.pieces import PieceKind, figures_of, player_captions, stone_kind
from domain.boards.pow2_board import (
    FIGURE,
    FIGURE_RING,
    MoveTrail,
    board_below,
    board_picture,
    trail_of,
)
from domain.game.painter import BoardInput, Picture, body, stone, text_line
from domain.game.protocol import TextInput
from domain.games.goliath.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones left to throw."""
    david, goliath = view.position["supply"]
    return board_below(f"Stones left: David {david} Goliath {goliath}", view)


def _figure(look: str, seat: int, name: str) -> PieceKind:
    letter = text_line(name[0], (0, 0), class_="letter")
    shapes = (*stone(look, FIGURE), body(look, FIGURE - 3, "groove"), letter)
    return PieceKind(f"{look} figure", seat, name, shapes, FIGURE_RING)


KINDS: Final = {
    "D": _figure("light", 0, "David"),
    "G": _figure("dark", 1, "Goliath"),
    "o": stone_kind("light", 0, SAY("stone", owner=0)),
    "x": stone_kind("dark", 1, SAY("stone", owner=1)),
}


def _with_throw(last: str) -> MoveTrail:
    """Return the paths of a figure's move and of the throw from its end."""
    trail, target = trail_of(last), last.replace(">", ":").rpartition(":")[2]
    if target not in trail.places or not trail.paths:
        return trail
    return MoveTrail(trail.places, trail.paths, ((trail.paths[0][-1], target),))


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [SAY("left", stones=left) for left in view.position["supply"]]
    return board_picture(
        view, KINDS, player_captions(view, KINDS, "DG", counts), _with_throw(view.last)
    )


FIGURES: Final = figures_of(KINDS, {"david": "D", "goliath": "G", "stone": "o", "dark stone": "x"})
