"""The engine's moves are legal, its lines can be played, and the same arguments lead to the same result.

Alpha-beta finds the values of plain minimax, the shortest win, and the longest defence.

The engine maximises a puzzle's score, and ends the match where nothing better is found.
"""

import hashlib
import os
import random
import subprocess
import sys

import pytest
from msgspec.structs import replace

from domain.engine import match_analysis
from domain.engine.alpha_beta import AlphaBetaSearch
from domain.engine.model import GameModel, engine_of
from domain.engine.robot_move import choose_move, match_seed
from domain.engine.search import evaluate
from domain.engine.turning_points import (
    CLEARLY_BETTER,
    TURNING_POINT,
    AnalysedPosition,
    turning_points,
    with_position,
)
from domain.game.engine import LEVELS, RobotLevel
from domain.game.protocol import NoOptions
from domain.random_numbers import RandomNumbers
from domain.rules import latest_rules
from tests.engine.positions import random_positions


def is_canonical_and_legal(rules, at, text):
    return rules.write(rules.check(at, rules.read(text))) == text


@pytest.mark.parametrize("number", range(2))
def test_moves_of_robots_are_legal(number):
    rng = random.Random(number)
    for rules, at in random_positions(rng):
        text = choose_move(rules, at, RobotLevel.EASY, rng.randbytes(8))
        assert is_canonical_and_legal(rules, at, text), (rules.key, at)


def digest_of_choices():
    """Return a digest of what robots choose in many positions."""
    chosen = [
        choose_move(rules, at, RobotLevel.EASY, match_seed(number, rules.key, None, 7))
        for number in range(3)
        for rules, at in random_positions(random.Random(number))
    ]
    return hashlib.sha256(repr(chosen).encode()).hexdigest()


def test_another_process_chooses_the_same_moves():
    program = "from tests.engine.test_search import digest_of_choices; print(digest_of_choices())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest_of_choices()


@pytest.mark.parametrize(
    ("key", "flags"),
    [
        ("amazons", "-size=6"),
        ("breakthrough", ""),
        ("connectfour", ""),
        ("go", "-size=5 -komi=0"),
        ("hex", "-size=7"),
        ("loa", ""),
        ("oware", ""),
    ],
)
def test_an_easy_robot_beats_random_play(key, flags):
    """It plays each seat in turn."""
    rules, won = latest_rules(key), 0
    for seed in range(10):
        at, chosen, robot = (
            rules.start(rules.read_options(flags.split()), 2, None),
            random.Random(seed),
            seed % 2,
        )
        while rules.outcome(at) is None:
            move = chosen.choice(rules.moves(at))
            if rules.to_move(at) == robot:
                move = rules.read(choose_move(rules, at, RobotLevel.EASY, bytes([seed] * 32)))
            at = rules.play(at, move)
        won += rules.outcome(at).winners == (robot,)
    assert won >= 9


def test_nobody_chooses_after_the_end():
    rules, rng = latest_rules("torere"), random.Random(1)
    over = rules.start(NoOptions(), 2, None)
    while rules.to_move(over) is not None:
        over = rules.play(over, rng.choice(rules.moves(over)))
    with pytest.raises(ValueError, match="nobody is to move"):
        choose_move(rules, over, RobotLevel.HARD, b"")
    found = evaluate(rules, over, 100, b"")
    assert sorted(found.values) == [0, 1]
    assert (found.line, found.nodes) == ((), 0)


def test_lower_levels_slip_as_often_as_their_game_says():
    rules = latest_rules("line")
    at = rules.start(rules.read_options([]), 2, None)
    slips = engine_of(rules).slips
    assert slips.medium > slips.easy == slips.of(RobotLevel.HARD) == 0
    for level in (RobotLevel.EASY, RobotLevel.MEDIUM):
        budget = engine_of(rules).budgets.of(level)
        seeds = [bytes([number]) for number in range(100)]
        slipped = sum(
            choose_move(rules, at, level, seed) != evaluate(rules, at, budget, seed).line[0]
            for seed in seeds
        )
        assert slips.of(level) / 2 <= slipped <= slips.of(level) * 1.5


def test_the_seed_of_a_match_depends_on_each_of_its_terms():
    terms = (12, "halves/1", {"tiles": [1, 2]}, 7)
    others = [(13, *terms[1:]), (12, "line/1", *terms[2:]), (*terms[:2], None, 7), (*terms[:3], 8)]
    seeds = {match_seed(*terms), *(match_seed(*other) for other in others)}
    assert len(seeds) == 5
    assert match_seed(*terms) == match_seed(*terms)


