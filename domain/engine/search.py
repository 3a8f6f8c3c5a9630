"""The evaluation of a position by a search."""

from typing import Any, Final

import msgspec

from domain.engine.alpha_beta import AlphaBetaSearch
from domain.engine.model import GameModel
from domain.engine.puzzle_search import PuzzleSearch
from domain.engine.tree_search import TreeSearch
from domain.game.engine import SearchMethod, Values
from domain.game.protocol import AnyRules
from domain.random_numbers import RandomNumbers

_TWO: Final = 2
"""The number of seats for which alpha-beta is."""


class Evaluation(msgspec.Struct, frozen=True):
    """The result of a search."""

    values: Values
    """For each seat its expected share of the win, from 0 to 1.

    A puzzle's only seat has the best score found, 1 for the bound.
    """
    line: tuple[str, ...]
    """The best line found, in canonical moves; empty when the match is over."""
    nodes: int
    """How much was searched."""


def evaluate(rules: AnyRules, position: Any, nodes: int, seed: bytes) -> Evaluation:
    """Search a position by about that many nodes.

    The same arguments lead to the same result, in any process.
    """
    model = GameModel(rules, position)
    if model.seat(position) is None:
        return Evaluation(model.final_values(position), (), 0)
    numbers = RandomNumbers(seed)
    if model.players == 1:
        search: PuzzleSearch | AlphaBetaSearch | TreeSearch = PuzzleSearch(model, position, numbers)
    elif model.players == _TWO and model.engine.method is SearchMethod.ALPHA_BETA:
        search = AlphaBetaSearch(model, position, numbers)
    else:
        search = TreeSearch(model, position, numbers)
    search.run(nodes)
    return Evaluation(search.values, tuple(map(rules.write, search.best_line())), model.nodes)
