"""The evaluation of Powerdrain agrees with the endings, and robots find an ending that wins."""

import random

import pytest

from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.powerdrain import evaluate
from domain.games.powerdrain.rules import PowerdrainPosition
from domain.rules import latest_rules
from tests.golden.make_games import RandomChance

RULES = latest_rules("powerdrain")


def played(plies: int, seed: int) -> PowerdrainPosition:
    """Return a position after random moves."""
    rng = random.Random(seed)
    options = RULES.read_options(())
    at: PowerdrainPosition = RULES.start(options, 2, RULES.draw(options, 2, RandomChance(rng)))
    for _ in range(plies):
        at = RULES.play(at, rng.choice(list(RULES.moves(at))))
    return at


@pytest.mark.parametrize("seed", range(20))
def test_the_winner_of_a_match_that_ends_now_has_the_larger_share(seed: int) -> None:
    at = played(16, seed)
    outcome = RULES.outcome(at)
    shares = evaluate(at)
    assert outcome is not None
    assert sum(shares) == pytest.approx(1)
    if len(outcome.winners) == 1 and outcome.reason == "more-power":
        assert shares[outcome.winners[0]] > 0.5


def test_an_empty_grid_is_even() -> None:
    assert evaluate(played(0, 1)) == (0.5, 0.5)


def winners_after(at: PowerdrainPosition, move: str) -> tuple[int, ...]:
    """Return the winners of a match that this move ends."""
    outcome = RULES.outcome(RULES.play(at, RULES.read(move)))
    assert outcome is not None
    return outcome.winners


def test_hard_wins_with_the_last_plug_where_that_is_possible() -> None:
    chances = 0
    for seed in range(20):
        at = played(15, seed)
        if any(winners_after(at, move) == (1,) for move in RULES.legal_moves(at)):
            chances += 1
            assert winners_after(at, choose_move(RULES, at, RobotLevel.HARD, b"seed")) == (1,)
    assert chances > 3
