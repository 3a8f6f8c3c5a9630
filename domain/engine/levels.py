"""How well a robot plays.

The levels differ in the nodes that the engine may search, and in nothing else that a player sees:
a robot of any level plays every game, by the same rules.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class RobotLevel(StrEnum):
    """A robot's level; the engine has a budget of nodes for each.

    The values are parts of userids, such as `robot-easy`, so they never change.
    """

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


LEVELS: Final = tuple(RobotLevel)
"""All levels, the weakest first."""

BUDGETS: Final[Mapping[RobotLevel, int]] = MappingProxyType(
    {RobotLevel.EASY: 150, RobotLevel.MEDIUM: 1_500, RobotLevel.HARD: 15_000}
)
"""The nodes that the engine searches for a move; a game may take a share of it."""


def read_level(text: str) -> RobotLevel | None:
    """Return the level of this name; None if there is none."""
    try:
        return RobotLevel(text.lower())
    except ValueError:
        return None
