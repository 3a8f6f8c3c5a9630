"""How well a robot plays.

The levels differ in the nodes that the engine may search, and in nothing else that a player sees:
a robot of any level plays every game, by the same rules.
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


def read_level(text: str) -> RobotLevel | None:
    """Return the level of this name; None if there is none."""
    try:
        return RobotLevel(text.lower())
    except ValueError:
        return None
