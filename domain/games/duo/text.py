"""Cooperative That's My Line as text."""

from domain.boards.pow2_text import board_below
from domain.game.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones and names the next colour."""
    letters, colour = [*view.position["board"].values()], view.position["colour"]
    light, dark = letters.count("o"), letters.count("x")
    after = f" Next: {colour.title()}" if colour else ""
    return board_below(f"Stones placed: Light {light} Dark {dark}{after}", view)
