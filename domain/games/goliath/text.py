"""David and Goliath as text."""

from domain.boards.pow2_text import board_below
from domain.game.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below a line that counts the stones left to throw."""
    david, goliath = view.position["supply"]
    return board_below(f"Stones left: David {david} Goliath {goliath}", view)
