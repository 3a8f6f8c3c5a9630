"""Drawings of positions: as text, for terminals and mail, and as SVG."""

from domain.drawing.svg.document import draw_svg
from domain.drawing.svg.style import STYLE
from domain.drawing.text import draw_text

__all__ = ["STYLE", "draw_svg", "draw_text"]
