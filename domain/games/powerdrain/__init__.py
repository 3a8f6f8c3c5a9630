"""Powerdrain."""

from typing import Final

from domain.game.engine import Budgets, GameEngine, SearchMethod, Values
from domain.game.protocol import GamePackage
from domain.games.powerdrain import drawing, form, schemas
from domain.games.powerdrain.grid import remaining_volts
from domain.games.powerdrain.rules import PowerdrainPosition, PowerdrainRules
from domain.games.powerdrain.sentences import SAY

_PLUG: Final = 0.15
"""The worth of an active plug, which decides before any sum does."""
_VOLT: Final = 0.015
"""The worth of a volt: it breaks ties, and it is what a plug can lose before it is not active."""


def evaluate(position: PowerdrainPosition) -> Values:
    """Compare the active plugs of both players, as if the match ended now."""
    lead = 0.0
    for volts in remaining_volts(position.left, position.top, position.grid).values():
        if volts > 0:
            lead += _PLUG + _VOLT * volts
        elif volts < 0:
            lead += _VOLT * volts - _PLUG
    value = 0.5 + lead / (2 * (1 + abs(lead)))
    return value, 1 - value


ENGINE: Final = GameEngine(
    evaluate,
    SearchMethod.ALPHA_BETA,
    # a first position has 200 moves, so the lower levels look at some of them, chosen by the seed
    budgets=Budgets(12, 50, 10_000),
)

GAME = GamePackage(
    (PowerdrainRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    ring_percent=0,
    prompt=SAY("prompt"),
    text_places=drawing.text_places,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
