"""Reversi: rules, every sentence and ending, the drawing, the help, and a slow second opinion."""

import random
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.drawing import draw_text
from domain.engine.robot_move import choose_move
from domain.game.engine import RobotLevel
from domain.games.reversi import evaluate
from domain.games.reversi.rules import BLACK, GRID, NOBODY, WHITE, Ending, ReversiPosition
from domain.rules import latest_rules
from tests.games import playing
from tests.games.reversi import reference

RULES = latest_rules("reversi")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/reversi"
WIPED_OUT = "e6 f4 e3 f6 g5 d6 e7 f5 c5"
"""A shortest match: nine moves, and all discs are black."""
PASSED = "d3 c3 e6 d2 d1 e1 b2 c1"
"""After it Black can't move."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start():
    return RULES.start(RULES.read_options([]), 2, None)


def position(letters, turn):
    """Return a position by the letters of its squares."""
    discs = (
        sum(1 << GRID.index[name] for name, own in letters.items() if own == one) for one in "xo"
    )
    return ReversiPosition(*discs, turn)


def played(texts, at=None):
    return playing.play(RULES, at or start(), *texts.split())


@cache
def game(seed):
    return [at for at, _ in playing.random_game(RULES, start(), random.Random(seed))]


positions = st.builds(
    lambda seed, share: game(seed)[int(share * len(game(seed)))],
    st.integers(0, 50),
    st.floats(0, 1, exclude_max=True),
)


def test_black_begins_with_one_of_four_moves():
    assert RULES.to_move(start()) == BLACK
    assert board(start()) == {"d4": "o", "e4": "x", "d5": "x", "e5": "o"}
    assert legal(start()) == ["d3", "c4", "f5", "e6"]


def test_discs_are_turned_over_in_all_directions_at_once():
    around = dict.fromkeys(["c3", "d3", "e3", "c4", "e4", "c5", "d5", "e5"], "o")
    ends = dict.fromkeys(["b2", "d2", "f2", "b4", "f4", "b6", "d6", "f6"], "x")
    assert set(board(played("d4", position(around | ends, BLACK))).values()) == {"x"}


def test_a_line_with_a_gap_or_without_an_own_disc_at_its_end_turns_nothing_over():
    at = position({"b1": "o", "d1": "x", "a2": "o", "b2": "o", "c3": "x"}, BLACK)
    assert board(played("a1", at)) == board(at) | {"a1": "x", "b2": "x"}


def test_a_player_who_cannot_move_is_passed_by():
    at = played(PASSED)
    assert reference.legal(board(at), "x") == []
    assert RULES.to_move(at) == WHITE


def test_it_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "reversi is played by two, not by 3")
    assert RULES.write_options(options) == ()


# --- endings


@pytest.mark.parametrize(
    ("at", "winners", "reason", "detail"),
    [
        (played(WIPED_OUT), (BLACK,), Ending.MORE_DISCS, "Black has 13 discs, White has 0"),
        (
            position({"a1": "o", "b1": "o", "h8": "x"}, NOBODY),
            (WHITE,),
            Ending.MORE_DISCS,
            "White has 2 discs, Black has 1",
        ),
        (
            position({"a1": "o", "h8": "x"}, NOBODY),
            (BLACK, WHITE),
            Ending.EQUAL,
            "both players have 1 disc",
        ),
    ],
)
def test_more_discs_win_when_nobody_can_move(at, winners, reason, detail):
    outcome = playing.over(RULES, at)
    assert (outcome.winners, outcome.reason, outcome.detail) == (winners, reason, detail)


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "a1", "a1: a disc there would turn over none of White's"),
        (played("d3"), "h8", "h8: a disc there would turn over none of Black's"),
        (start(), "d4", "d4: a white disc is already there"),
        (start(), "e4", "e4: a black disc is already there"),
        (played(WIPED_OUT), "a1", "a1: the match is over: neither player can move"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == sentence


@pytest.mark.parametrize("text", ["", "d", "3d", "d9", "i1", "d03", "d3 c4", "d\u0663", "pass"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    assert said == f"{text!r} isn't a move; a move is written as one square, such as d3"


# --- against the slow reference


@pytest.mark.parametrize("seed", range(30))
def test_random_games_agree_with_the_reference(seed):
    letters, letter = reference.START, "x"
    for at, move in playing.random_game(RULES, start(), random.Random(seed)):
        assert board(at) == letters
        assert legal(at) == (reference.legal(letters, letter) if letter else [])
        assert RULES.to_move(at) == ("xo".index(letter) if letter else None)
        if move:
            letters = reference.play(letters, letter, move)
            letter = reference.next_letter(letters, letter)


@given(positions)
def test_exactly_the_legal_moves_are_accepted(at):
    assert playing.accepted(RULES, at, reference.EVERYWHERE) == legal(at)


# --- robots


@given(positions)
def test_shares_add_up_and_change_sides_with_the_colours(at):
    black, white = evaluate(at)
    assert black + white == pytest.approx(1)
    swapped = ReversiPosition(at.white, at.black, at.turn)
    assert evaluate(swapped) == pytest.approx((white, black))


def test_a_robot_beats_random_play():
    won = 0
    for seed in range(10):
        rng, at = random.Random(seed), start()
        while (seat := RULES.to_move(at)) is not None:
            if seat == seed % 2:
                text = choose_move(RULES, at, RobotLevel.EASY, bytes([seed]))
            else:
                text = RULES.write(rng.choice(RULES.moves(at)))
            at = played(text, at)
        won += RULES.outcome(at).winners == (seed % 2,)
    assert won >= 9


# --- the drawing and the help


def test_the_start_is_drawn_as_on_record():
    golden = (HERE / "start.txt").read_text().removesuffix("\n")
    assert draw_text(RULES, start(), "large") == golden


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, start(), "large") in text
    assert draw_text(RULES, played("d3"), "large") in text
    assert legal(start()) == ["d3", "c4", "f5", "e6"]
    assert legal(played("d3")) == ["c3", "e3", "c5"]
    assert all(move in text for move in ("c4", "f5", "e6", "c3", "e3", "c5"))