def minimax(rules, at, known):
    """Return the first seat's share of the win if both play their best to the end."""
    if at not in known:
        seat = rules.to_move(at)
        if seat is None:
            winners = rules.outcome(at).winners
            known[at] = (0 in winners) / len(winners)
        else:
            values = [minimax(rules, rules.play(at, move), known) for move in rules.moves(at)]
            known[at] = min(values) if seat else max(values)
    return known[at]


def late_positions(key, number, plies):
    """Yield positions a few plies before the end of random matches."""
    rules, rng = latest_rules(key), random.Random(number)
    for _ in range(number):
        at, before = rules.start(rules.read_options(()), 2, None), []
        while rules.to_move(at) is not None:
            before.append(at)
            at = rules.play(at, rng.choice(rules.moves(at)))
        yield rules, before[-min(plies, len(before))]


def searched(rules, at, nodes, seed=b"seed"):
    model = GameModel(rules, at)
    search = AlphaBetaSearch(model, at, RandomNumbers(seed))
    search.run(nodes)
    return search, model


def test_the_values_are_those_of_minimax():
    """Line passes players who can't place, so seats don't always alternate here."""
    seen = set()
    for rules, at in late_positions("line", 20, 6):
        search, _ = searched(rules, at, 10**6)
        value = minimax(rules, at, {})
        assert search.values == (value, 1 - value)
        seen.add((rules.to_move(at), value))
    assert len(seen) > 2


@pytest.mark.parametrize("key", ["pow2", "goliath", "torere"])
def test_a_win_in_one_is_played(key):
    for rules, at in late_positions(key, 10, 1):
        search, _ = searched(rules, at, 30_000)
        line = search.best_line()
        after = rules.play(at, line[0])
        if rules.to_move(after) is None:
            winner = rules.outcome(after).winners
            assert search.values[winner[0]] == 1
        else:
            moves = [rules.play(at, move) for move in rules.moves(at)]
            seat = rules.to_move(at)
            assert not any(
                rules.to_move(one) is None and rules.outcome(one).winners == (seat,)
                for one in moves
            )


GOOD = {"one": -34, "two": -30, "duo": -38, "jump": -30}
"""The first part of the rank that 6,000 nodes reach from the start, smaller is better."""


def played(rules, at, line):
    for text in line:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


@pytest.mark.parametrize("key", GOOD)
def test_the_line_leads_to_a_good_score(key):
    rules = latest_rules(key)
    at = rules.start(rules.read_options(()), 1, None)
    found = evaluate(rules, at, 6_000, b"seed")
    assert rules.score(played(rules, at, found.line)).rank[0] <= GOOD[key]
    assert 0.7 < found.values[0] <= 1


# --- turning points, and the lines that are better than what was played


GOOD_VALUE = ("b1", "c1")


def position(value, seat=0, move="a1", better=GOOD_VALUE):
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
    assert small[0].better == GOOD_VALUE
    assert turning_points(small) == []
    large = analysis(position(0.5), position(0.5 - TURNING_POINT - 0.001, move="", better=()))
    assert [point.number for point in turning_points(large)] == [1]


def test_every_game_is_analysed_and_the_same_way_again():
    for rules, at in random_positions(random.Random(3)):
        move = rules.first_moves(at, 1)[0][0]
        found = match_analysis.analyse_position(rules, at, move, 300, b"seed")
        assert found == match_analysis.analyse_position(rules, at, move, 300, b"seed"), rules.key
        assert found.seat == rules.to_move(at)
        assert bool(found.score) == (rules.players == (1,)), rules.key
        assert 1 <= len(found.better) <= match_analysis.MOST_LINE_MOVES
        assert len(" ".join(found.better[1:])) <= match_analysis.MOST_LINE_CHARACTERS
        assert match_analysis.analyse_position(rules, at, "", 300, b"seed").better == ()


def wins(rules, at, move):
    outcome = rules.outcome(rules.play(at, move))
    return outcome is not None and outcome.winners == (rules.to_move(at),)


def missed_wins():
    """Yield positions of goliath with a winning move, and another after which the opponent wins at once."""
    for seed in range(10):
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
        played = match_analysis.analyse_position(rules, at, rules.write(move), 8_000, b"before")
        after = match_analysis.analyse_position(rules, rules.play(at, move), "", 8_000, b"after")
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
