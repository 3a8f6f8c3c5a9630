"""What is rated, places in a match, ratings as they are shown, and the accounts of robots."""

import pytest

from domain.clocks.time_control import DAY, read_time_control
from domain.errors import Refusal
from domain.game.engine import RobotLevel, read_level
from domain.match.commands import FlagPlayer, GiveRuling, ResignMatch
from domain.match.state import robot_level, robot_name
from domain.ratings import NEWCOMER, UNIT, Skill, ranking
from domain.records import SERVER_ACCOUNT
from tests.helpers.given import BEGIN, Match, challenge

BACK_AND_FORTH = ("m13-j7", "a13-c11", "j7-m13", "c11-a13")


def played(moves: int, least: int) -> Match:
    """A match in which so many moves were made."""
    found = Match(challenge("pow2", "--days=3", f"--rated-from={least}"))
    found.play(*BACK_AND_FORTH[:moves])
    return found


@pytest.mark.parametrize(("moves", "least"), [(1, 1), (2, 1), (2, 2), (3, 2), (4, 2)])
def test_a_forfeit_of_few_moves_changes_no_rating(moves: int, least: int) -> None:
    flagged, resigned, ruled = (played(moves, least) for _ in range(3))
    flagged.do(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 30 * DAY)
    resigned.do(resigned.state.seats[0], ResignMatch())
    ruled.do(
        SERVER_ACCOUNT,
        GiveRuling(claim=None, upheld=True, text=bytes(32), winners=(0,), annul=False),
    )
    said = [one.state.rated for one in (flagged, resigned, ruled)]
    enough = moves >= 2 * least
    assert said == [enough, moves > 1, enough]
    for one in (flagged, resigned, ruled):
        one.holds()


@pytest.mark.parametrize(("winners", "rated"), [((0,), False), ((1,), True), ((0, 1), False)])
def test_the_moves_of_the_loser_count_at_a_ruling(winners: tuple[int, ...], *, rated: bool) -> None:
    found = played(moves=3, least=2)
    ruling = GiveRuling(claim=None, upheld=True, text=bytes(32), winners=winners, annul=False)
    found.do(SERVER_ACCOUNT, ruling)
    assert found.state.rated is rated
    found.holds()


def test_the_moves_are_recorded_only_if_they_say_more_than_the_usual_rule() -> None:
    assert [read_time_control([f"--rated-from={n}"]).rated for n in (1, 2)] == [True, 2]
    assert read_time_control(["--unrated"]).rated is False
    with pytest.raises(Refusal, match="contradict each other"):
        read_time_control(["--unrated", "--rated-from=2"])


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


def test_what_is_shown_grows_with_the_mean_and_with_what_is_known() -> None:
    assert NEWCOMER.rating == 1500
    assert Skill(25 * UNIT, UNIT).rating == 1500 + 30 * 22
    assert Skill(30 * UNIT, UNIT).rating == 1500 + 30 * 27
    assert Skill(20 * UNIT, 8 * UNIT).rating == 1500 - 30 * 4
