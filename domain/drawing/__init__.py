"""Drawings of positions: as text, for terminals and mail, and as SVG."""

from domain.drawing.svg.document import PlayerFigure, draw_svg, player_figures
from domain.drawing.svg.illustration import illustrate
from domain.drawing.svg.style import PAGE_STYLE, STYLE
from domain.drawing.text import draw_text, text_places
from domain.game.protocol import TextPlace

__all__ = [
    "PAGE_STYLE",
    "STYLE",
    "PlayerFigure",
    "TextPlace",
    "draw_svg",
    "draw_text",
    "illustrate",
    "player_figures",
    "text_places",
]
