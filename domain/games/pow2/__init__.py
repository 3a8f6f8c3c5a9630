"""The Power of Two."""

from typing import Final

from domain.boards.pow2_board import places_below
from domain.game.engine import Budgets, GameEngine, SearchMethod, Values
from domain.game.protocol import PIECE_PROMPT, GamePackage
from domain.games.pow2 import drawing, form, schemas
from domain.games.pow2.rules import Pow2Position, Pow2Rules

_SCALE: Final = 8.0
"""The lead in pieces at which a seat's share of the win is three quarters."""
_FRESH: Final = 1.5
"""The worth of a fresh piece; that of an aged one is 1."""


def evaluate(position: Pow2Position) -> Values:
    """Compare the pieces on the board."""
    lead = (
        _FRESH * (position.light_fresh.bit_count() - position.dark_fresh.bit_count())
        + position.light_aged.bit_count()
        - position.dark_aged.bit_count()
    )
    value = 0.5 + lead / (2 * (_SCALE + abs(lead)))
    return value, 1 - value


ENGINE: Final = GameEngine(evaluate, SearchMethod.ALPHA_BETA, budgets=Budgets(100, 1_500, 60_000))

GAME = GamePackage(
    (Pow2Rules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    text_places=places_below,
    prompt=PIECE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
