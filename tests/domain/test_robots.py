"""The accounts of robots.

Places in a match, and ratings as they are shown.
"""

import pytest

from domain.game.engine import RobotLevel, read_level
from domain.match.state import robot_level, robot_name
from domain.ratings import NEWCOMER, UNIT, Skill, ranking
from domain.records import SERVER_ACCOUNT


def test_a_person_is_no_robot() -> None:
    assert robot_level(SERVER_ACCOUNT) is None
    assert robot_level(b"robot\0\0\4") is None


def test_a_level_is_read_in_any_case() -> None:
    assert read_level("Hard") is RobotLevel.HARD
    assert read_level("harder") is None
    assert robot_name(RobotLevel.EASY) == "robot-easy"


@pytest.mark.parametrize(
    ("seats", "winners", "left", "places"),
    [
        (2, (0,), (), (1, 2)),
        (2, (1,), (0,), (2, 1)),
        (2, (0, 1), (), (1, 1)),
        (3, (1,), (), (2, 1, 2)),
        (3, (0, 2), (), (1, 3, 1)),
        (3, (0, 1, 2), (), (1, 1, 1)),
        (3, (2,), (0,), (3, 2, 1)),
        (3, (2,), (0, 1), (3, 2, 1)),
        (3, (2,), (1, 0), (2, 3, 1)),
        (3, (0, 1), (2,), (1, 1, 3)),
        (2, (), (), (1, 1)),
        (3, (), (1,), (1, 1, 1)),
    ],
)
def test_winners_come_first_and_who_left_earlier_comes_last(
    seats: int, winners: tuple[int, ...], left: tuple[int, ...], places: tuple[int, ...]
) -> None:
    assert ranking(seats, winners, left) == places


def test_a_newcomer_is_shown_with_1500() -> None:
    assert NEWCOMER.rating == 1500


def test_what_is_shown_grows_with_the_mean_and_with_what_is_known() -> None:
    assert Skill(25 * UNIT, UNIT).rating == 1500 + 30 * 22
    assert Skill(30 * UNIT, UNIT).rating == 1500 + 30 * 27
    assert Skill(20 * UNIT, 8 * UNIT).rating == 1500 - 30 * 4
