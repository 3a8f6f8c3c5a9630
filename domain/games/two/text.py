"""Two by Two as text."""

from typing import Final

from domain.boards.line_puzzle_drawing import draw_lines, stones_by_line
from domain.drawing.text import TextInput

_WANTED: Final = 2


def draw(view: TextInput) -> str:
    """Draw a position below the line of what has been reached."""
    full = stones_by_line(view.position).count(_WANTED)
    return draw_lines(view, f"Lines with exactly two: {full}")
