"""Drawings of positions: as text, for terminals and mail, and as SVG."""

from domain.drawing.svg.document import draw_svg
from domain.drawing.svg.style import STYLE
from domain.drawing.text import TextPlace, draw_text, text_places

__all__ = ["STYLE", "TextPlace", "draw_svg", "draw_text", "text_places"]
