"""Cooperative That's My Line."""

from typing import Final

from domain.boards.pow2_board import places_below, unopposed
from domain.game.engine import GameEngine, Values
from domain.game.protocol import STONE_PROMPT, GamePackage
from domain.games.duo import drawing, schemas
from domain.games.duo.rules import DuoPosition, DuoRules

_MOST_STONES: Final = 48
"""The proven bound."""


def evaluate(position: DuoPosition) -> Values:
    """Return the stones as a share of the bound."""
    return ((position.light | position.dark).bit_count() / _MOST_STONES,)


def guide(position: DuoPosition) -> float:
    """Count the stones, and the places that are left for each colour."""
    light, dark = position.light, position.dark
    left = unopposed(light, dark).bit_count() + unopposed(dark, light).bit_count()
    return (light | dark).bit_count() + left


ENGINE: Final = GameEngine(evaluate, guide=guide)

GAME = GamePackage(
    (DuoRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
