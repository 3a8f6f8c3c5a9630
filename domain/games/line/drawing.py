"""That's My Line as text and in SVG; there a line on which stones stand has their colour."""

from typing import Final

from domain.boards.pieces import player_captions, stone_kind
from domain.boards.pow2_board import board_below, board_picture, line_figure, lines_owned
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput
from domain.games.line.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones."""
    light, dark = view.position["stones"]
    return board_below(f"Stones placed: Light {light} Dark {dark}", view)


KINDS: Final = {
    "o": stone_kind("light", 0, SAY("side", seat=0)),
    "x": stone_kind("dark", 1, SAY("side", seat=1)),
}


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    counts = [SAY("placed", stones=placed) for placed in view.position["stones"]]
    owned = lines_owned(view.position["board"])
    return board_picture(view, KINDS, player_captions(view, KINDS, "ox", counts), marks=owned)


FIGURES: Final = {"light line": line_figure("light"), "dark line": line_figure("dark")}
