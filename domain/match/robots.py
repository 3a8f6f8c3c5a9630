"""The accounts of robots: there is one for each level, and each plays every game for several.

Their ids are the same on every server, so whatever reads a match knows without a look-up which
seats are robots'. An id that is drawn for a person is one of these with a chance of 3 in 2^64.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from domain.game.engine import LEVELS, RobotLevel
from domain.match.events import AccountId

_PREFIX: Final = b"robot\0\0"

ROBOT_ACCOUNTS: Final[Mapping[RobotLevel, AccountId]] = MappingProxyType(
    {level: _PREFIX + bytes([number]) for number, level in enumerate(LEVELS, 1)}
)
"""The account of the robot of each level."""

_LEVEL_OF: Final = {account: level for level, account in ROBOT_ACCOUNTS.items()}


def robot_level(account: AccountId) -> RobotLevel | None:
    """Return the level of a robot's account; None for a person's."""
    return _LEVEL_OF.get(account)


def robot_name(level: RobotLevel) -> str:
    """Return the userid of a robot, such as `robot-easy`."""
    return f"robot-{level}"
