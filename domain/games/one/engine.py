"""The evaluation of One by One."""

from typing import Final

from domain.boards.line_puzzle import LinePuzzlePosition, stones_on_lines
from domain.game.engine import GameEngine, Values
from domain.games.one.game import OneRules

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
