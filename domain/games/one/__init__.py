"""One by One."""

from functools import partial
from typing import Final

from domain.boards.line_puzzle import (
    FIGURES,
    NOTATION,
    POSITION,
    LinePuzzlePosition,
    draw_lines,
    paint_lines,
    stones_on_lines,
)
from domain.boards.pow2_board import places_below
from domain.game.engine import GameEngine, Values
from domain.game.protocol import STONE_PROMPT, GamePackage
from domain.games.one.rules import OneRules

_CROWDED: Final = 3
"""The lines that a line with several stones costs."""


def evaluate(position: LinePuzzlePosition) -> Values:
    """Return the lines of the best position so far as a share of the bound."""
    return (position.lines / OneRules.most_points,)


def guide(position: LinePuzzlePosition) -> float:
    """Count the lines of the present position."""
    numbers = stones_on_lines(position.stones)
    return numbers.count(1) - _CROWDED * sum(number > 1 for number in numbers)


ENGINE: Final = GameEngine(evaluate, guide=guide)

GAME = GamePackage(
    (OneRules(),),
    partial(draw_lines, wanted=1, word="one", more=True),
    partial(paint_lines, wanted=1),
    __name__,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=ENGINE,
    figures=FIGURES,
    notation=NOTATION,
    position=POSITION,
)
