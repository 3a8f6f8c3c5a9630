"""Get a Jump On as text and in SVG; the jumper is the large stone."""

from typing import Final

from domain.boards.pieces import PieceKind, figures_of, player_captions, stone_kind
from domain.boards.pow2_board import FIGURE, FIGURE_RING, board_below, board_picture
from domain.game.painter import BoardInput, Picture, body, stone
from domain.game.protocol import TextInput
from domain.games.jump.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones."""
    board = view.position["board"]
    if board and "O" not in board.values():
        return board_below(f"Stones left: {len(board)} Plies: {view.position['plies']}", view)
    return board_below(f"Stones set: {len(board)}", view)


_CORE: Final = 5
KINDS: Final = {
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
        view, KINDS, player_captions(view, KINDS, "o" if part_two else "O", [counts])
    )


FIGURES: Final = figures_of(KINDS, {"jumper": "O", "stone": "o"})
