"""Oware."""

from typing import Final

from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import GamePackage
from domain.games.oware import drawing, schemas
from domain.games.oware.rules import NORTH, SOUTH, OwarePosition, OwareRules, row_of
from domain.games.oware.sentences import SAY

_SEED: Final = 0.018
"""The worth of a captured seed."""
_HOUSE: Final = 0.006
"""The worth of a house with seeds, because a player with few of them soon has to give seeds away."""
_THREATENED: Final = 0.008
"""The loss by a house with one or two seeds, which can be captured."""


def evaluate(position: OwarePosition) -> Values:
    """Compare captured seeds, and the houses of both rows: how many can move, and be captured."""
    ahead = _SEED * (position.south - position.north)
    for seat, sign in ((SOUTH, 1), (NORTH, -1)):
        row = position.seeds[row_of(seat)]
        weak = row.count(1) + row.count(2)
        ahead += sign * (_HOUSE * (len(row) - row.count(0)) - _THREATENED * weak)
    share = min(max(0.5 + ahead, 0.01), 0.99)
    return share, 1 - share


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA)

GAME = GamePackage(
    (OwareRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    ring_percent=160,
    needs_previous_position=True,
    text_places=drawing.text_places,
    prompt=SAY("house"),
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
