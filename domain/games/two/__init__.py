"""Two by Two."""

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
from domain.games.two.rules import TwoRules

_WANTED: Final = 2
_HALF_FULL: Final = 0.4
"""The worth of a line with one stone; that of one with two is 1."""
_CROWDED: Final = 0.4
"""The cost of a line with more than two."""


def evaluate(position: LinePuzzlePosition) -> Values:
    """Return the lines of the best position so far as a share of the bound."""
    return (position.lines / TwoRules.most_points,)


def guide(position: LinePuzzlePosition) -> float:
    """Count the lines of the present position."""
    numbers = stones_on_lines(position.stones)
    full, crowded = numbers.count(2), sum(number > _WANTED for number in numbers)
    return full + _HALF_FULL * numbers.count(1) - _CROWDED * crowded


ENGINE: Final = GameEngine(evaluate, guide=guide)

GAME = GamePackage(
    (TwoRules(),),
    partial(draw_lines, wanted=2, word="two"),
    partial(paint_lines, wanted=2),
    __name__,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=ENGINE,
    figures=FIGURES,
    notation=NOTATION,
    position=POSITION,
)
