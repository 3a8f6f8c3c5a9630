"""The declaration of a game for the engine, if there is one: an evaluation and hints; and the levels of robots.

Without one the engine searches on the rules protocol alone. The levels differ in the nodes that
the engine may search. In some games that is not enough, because few nodes find good moves there: then the lower
levels also make some moves by chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Any, Final, NamedTuple


class RobotLevel(StrEnum):
    """A robot's level; the engine has a budget of nodes for each.

    The values are parts of userids, such as `robot-easy`, so they never change.
    """

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


LEVELS: Final = tuple(RobotLevel)
"""All levels, the weakest first."""


class Budgets(NamedTuple):
    """The nodes that the engine may search for a move, by level."""

    easy: int
    medium: int
    hard: int

    def of(self, level: RobotLevel) -> int:
        """Return the budget of a level."""
        return self[LEVELS.index(level)]


USUAL_BUDGETS: Final = Budgets(150, 1_500, 15_000)
"""The budgets of a game that declares none."""


class Slips(NamedTuple):
    """Of 100 moves of a level, how many are made by chance; `robot-hard` never slips."""

    easy: int = 0
    medium: int = 0

    def of(self, level: RobotLevel) -> int:
        """Return the slips of a level."""
        return 0 if level is RobotLevel.HARD else self[LEVELS.index(level)]


def read_level(text: str) -> RobotLevel | None:
    """Return the level of this name; None if there is none."""
    try:
        return RobotLevel(text.lower())
    except ValueError:
        return None


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
