"""One by One as text."""

from domain.boards.line_puzzle_drawing import draw_lines, stones_by_line
from domain.drawing.text import TextInput


def draw(view: TextInput) -> str:
    """Draw a position below the line of what has been reached."""
    numbers = stones_by_line(view.position)
    more = sum(number > 1 for number in numbers)
    return draw_lines(view, f"Lines with exactly one: {numbers.count(1)} with more: {more}")
