"""Cooperative That's My Line as text and in SVG."""

from typing import Final

from domain.boards.pieces import player_captions, stone_kind
from domain.boards.pow2_board import board_below, board_picture, line_figure, lines_owned
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import TextInput
from domain.games.duo.rules import COLOURS
from domain.games.duo.sentences import SAY


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones and names the next colour."""
    letters, colour = [*view.position["board"].values()], view.position["colour"]
    light, dark = letters.count("o"), letters.count("x")
    after = f" Next: {colour.title()}" if colour else ""
    return board_below(f"Stones placed: Light {light} Dark {dark}{after}", view)


KINDS: Final = {"o": stone_kind("light", 0, SAY("light")), "x": stone_kind("dark", 0, SAY("dark"))}


def paint(view: BoardInput) -> Picture:
    """Draw a position; the icon beside the name has the next colour."""
    letters = [*view.position["board"].values()]
    light, dark, colour = letters.count("o"), letters.count("x"), view.position["colour"]
    counts = SAY("counts", stones=light + dark, light=light, dark=dark)
    if colour:
        counts = SAY("next", counts=counts, colour=COLOURS.index(colour))
    beside = player_captions(view, KINDS, "x" if colour == "dark" else "o", [counts])
    return board_picture(view, KINDS, beside, marks=lines_owned(view.position["board"]))


FIGURES: Final = {"light line": line_figure("light"), "dark line": line_figure("dark")}
