"""Oware: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import msgspec
import pytest

from domain.drawing import draw_svg, draw_text
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.oware import evaluate
from domain.games.oware.rules import LONGEST, NOBODY, START, OwarePosition
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.oware import reference

RULES = latest_rules("oware")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/oware"

legal = partial(playing.legal, RULES)


def position(row1, row2, turn=0, captured=(0, 0)):
    """Return a position from both rows as they are drawn, from left to right."""
    seeds = [*row1, *reversed(row2)]
    return OwarePosition(bytes(seeds), *captured, turn)


def rows(at):
    """Return both rows as they are drawn."""
    return [*at.seeds[:6]], [*reversed(at.seeds[6:])]


def play(at, texts):
    return playing.play(RULES, at, *texts.split())


HUNGRY = position([0, 1, 0, 0, 0, 2], [0] * 6, captured=(20, 23))
"""North has no seeds: only f1 reaches the upper row."""
BIG = position([13, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0])
SLAM = position([1, 0, 0, 0, 0, 2], [0, 0, 0, 0, 1, 1])
END = OwarePosition(bytes(12), 30, 18, NOBODY, (), "starved")


def test_it_is_played_by_two_without_options_and_setup():
    playing.refuses_players_and_setup(
        RULES, RULES.read_options([]), 3, "oware is played by two, not by 3"
    )


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (START, "a2", "a2: that house is North's"),
        (play(START, "c1"), "d1", "d1: that house is South's"),
        (play(START, "c1 f2"), "c1", "c1: that house is empty"),
        (HUNGRY, "b1", "b1: North has no seeds, and none would reach North's row from there"),
        (END, "a1", "a1: the match is over: South has 30 seeds, North has 18"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == sentence


@pytest.mark.parametrize("text", ["", "a", "a3", "a0", "g1", "1a", "a1-b1", "a11", "a\u0661"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    assert said == f"{text!r} isn't a move; a move is written as one house, such as c1"


def test_houses_are_read_in_any_case_and_with_blanks():
    assert RULES.write(RULES.read(" C 1 ")) == "c1"


# --- rules


def test_seeds_are_sown_to_the_right_below_and_to_the_left_above():
    at = play(START, "d1")
    assert rows(at) == ([4, 4, 4, 0, 5, 5], [4, 4, 4, 4, 5, 5])
    at = play(at, "b2")
    assert rows(at) == ([5, 5, 5, 0, 5, 5], [5, 0, 4, 4, 5, 5])


def test_the_house_sown_from_stays_empty_in_a_second_lap():
    assert rows(play(BIG, "a1")) == ([0, 2, 2, 1, 1, 1], [2, 2, 1, 1, 1, 1])


def test_twos_and_threes_are_captured_backwards_as_far_as_they_go():
    at = play(position([0, 0, 0, 0, 0, 4], [5, 0, 2, 1, 4, 2]), "f1")
    assert rows(at) == ([0] * 6, [5, 0, 0, 0, 5, 3])
    assert at.south == 5
    at = play(position([0, 0, 0, 2, 1, 1], [0, 0, 0, 0, 1, 4]), "d1")
    assert (at.south, rows(at)) == (0, ([0, 0, 0, 0, 2, 2], [0, 0, 0, 0, 1, 4]))  # in the own row


def test_captures_end_at_the_edge_of_the_opponents_row():
    at = play(position([0, 0, 0, 0, 1, 3], [3, 0, 0, 1, 1, 1]), "f1")
    assert (at.south, rows(at)) == (6, ([0, 0, 0, 0, 1, 0], [3, 0, 0, 0, 0, 0]))


def test_nothing_is_captured_where_it_would_be_all_the_opponent_has():
    at = play(SLAM, "f1")
    assert (at.south, rows(at)) == (0, ([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 2, 2]))
    spared = play(position([1, 0, 0, 0, 0, 2], [1, 0, 0, 0, 1, 1]), "f1")
    assert spared.south == 4


def test_a_player_has_to_feed_an_opponent_without_seeds():
    assert legal(HUNGRY) == ["f1"]
    assert legal(position([6, 1, 4, 0, 2, 0], [0] * 6)) == ["a1", "c1", "e1"]


# --- endings


def test_25_seeds_win_and_the_others_stay_on_the_board():
    at = play(position([0, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], captured=(23, 19)), "f1")
    outcome = playing.over(RULES, at)
    assert (outcome.winners, outcome.reason) == ((0,), "majority")
    assert outcome.detail == "South has captured 25 seeds, more than half of them"
    assert rows(at)[1][0] == 4


def test_24_seeds_are_not_enough():
    at = play(position([1, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], captured=(22, 19)), "f1")
    assert at.south == 24
    assert RULES.outcome(at) is None


def test_who_cannot_feed_takes_the_seeds_left():
    at = play(position([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 1, (22, 24)), "a2")
    outcome = playing.over(RULES, at)
    assert (outcome.winners, outcome.reason) == ((0, 1), "starved")
    assert (
        outcome.detail == "no seed can reach the empty row: South ends with 24 seeds, North with 24"
    )
    assert not any(at.seeds)


def test_a_position_that_comes_up_again_ends_the_match():
    at = position([0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], captured=(24, 22))
    way = "f1 a2 a1 f2 b1 e2 c1 d2 d1 c2 e1 b2"
    texts = way.split()
    for text in texts[:-1]:
        at = play(at, text)
        assert RULES.outcome(at) is None, text
    at = play(at, texts[-1])
    outcome = playing.over(RULES, at)
    assert (outcome.winners, outcome.reason) == ((0,), "repeated")
    assert outcome.detail == "the position came up again: South ends with 25 seeds, North with 23"


def test_200_moves_without_a_capture_end_the_match():
    quiet = tuple(range(LONGEST - 1))
    at = msgspec.structs.replace(START, earlier=quiet)
    outcome = playing.over(RULES, play(at, "a1"))
    assert (outcome.winners, outcome.reason) == ((0, 1), "no-capture")
    said = "200 moves in a row captured nothing: South ends with 24 seeds, North with 24"
    assert outcome.detail == said
    assert RULES.outcome(play(msgspec.structs.replace(START, earlier=quiet[1:]), "a1")) is None


def test_no_position_equals_an_earlier_one_so_no_draw_by_repetition_can_be_claimed():
    for seed in range(5):
        seen = [at for at, _ in playing.random_game(RULES, START, random.Random(seed))]
        assert len(set(seen)) == len(seen)


# --- second opinions


def test_random_games_agree_with_the_reference():
    reasons = set()
    for seed in range(60):
        match = reference.Match()
        for at, move in playing.random_game(RULES, START, random.Random(seed)):
            shown = RULES.to_json(at)
            assert shown == {"board": match.board, "captured": [*match.scores.values()]}
            assert legal(at) == match.legal()
            assert len(msgspec.msgpack.encode(at)) < 2_000
            if move:
                match.play(move)
        assert RULES.outcome(at).reason == match.over
        reasons.add(match.over)
    assert {"majority", "starved"} <= reasons


def test_games_are_those_of_openspiel():
    def house(state, action):
        return reference.ORDER[6 * state.current_player() + action]

    openspiel.plays_alike(RULES, (), "oware", house)


# --- robots


def test_the_evaluation_counts_what_was_captured_and_what_can_be():
    level = position([4] * 6, [4] * 6)
    assert evaluate(level) == (0.5, 0.5)
    assert evaluate(position([4] * 6, [4] * 6, captured=(3, 0)))[0] > 0.55
    assert evaluate(position([2, 4, 4, 4, 4, 4], [4] * 6))[0] < 0.5


def test_an_easy_robot_beats_random_play():
    won = 0
    for seed in range(20):
        at, chosen, robot = START, random.Random(seed), seed % 2
        while RULES.outcome(at) is None:
            if RULES.to_move(at) == robot:
                move = RULES.read(choose_move(RULES, at, RobotLevel.EASY, bytes([seed] * 32)))
            else:
                move = chosen.choice(RULES.moves(at))
            at = RULES.play(at, move)
        won += RULES.outcome(at).winners == (robot,)
    assert won >= 19


# --- the drawing and the help


def test_the_houses_that_a_move_has_emptied_are_marked():
    before = position([0, 0, 0, 0, 0, 4], [5, 0, 2, 1, 4, 2])
    drawn = draw_svg(RULES, play(before, "f1"), (), last="f1", before=before)
    marked = {each.split('"')[0] for each in drawn.split('class="place last" data-place="')[1:]}
    assert marked == {"f1", "c2", "d2"}


def test_a_turned_board_has_the_upper_row_below():
    drawn = draw_svg(RULES, START, (), turned=True)
    below = drawn.index('data-place="a2" transform="translate(')
    assert float(drawn[below:].split("translate(")[1].split(" ")[1].split(")")[0]) > 125


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    before = position([1, 0, 3, 2, 0, 4], [5, 0, 2, 1, 4, 2], captured=(10, 14))
    after = play(before, "f1")
    for at in (START, before, after):
        assert draw_text(RULES, at, "large") in text
    assert after.south - before.south == 5
