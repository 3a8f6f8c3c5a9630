"""The hard robot makes no mistake in mū tōrere, which is solved here by going back from the endings."""

import pytest

from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.torere.rules import START, TorerePosition
from domain.rules import latest_rules

RULES = latest_rules("torere")


def solved() -> dict[TorerePosition, float]:
    """Return the value of all positions for the player to move."""
    after: dict[TorerePosition, list[TorerePosition]] = {}
    found = [START]
    for at in found:
        if at not in after:
            after[at] = [RULES.play(at, move) for move in RULES.moves(at)]
            found += after[at]
    values: dict[TorerePosition, float] = {}
    while True:
        known = len(values)
        for at, following in after.items():
            if any(values.get(one) == 0 for one in following):
                values[at] = 1
            elif all(values.get(one) == 1 for one in following):
                values[at] = 0
        if len(values) == known:
            return {at: values.get(at, 0.5) for at in after}


@pytest.fixture(scope="module")
def values() -> dict[TorerePosition, float]:
    return solved()


def test_the_game_is_a_draw(values: dict[TorerePosition, float]) -> None:
    assert values[START] == 0.5
    assert len(values) == 1_180


def test_hard_keeps_every_win_and_every_draw(values: dict[TorerePosition, float]) -> None:
    for at, value in values.items():
        if RULES.to_move(at) is not None:
            move = RULES.read(choose_move(RULES, at, RobotLevel.HARD, b"seed"))
            assert 1 - values[RULES.play(at, move)] == value, at


def test_easy_makes_mistakes(values: dict[TorerePosition, float]) -> None:
    mistakes = 0
    for at, value in values.items():
        if RULES.to_move(at) is not None:
            move = RULES.read(choose_move(RULES, at, RobotLevel.EASY, b"seed"))
            mistakes += 1 - values[RULES.play(at, move)] < value
    assert mistakes > 0
