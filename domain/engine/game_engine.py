"""The part of a game's package that the engine uses, if there is one: an evaluation and hints.

Without it the engine searches on the rules protocol alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from domain.engine.levels import USUAL_BUDGETS, Budgets, Slips

Values = tuple[float, ...]
"""For each seat its expected share of the win, from 0 to 1; the shares add up to 1.

A puzzle has one seat, whose value says how good the best score so far is, 1 for the bound.
"""


class SearchMethod(Enum):
    """How the engine searches a game."""

    TREE = auto()
    """Monte Carlo tree search, for any number of seats."""
    ALPHA_BETA = auto()
    """Alpha-beta, for two seats and a good evaluation. With another number of seats it is `TREE`."""


@dataclass(frozen=True)
class GameEngine:
    """The declaration of a game for the engine. Each field may be left out.

    The functions are pure, and treat positions that are equal alike.
    """

    evaluate: Callable[[Any], Values] | None = None
    """Estimates the values of a position that is not over, for each seat of the match.

    With it a playout of the tree search ends after `playout_plies` plies, with this estimate.
    """
    method: SearchMethod = SearchMethod.TREE
    playout_plies: int = 0
    """How many random plies a playout has before it is evaluated; unused without `evaluate`."""
    candidates: Callable[[Any], Sequence[Any]] | None = None
    """Returns the legal moves that are worth a search, the promising ones first.

    They are at least one in a position that is not over. A game needs it if a position can have
    very many moves, or if alpha-beta profits from their order.
    """
    guide: Callable[[Any], float] | None = None
    """Returns how promising a puzzle's position is, more is better; without it the score counts."""
    players: Callable[[Any], int] | None = None
    """Returns the number of seats of a position's match; a game for two or three needs it."""
    budgets: Budgets = USUAL_BUDGETS
    """The nodes for a move of each level."""
    slips: Slips = Slips()  # noqa: RUF009 - it can't be changed
    """How many moves of the lower levels are made by chance, in a game where few nodes play well."""
