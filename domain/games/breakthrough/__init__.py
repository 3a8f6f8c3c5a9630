"""Breakthrough."""

from functools import cache
from typing import Final

from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import PIECE_PROMPT, GamePackage, Seat
from domain.games.breakthrough import drawing, form, schemas
from domain.games.breakthrough.rules import (
    BLACK,
    WHITE,
    BreakthroughPosition,
    BreakthroughRules,
    beside,
    forward,
    row_of,
)

RULES: Final = BreakthroughRules()

# --- what robots use

_PIECE: Final = 0.04
"""The worth of a piece."""
_AHEAD: Final = 0.004
"""The worth of each row that a piece has advanced, for each row already behind it."""
_HANGING: Final = 0.015
"""The loss by a piece that can be captured and is not guarded."""


@cache
def _worths(size: int, seat: Seat) -> tuple[tuple[int, float], ...]:
    """Return the places of each row, and the worth of a piece there."""
    rows = range(1, size + 1) if seat == WHITE else range(size, 0, -1)
    return tuple(
        (row_of(size, row), _PIECE + _AHEAD * step * step / 2) for step, row in enumerate(rows)
    )


def _worth(size: int, own: int, other: int, seat: Seat) -> float:
    guarded, attacked = beside(forward(own, seat)), beside(forward(other, 1 - seat))
    found = -_HANGING * (own & attacked & ~guarded).bit_count()
    for row, worth in _worths(size, seat):
        found += worth * (own & row).bit_count()
    return found


def evaluate(position: BreakthroughPosition) -> Values:
    """Compare the pieces, those far ahead more, and those that hang less."""
    size, white, black = position.size, position.white, position.black
    ahead = _worth(size, white, black, WHITE) - _worth(size, black, white, BLACK)
    share = min(max(0.5 + ahead, 0.01), 0.99)
    return share, 1 - share


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA)

GAME = GamePackage(
    (RULES,),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    ring_percent=150,
    text_places=drawing.text_places,
    prompt=PIECE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
