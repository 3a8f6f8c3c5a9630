"""Breakthrough: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.breakthrough import evaluate
from domain.games.breakthrough.rules import GRID, BreakthroughPosition
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.breakthrough import reference

RULES = latest_rules("breakthrough")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/breakthrough"
MET = "d2-d3 d7-d6 d3-d4 d6-d5 a2-a3 e7-e6 a3-a4 e6-e5"
"""White's d4 has a black piece in front of it, and another diagonally."""
WON = "c2-c3 a4-a3 c3-b4 e4-e3 b4-a5"
"""A whole match on five rows and columns, won by White at a5."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start(*flags):
    return RULES.start(RULES.read_options(flags), 2, None)


def played(texts, *flags):
    return playing.play(RULES, start(*flags), *texts.split())


def set_up(white, black, turn):
    """Return a position of eight rows with pieces on these squares."""
    sets = [sum(1 << GRID.index[name] for name in names.split()) for names in (white, black)]
    return BreakthroughPosition(8, *sets, turn)


def test_it_is_played_by_two_without_a_setup():
    options = RULES.read_options(["-size=5"])
    playing.refuses_players_and_setup(RULES, options, 3, "breakthrough is played by two, not by 3")
    assert RULES.write_options(options) == ("-size=5",)
    assert RULES.write_options(RULES.read_options(["-size=8"])) == ()


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "a3-a4", "there is no white piece on a3"),
        (start(), "a7-a6", "there is no white piece on a7"),
        (played("a2-a3"), "a3-a4", "there is no black piece on a3"),
        (start(), "a1-a2", "a piece of your own is already on a2"),
        (start(), "a2-a4", "a piece moves one square forward, straight or diagonally"),
        (start(), "a2-a2", "a piece moves one square forward, straight or diagonally"),
        (start(), "a2-h3", "a piece moves one square forward, straight or diagonally"),
        (
            played("a2-a3 a7-a6"),
            "a3-a2",
            "a piece moves one square forward, straight or diagonally",
        ),
        (played(MET), "d4-d5", "a piece can only capture diagonally, and d5 is straight ahead"),
        (start("-size=5"), "a6-a5", "there is no white piece on a6"),
        (start("-size=5"), "e2-f3", "this board ends at e5"),
        (played(WON, "-size=5"), "b5-b4", "the match is over: White has won"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == f"{text}: {sentence}"


@pytest.mark.parametrize("text", ["", "a2", "a2a3", "a2xb3", "a2-a3-a4", "i2-i3", "a0-a1", "a8-a9"])
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    assert said == f"{text!r} isn't a move; a move is written from-to, such as a2-a3"


# --- rules


def test_a_piece_captures_diagonally_alone():
    at = played(MET)
    assert [move for move in legal(at) if move.startswith("d4")] == ["d4-c5", "d4-e5"]
    assert board(played(f"{MET} d4-e5"))["e5"] == "o"
    assert [*board(played(f"{MET} d4-e5")).values()].count("x") == 15


def test_no_piece_moves_around_the_edge():
    at = set_up("a4 h4", "c8", 0)
    assert legal(at) == ["a4-a5", "a4-b5", "h4-g5", "h4-h5"]
    assert legal(set_up("c1", "a4 h4", 1)) == ["a4-a3", "a4-b3", "h4-g3", "h4-h3"]


def test_the_first_on_the_farthest_row_wins():
    outcome = playing.over(RULES, played(WON, "-size=5"))
    assert (outcome.winners, outcome.reason) == ((0,), "broke-through")
    assert outcome.detail == "White has broken through at a5"
    black = playing.over(RULES, playing.play(RULES, set_up("a1 h1", "a2 c2", 1), "c2-d1"))
    assert (black.winners, black.detail) == ((1,), "Black has broken through at d1")


@pytest.mark.parametrize("seat", [0, 1])
def test_who_captures_the_last_piece_wins(seat):
    at = playing.play(RULES, set_up("c4", "d5", seat), ("c4-d5", "d5-c4")[seat])
    outcome = playing.over(RULES, at)
    assert (outcome.winners, outcome.reason) == ((seat,), "no-pieces")
    said = ("White has captured all of Black's pieces", "Black has captured all of White's pieces")
    assert outcome.detail == said[seat]


# --- against the slow reference and OpenSpiel


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_random_games_agree_with_the_reference(size):
    for seed in range(8):
        letters, letter = reference.start(size), "o"
        first = start(f"-size={size}")
        for at, move in playing.random_game(RULES, first, random.Random(seed)):
            assert board(at) == letters
            won = reference.winner(letters, size)
            assert sorted(legal(at)) == ([] if won else reference.legal(letters, size, letter))
            assert won == (None if move else "ox"[RULES.outcome(at).winners[0]])
            if move:
                letters, letter = reference.play(letters, move), "ox"[letter == "o"]


@pytest.mark.parametrize("size", [6, 8])
def test_games_are_those_of_openspiel_with_black_below(size):
    def name_of(state, action):
        text = state.action_to_string(state.current_player(), action)
        begin, end = (f"{name[0]}{size + 1 - int(name[1])}" for name in (text[:2], text[2:4]))
        return f"{begin}-{end}"

    openspiel.plays_alike(
        RULES, (f"-size={size}",), f"breakthrough(rows={size},columns={size})", name_of
    )


# --- robots


def test_pieces_count_and_those_that_hang_count_less():
    assert evaluate(start()) == (0.5, 0.5)
    captured = played(f"{MET} d4-e5")
    assert evaluate(captured)[0] > 0.52
    guarded, hanging = (set_up(white, "e5 e6", 0) for white in ("d4 c3 h1", "d4 c1 h3"))
    assert evaluate(guarded)[0] > evaluate(hanging)[0]


def test_an_easy_robot_beats_random_play():
    assert playing.won_against_random_play(RULES, start()) >= 19


# --- the drawing and the help


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, start(), "large") in text
    assert draw_text(RULES, played(MET), "large") in text
    assert all(place in text for place in ("c5", "d5", "e5"))
