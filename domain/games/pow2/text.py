"""The Power of Two as text."""

from domain.boards.pow2_text import board_below
from domain.game.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the pieces left to place."""
    light, dark = view.position["supply"]
    return board_below(f"Remaining Pieces: Light {light} Dark {dark}", view)
