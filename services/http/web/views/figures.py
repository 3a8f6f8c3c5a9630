"""Small drawings beside boards: pieces and marks for legends, and samples of the board themes."""

from typing import Final

from markupsafe import Markup

from domain.game.painter import LOOKS, stone
from domain.game.svg import element
from domain.rules import GamePackage
from services.http.web.display_settings import BoardTheme

_APART: Final = 34
"""The distance between figures that stand together."""
_STONE: Final = 12.5
_SAMPLE: Final = (
    '<rect class="paper" width="96" height="64"/><path class="line" d="M0 8L44 32L96 6M44 32V64M44 32L96 52"/>'
    '<path class="line edge" d="M0 32H96"/>'
    '<g transform="translate(44 32)">{light}</g><g transform="translate(76 32)">{dark}</g>'
)


def draw_figures(game: GamePackage, *names: str) -> Markup:
    """Return figures of a game side by side as one drawing, for a page that describes them."""
    width = 40 + _APART * (len(names) - 1)
    drawn = "".join(_at(_APART * at, game.figures[name]) for at, name in enumerate(names))
    return _drawing(f"-20 -20 {width} 40", drawn, "figure")


def board_sample(theme: BoardTheme) -> Markup:
    """Return a piece of a board in a theme, whatever the page's own is."""
    light, dark = (element("g", *stone(look, _STONE), class_=f"piece {look}") for look in LOOKS[:2])
    drawn = _SAMPLE.format(light=light, dark=dark)
    return _drawing("0 0 96 64", drawn, f"sample {theme}")


def _at(across: int, drawn: str) -> str:
    return f'<g transform="translate({across} 0)">{drawn}</g>' if across else drawn


def _drawing(box: str, drawn: str, kind: str) -> Markup:
    svg = f'<svg class="board {kind}" viewBox="{box}" aria-hidden="true">{drawn}</svg>'
    return Markup(svg)  # noqa: S704 - our own markup, without any text of users
