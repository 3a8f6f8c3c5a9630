"""One by One in SVG."""

from domain.boards.line_puzzle_drawing import paint_lines
from domain.drawing.svg.painter import BoardInput, Picture


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    return paint_lines(view, 1, "one")
