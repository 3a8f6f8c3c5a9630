"""The evaluations of games: shares that add up, and the same for both sides."""

import random

import pytest
from msgspec.structs import replace

from domain.engine.model import MOST_MOVES, GameModel, engine_of
from domain.engine.robot_move import choose_move
from domain.game.engine import LEVELS
from domain.rules import latest_rules
from tests.engine.positions import random_positions


def test_estimates_are_shares():
    for number in range(10):
        for rules, at in random_positions(random.Random(number)):
            values = GameModel(rules, at).estimate(at)
            assert all(0 <= value <= 1 for value in values), rules.key
            assert rules.players == (1,) or sum(values) == pytest.approx(1)


def test_candidates_are_legal_and_at_least_one():
    for number in range(10):
        for rules, at in random_positions(random.Random(number)):
            found = GameModel(rules, at).moves(at)
            assert 0 < len(found) <= MOST_MOVES
            assert [rules.check(at, move) for move in found[:200]] == found[:200]


def exchanged(key, at):
    """Return the position with the sides exchanged."""
    match key:
        case "pow2":
            return replace(
                at,
                light_fresh=at.dark_fresh,
                light_aged=at.dark_aged,
                dark_fresh=at.light_fresh,
                dark_aged=at.light_aged,
                turn=1 - at.turn,
            )
        case _:
            return replace(
                at,
                david=at.goliath,
                goliath=at.david,
                light=at.dark,
                dark=at.light,
                turn=1 - at.turn,
            )


@pytest.mark.parametrize("key", ["pow2", "goliath"])
def test_an_estimate_does_not_prefer_a_side(key):
    for number in range(20):
        for rules, at in random_positions(random.Random(number)):
            if rules.key == key:
                estimate = engine_of(rules).evaluate
                assert estimate(at) == pytest.approx(estimate(exchanged(key, at))[::-1])


def test_more_pieces_are_better_in_pow2():
    rules = latest_rules("pow2")
    corners, fast = (rules.start(rules.read_options(flags), 2, None) for flags in ((), ("fast",)))
    mixed = replace(fast, dark_fresh=corners.dark_fresh)
    assert engine_of(rules).evaluate(mixed)[0] > 0.5


def test_a_figure_with_little_room_is_worse():
    rules = latest_rules("goliath")
    at = rules.start(rules.read_options(()), 2, None)
    shut_in = replace(at, light=sum(1 << place for place in (1, 5)))
    assert engine_of(rules).evaluate(shut_in)[0] > engine_of(rules).evaluate(at)[0]


def test_positions_with_very_many_moves_have_a_move():
    """In goliath all stones can be picked up, and in jump a full board has countless chains."""
    rng = random.Random(4)
    goliath = latest_rules("goliath")
    at = goliath.start(goliath.read_options(()), 2, None)
    inside = [place for place in range(15, 55) if place not in (at.david, at.goliath)]
    stones = rng.sample(inside, 30)
    crowded = replace(
        at,
        light=sum(1 << place for place in stones[:15]),
        dark=sum(1 << place for place in stones[15:]),
    )
    jump = latest_rules("jump")
    start = jump.start(jump.read_options(()), 1, None)
    full = replace(start, stones=sum(1 << place for place in rng.sample(range(64), 32)))
    for rules, position in [(goliath, crowded), (jump, full)]:
        for level in LEVELS:
            text = choose_move(rules, position, level, b"")
            assert rules.write(rules.check(position, rules.read(text))) == text
