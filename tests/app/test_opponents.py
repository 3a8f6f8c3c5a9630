"""Matches with robots: never rated, limited, and started at once; the same by every way in."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from domain.errors import Code
from domain.game.engine import LEVELS, RobotLevel
from domain.match.state import ROBOT_ACCOUNTS
from domain.rules import latest_rules
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from infra.people.challenges import ChallengeState
from infra.people.pending_starts import MOST_ROBOT_MATCHES
from services.app import challenges
from services.app.context import Actor
from services.app.matches import load_state
from services.app.opponents import robots_here
from services.app.play import submit
from services.language import Answer, Language, Origin
from tests.fakes.app import FakeApp, Terminal
from tests.helpers.examples import refused

EASY = ROBOT_ACCOUNTS[RobotLevel.EASY]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    create_robot_accounts(app.client, AccountMacs())
    yield Terminal(app)
    app.close()


@pytest.fixture
def app(terminal) -> FakeApp:
    return terminal.app


def of(app: FakeApp, name: str) -> bytes:
    return app.accounts.id_of(name)


def actor(app: FakeApp, name: str, key: str = "1") -> Actor:
    return Actor(of(app, name), "test", key, name)


def challenge(app: FakeApp, line: str, name: str = "alice") -> Answer:
    """Return the answer to a challenge of a player who is proven."""
    return Language(app, "mail").do(line, None, 5.0, origin=Origin(of(app, name)))


def board_of(answer: Answer) -> int:
    assert answer.code == "", answer
    return int(answer.sentence.split()[1].rstrip(",#"))


# which there are


def test_the_robots_are_listed_the_weakest_first(app):
    assert [(one.level, one.userid) for one in robots_here(app)] == [
        (level, f"robot-{level}") for level in LEVELS
    ]


def test_where_no_robots_run_there_are_none_and_none_can_be_challenged(app):
    app.settings = replace(app.settings, robots=0)
    assert robots_here(app) == ()
    answer = challenge(app, "pow2 challenge alice robot-easy")
    assert answer.code == Code.NOT_WANTED
    assert answer.sentence == (
        "robot-easy can't play here at the moment, because this server isn't running robots"
    )


# by name


def test_a_match_with_a_robot_starts_at_once_and_is_not_rated(app):
    state = load_state(app, board_of(challenge(app, "pow2 challenge alice robot-easy --days=3")))
    assert state.seats == (of(app, "alice"), EASY)
    assert not state.has_no_position
    assert (state.clock.terms.rated, state.clock.terms.days) == (False, 3)


def test_a_robot_challenges_nobody(app):
    answer = challenge(app, "pow2 challenge robot-easy robot-hard")
    assert answer.code == Code.BAD_PLAYERS


def test_only_so_many_matches_with_robots_go_on_at_once(app):
    boards = [
        board_of(challenge(app, f"pow2 challenge alice robot-{LEVELS[n % 2]}"))
        for n in range(MOST_ROBOT_MATCHES)
    ]
    answer = challenge(app, "torere challenge robot-easy alice")
    assert answer.code == Code.TOO_MANY
    assert answer.sentence == (
        "you have 20 unfinished matches with robots, and that is the limit; finish one, or resign"
    )
    board_of(challenge(app, "pow2 challenge bob robot-easy", "bob"))
    board_of(challenge(app, "pow2 challenge alice bob"))
    assert challenge(app, f"pow2 resign {boards[3]} alice mad-hatter").code == ""
    board_of(challenge(app, "pow2 challenge alice robot-easy"))
    assert challenge(app, "pow2 challenge alice robot-easy").code == Code.TOO_MANY


def test_a_robot_that_thinks_long_has_five_matches_of_one_player(app):
    boards = [board_of(challenge(app, "pow2 challenge alice robot-hard")) for _ in range(5)]
    answer = challenge(app, "torere challenge alice robot-hard")
    assert answer.code == Code.TOO_MANY
    assert answer.sentence.startswith("you have 5 unfinished matches with robot-hard")
    filled = (challenges.fill_with_robot, app, actor(app, "alice"), opened(app), RobotLevel.HARD)
    refused(Code.TOO_MANY, *filled)
    board_of(challenge(app, "pow2 challenge alice robot-medium"))
    board_of(challenge(app, "pow2 challenge bob robot-hard", "bob"))
    assert challenge(app, f"pow2 resign {boards[3]} alice mad-hatter").code == ""
    board_of(challenge(app, "torere challenge alice robot-hard"))


# open challenges


def opened(app: FakeApp, terms=(), **options) -> str:
    proposal = challenges.proposal_of(
        latest_rules(options.pop("game", "pow2")),
        (),
        terms,
        seats=options.pop("seats", 2),
        **options,
    )
    return challenges.propose(app, actor(app, "alice", "open"), proposal).id


def started(app: FakeApp, full) -> int:
    return submit(app, challenges.begun_when_full(app, lambda: full)).board


def test_who_opened_a_challenge_fills_it_with_a_robot(app):
    id_ = opened(app, ["--days=3"], seat=0)
    full = challenges.fill_with_robot(app, actor(app, "alice"), id_, RobotLevel.EASY)
    assert full.state is ChallengeState.TAKEN
    assert full.words == ("--days=3", "--unrated")
    state = load_state(app, started(app, full))
    assert state.seats == (of(app, "alice"), EASY)
    assert not state.clock.terms.rated
    again = challenges.fill_with_robot(app, actor(app, "alice"), id_, RobotLevel.EASY)
    assert again.state is ChallengeState.STARTED


def test_nobody_else_brings_a_robot_in(app):
    id_ = opened(app)
    sentence = refused(
        Code.NOT_A_PLAYER,
        *(challenges.fill_with_robot, app, actor(app, "bob"), id_, RobotLevel.EASY),
    )
    assert sentence.endswith("only the player who opened it can ask a robot to join")
    assert app.challenges.get(id_).takers == ()


def test_a_player_who_has_blocked_a_robot_does_not_meet_it(app):
    id_ = opened(app, game="halves", seats=3, seat=0)
    challenges.take(app, actor(app, "bob"), id_)
    app.blocks.add(of(app, "bob"), EASY)
    fill = (challenges.fill_with_robot, app, actor(app, "alice"), id_)
    assert (
        refused(Code.NOT_WANTED, *fill, RobotLevel.EASY)
        == "bob doesn't want to play with robot-easy"
    )
    assert not challenges.fill_with_robot(*fill[1:], RobotLevel.HARD).free_seats


# what robots do not read


def test_robots_get_no_messages(terminal):
    answer = terminal.do("message alice mad-hatter bob,robot-easy hello")
    assert (answer.code, answer.sentence) == (
        Code.NOT_WANTED,
        "robot-easy is a robot, and doesn't read messages",
    )
    assert (
        terminal.do("messages bob yes-we-can").page == terminal.do("messages carol sing-along").page
    )


def test_nobody_chats_with_robots_alone(terminal, app):
    board = board_of(challenge(app, "pow2 challenge alice robot-easy"))
    answer = terminal.do(f"pow2 chat {board} alice mad-hatter hello")
    assert (answer.code, answer.sentence) == (
        Code.NOT_WANTED,
        "robot-easy is a robot, and doesn't read chat",
    )
    board = board_of(challenge(app, "halves challenge alice bob robot-easy -manual_start"))
    assert terminal.do(f"halves chat {board} alice mad-hatter hello").code == ""
