"""Reversi: rules, every sentence and ending, the drawing, the help, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.reversi import reference

RULES = latest_rules("reversi")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/reversi"
WIPED_OUT = "e6 f4 e3 f6 g5 d6 e7 f5 c5"
"""A shortest match: nine moves, and all discs are black."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start():
    return RULES.start(RULES.read_options([]), 2, None)


def played(texts, at=None):
    return playing.play(RULES, at or start(), *texts.split())


def test_it_is_played_by_two_without_options_or_a_setup():
    options = RULES.read_options([])
    playing.refuses_players_and_setup(RULES, options, 3, "reversi is played by two, not by 3")
    assert RULES.write_options(options) == ()


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


@pytest.mark.parametrize("seed", range(8))
def test_random_games_agree_with_the_reference(seed):
    letters, letter = reference.START, "x"
    for at, move in playing.random_game(RULES, start(), random.Random(seed)):
        assert board(at) == letters
        assert legal(at) == (reference.legal(letters, letter) if letter else [])
        assert RULES.to_move(at) == ("xo".index(letter) if letter else None)
        if move:
            letters = reference.play(letters, letter, move)
            letter = reference.next_letter(letters, letter)


def test_games_are_those_of_openspiel():
    def name_of(state, action):
        name = state.action_to_string(state.current_player(), action)
        return None if name == "pass" else name

    openspiel.plays_alike(RULES, (), "othello", name_of)


# --- the drawing and the help


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    assert draw_text(RULES, start(), "large") in text
    assert draw_text(RULES, played("d3"), "large") in text
    assert legal(start()) == ["d3", "c4", "f5", "e6"]
    assert legal(played("d3")) == ["c3", "e3", "c5"]
    assert all(move in text for move in ("c4", "f5", "e6", "c3", "e3", "c5"))
