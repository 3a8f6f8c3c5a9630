"""Turning points, and the lines that are better than what was played.

The evaluations of games: shares that add up, and the same for both sides.
"""

import random

from msgspec.structs import replace

from domain.engine.match_analysis import (
    MOST_LINE_CHARACTERS,
    MOST_LINE_MOVES,
    analyse_position,
)
from domain.engine.robot_move import choose_move
from domain.engine.turning_points import (
    CLEARLY_BETTER,
    TURNING_POINT,
    AnalysedPosition,
    turning_points,
    with_position,
)
from domain.game.engine import LEVELS
from domain.rules import latest_rules
from tests.engine.positions import random_positions

GOOD = ("b1", "c1")


def position(value, seat=0, move="a1", better=GOOD):
    """Return a position of two with the value of the first seat."""
    return AnalysedPosition((value, 1 - value), seat, move, better, "")


def analysis(*found):
    """Return positions as they are one after another, and a last one."""
    positions = ()
    for one in found:
        positions = with_position(positions, one)
    return positions


def test_a_turning_point_costs_more_than_a_move_that_is_clearly_worse():
    assert TURNING_POINT > CLEARLY_BETTER
    small = analysis(position(0.5), position(0.5 - TURNING_POINT + 0.001, move="", better=()))
    assert small[0].better == GOOD
    assert turning_points(small) == []
    large = analysis(position(0.5), position(0.5 - TURNING_POINT - 0.001, move="", better=()))
    assert [point.number for point in turning_points(large)] == [1]


def test_every_game_is_analysed_and_the_same_way_again():
    for rules, at in random_positions(random.Random(3)):
        move = rules.first_moves(at, 1)[0][0]
        found = analyse_position(rules, at, move, 300, b"seed")
        assert found == analyse_position(rules, at, move, 300, b"seed"), rules.key
        assert found.seat == rules.to_move(at)
        assert bool(found.score) == (rules.players == (1,)), rules.key
        assert 1 <= len(found.better) <= MOST_LINE_MOVES
        assert len(" ".join(found.better[1:])) <= MOST_LINE_CHARACTERS
        assert analyse_position(rules, at, "", 300, b"seed").better == ()


def wins(rules, at, move):
    outcome = rules.outcome(rules.play(at, move))
    return outcome is not None and outcome.winners == (rules.to_move(at),)


def missed_wins():
    """Yield positions of goliath with a winning move, and another after which the opponent wins at once."""
    for seed in range(20):
        for rules, at in random_positions(random.Random(seed), 120):
            moves = list(rules.moves(at)) if rules.key == "goliath" else []
            if not any(wins(rules, at, move) for move in moves):
                continue
            for move in moves:
                after = rules.play(at, move)
                if rules.outcome(after) is None and any(
                    wins(rules, after, reply) for reply in rules.moves(after)
                ):
                    yield rules, at, move
                    break


def test_a_win_that_was_missed_is_a_turning_point():
    found = list(missed_wins())
    assert found
    for rules, at, move in found:
        played = analyse_position(rules, at, rules.write(move), 8_000, b"before")
        after = analyse_position(rules, rules.play(at, move), "", 8_000, b"after")
        (point,) = turning_points(analysis(played, after))
        assert point.move == rules.write(move)
        assert point.better[0] != point.move
        rules.check(at, rules.read(point.better[0]))


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
