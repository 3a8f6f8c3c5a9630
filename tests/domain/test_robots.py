"""The accounts of robots."""

from domain.game.engine import LEVELS, RobotLevel, read_level
from domain.match.events import SERVER_ACCOUNT
from domain.match.state import ROBOT_ACCOUNTS, robot_level, robot_name


def test_each_level_has_an_account_of_its_own() -> None:
    accounts = list(ROBOT_ACCOUNTS.values())
    assert len(set(accounts)) == len(LEVELS) == 3
    assert {len(account) for account in accounts} == {len(SERVER_ACCOUNT)}
    assert [robot_level(account) for account in accounts] == list(LEVELS)


def test_a_person_is_no_robot() -> None:
    assert robot_level(SERVER_ACCOUNT) is None
    assert robot_level(b"robot\0\0\4") is None


def test_a_level_is_read_in_any_case() -> None:
    assert read_level("Hard") is RobotLevel.HARD
    assert read_level("harder") is None
    assert robot_name(RobotLevel.EASY) == "robot-easy"
