"""How well a robot plays.

The levels differ in the nodes that the engine may search. In some games that is not enough, because
few nodes find good moves there: then the lower levels also make some moves by chance.
"""

from enum import StrEnum
from typing import Final, NamedTuple


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
