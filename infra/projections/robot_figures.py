"""How many matches wait for a robot, and in which a robot could not act: for the doctor and for monitoring."""

from collections.abc import Mapping

import msgspec
import redis

from infra.projections.robot_turns import RobotTurns
from infra.store.robot_failures import RobotFailures

_ANY_TIME = 1 << 52


class RobotFigures(msgspec.Struct, frozen=True):
    """Robots at one moment."""

    waiting: int = 0
    """Matches in which a robot is to act."""
    oldest_ms: int = 0
    """How long ago the last event of the first of them was, those apart in which a robot can't act."""
    failures: Mapping[int, str] = {}
    """Why a robot could not act, by board."""


def read_robot_figures(client: redis.Redis, now: int) -> RobotFigures:
    """Return the figures; none are waiting while the projection is being rebuilt."""
    failures = {board: one.why for board, one in RobotFailures(client).all().items()}
    turns = RobotTurns(client)
    try:
        first = turns.due(_ANY_TIME, len(failures) + 1)
        waiting = turns.count()
    except LookupError:
        return RobotFigures(failures=failures)
    since = next((one.since for one in first if one.board not in failures), now)
    return RobotFigures(waiting, max(0, now - since), failures)
