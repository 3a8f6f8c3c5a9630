"""Four in a Row: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_svg, draw_text
from domain.games.connectfour import candidates, evaluate, gaps
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.connectfour import reference

RULES = latest_rules("connectfour")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/connectfour"
WON = "a1 b1 b2 c1 d1 c2 c3 d2 d3 g1 d4"
"""A whole match, won by Black from a1 to d4."""
FULL = "a b a b a b b a b a b a c d c d c d d c d c d c f e f e f e e f e f e f g g g g g g"
"""A match without four in a row."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start():
    return RULES.start(RULES.read_options([]), 2, None)


def played(texts):
    return playing.play(RULES, start(), *texts.split())


def test_it_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "connectfour is played by two, not by 3")
    assert RULES.write_options(options) == ()


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "d2", "a disc in this column lands on d1"),
        (played("d1"), "d1", "a disc in this column lands on d2"),
        (played("d d d d d d"), "d", "column d is full"),
        (played("d d d d d d"), "d6", "column d is full"),
        (played(WON), "a2", "the match is over"),
        (played(WON), "a", "the match is over"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == f"{text}: {sentence}"


@pytest.mark.parametrize("text", ["", "h", "4", "d0", "d7", "h1", "dd", "d01", "d1-d2", "\u212a"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    form = "a move is written as one square, such as d1, or as a column, such as d"
    assert playing.unreadable(RULES, text) == f"{text!r} isn't a move; {form}"


def test_a_column_alone_means_the_square_where_the_disc_lands():
    first, then = start(), played("d1")
    for at, square in ((first, "d1"), (then, "d2")):
        assert RULES.check(at, RULES.read(" D ")) == RULES.read(square)
    assert not RULES.has_one_spelling
    assert all(RULES.write(RULES.read(letter)) == letter for letter in "abcdefg")


# --- rules


def test_discs_fall_to_the_lowest_empty_square():
    at = played("d d e")
    assert board(at) == {"d1": "x", "d2": "o", "e1": "x"}
    assert legal(at) == ["a1", "b1", "c1", "d3", "e2", "f1", "g1"]
    assert "d6" in legal(played("d d d d d"))
    assert not any(move[0] == "d" for move in legal(played("d d d d d d")))


@pytest.mark.parametrize(
    ("texts", "winner", "detail"),
    [
        (WON, 0, "Black has four in a row from a1 to d4"),
        ("g f f e d e e d d c d", 0, "Black has four in a row from d4 to g1"),
        ("a b a b a b a", 0, "Black has four in a row from a1 to a4"),
        ("a b a b a b c b", 1, "White has four in a row from b1 to b4"),
        ("a a b b d d e e c", 0, "Black has four in a row from a1 to d1"),
    ],
)
def test_four_in_a_row_win_in_each_direction_and_so_do_five(texts, winner, detail):
    outcome = playing.over(RULES, played(texts))
    assert (outcome.winners, outcome.reason, outcome.detail) == ((winner,), "four", detail)


def test_no_line_goes_around_the_edge():
    at = played("b a c a g a a d a e a")
    assert [board(at)[name] for name in ("a4", "a5", "a6", "b1")] == ["x"] * 4
    assert RULES.outcome(at) is None


def test_a_full_board_without_a_line_is_a_draw():
    outcome = playing.over(RULES, played(FULL))
    assert (outcome.winners, outcome.reason) == ((0, 1), "full")
    assert outcome.detail == "the board is full, and nobody has four in a row"


# --- against the slow reference and OpenSpiel


def test_random_games_agree_with_the_reference():
    for seed in range(50):
        columns, letter = reference.START, "x"
        for at, move in playing.random_game(RULES, start(), random.Random(seed)):
            assert board(at) == reference.letters(columns)
            won, moves = reference.winner(columns), reference.legal(columns)
            assert legal(at) == ([] if won else moves)
            assert (move is None) == bool(won or not moves)
            if move:
                columns, letter = reference.play(columns, move, letter), "xo"[letter == "x"]
            elif won:
                assert RULES.outcome(at).winners == ("xo".index(won),)


def test_games_are_those_of_openspiel():
    def name_of(state, action):
        column = int(state.action_to_string(state.current_player(), action)[1:])
        discs = [row[column] for row in str(state).split() if row[column] != "."]
        return f"{'abcdefg'[column]}{len(discs) + 1}"

    openspiel.plays_alike(RULES, (), "connect_four", name_of)


# --- robots


def test_the_gaps_are_the_empty_squares_that_complete_four():
    at = played("d d c c e")
    found = gaps(*at.discs[::-1])
    assert [RULES.write(place) for place in range(48) if found >> place & 1] == ["b1", "f1"]
    assert gaps(*at.discs) == 0
    assert evaluate(at)[0] > 0.5


def test_a_robot_wins_or_prevents_four_and_does_not_make_it_possible():
    assert [RULES.write(move) for move in candidates(played("a g a g a g"))] == ["a4"]
    assert [RULES.write(move) for move in candidates(played("a g a g a"))] == ["a4"]
    at = played("c b b d d g c")  # discs on a1 and e1 would let Black complete four
    assert [RULES.write(move) for move in candidates(at)] == ["d3", "c3", "b3", "f1", "g2"]


def test_an_easy_robot_beats_random_play():
    assert playing.won_against_random_play(RULES, start()) >= 19


# --- the drawing and the help


def test_the_board_stands_upright_for_both_players():
    at = played("d d e")
    assert draw_svg(RULES, at, (), plates=False, turned=True) == draw_svg(
        RULES, at, (), plates=False
    )


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, start(), "large") in text
    assert draw_text(RULES, played(WON), "large") in text
    assert all(board(played(WON))[name] == "x" for name in ("a1", "b2", "c3", "d4"))
