"""Turning points, and the lines that are better than what was played.

The evaluations of games: shares that add up, and the same for both sides.
"""

import random

import pytest
from msgspec.structs import replace

from domain.engine.match_analysis import (
    FEWEST_NODES,
    MOST_LINE_CHARACTERS,
    MOST_LINE_MOVES,
    NODES_OF_MATCH,
    NODES_OF_POSITION,
    analyse_position,
    nodes_of_position,
)
from domain.engine.model import MOST_MOVES, GameModel, engine_of
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


def test_a_line_stays_where_the_move_was_clearly_worse():
    kept = analysis(position(0.5), position(0.5 - CLEARLY_BETTER - 0.001, move="", better=()))
    assert kept[0].better == GOOD
    dropped = analysis(position(0.5), position(0.5 - CLEARLY_BETTER + 0.001, move="", better=()))
    assert dropped[0].better == ()


def test_a_line_that_begins_with_the_move_is_not_better():
    same = position(0.9, better=("a1", "c1"))
    assert analysis(same, position(0.1, move="", better=()))[0].better == ()


def test_the_value_is_that_of_the_mover():
    (point,) = turning_points(analysis(position(0.2, seat=1), position(0.6, move="", better=())))
    assert (point.number, point.seat, point.move, point.better) == (1, 1, "a1", GOOD)
    assert (point.before, point.after) == pytest.approx((0.8, 0.4))
    assert turning_points(analysis(position(0.2, seat=0), position(0.6))) == []


def test_a_turning_point_costs_more_than_a_move_that_is_clearly_worse():
    assert TURNING_POINT > CLEARLY_BETTER
    small = analysis(position(0.5), position(0.5 - TURNING_POINT + 0.001, move="", better=()))
    assert small[0].better == GOOD
    assert turning_points(small) == []
    large = analysis(position(0.5), position(0.5 - TURNING_POINT - 0.001, move="", better=()))
    assert [point.number for point in turning_points(large)] == [1]


def test_points_are_numbered_as_moves():
    found = analysis(
        position(0.5), position(0.5), position(0.5), position(0.2), position(0.8, seat=1)
    )
    assert [(one.number, one.seat) for one in turning_points(found)] == [(3, 0)]


def test_of_three_players_the_mover_alone_counts():
    before = AnalysedPosition((0.4, 0.3, 0.3), 2, "a1", GOOD, "")
    after = AnalysedPosition((0.1, 0.8, 0.1), 0, "", (), "")
    (point,) = turning_points(analysis(before, after))
    assert (point.seat, point.before, point.after) == (2, 0.3, 0.1)


def test_the_nodes_of_a_match_are_bounded():
    rules = latest_rules("pow2")
    assert nodes_of_position(rules, 1) <= NODES_OF_POSITION
    assert nodes_of_position(rules, 61) * 61 <= NODES_OF_MATCH
    assert 0 < nodes_of_position(rules, 2_001) <= FEWEST_NODES + NODES_OF_MATCH // 2_001


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
