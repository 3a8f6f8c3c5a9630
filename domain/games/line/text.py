"""That's My Line as text."""

from domain.boards.pow2_text import board_below
from domain.game.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones."""
    light, dark = view.position["stones"]
    return board_below(f"Stones placed: Light {light} Dark {dark}", view)
