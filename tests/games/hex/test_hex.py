"""Hex: rules, every sentence and ending, the drawing, the help, robots, and two second opinions."""

import random
from functools import partial
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.hex import candidates, choice, evaluate, stones_missing
from domain.rules import latest_rules
from tests.games import openspiel, playing
from tests.games.hex import reference

RULES = latest_rules("hex")
HERE = Path(__file__).parent
HELP = HERE.parents[2] / "domain/games/hex"
WON = "c3 b2 d2 c2 d1 b4 c4 b5 c5"
"""A whole match on five rows and columns, won by Black from d1 to c5."""

legal = partial(playing.legal, RULES)
board = partial(playing.board, RULES)


def start(*flags):
    return RULES.start(RULES.read_options(flags), 2, None)


def played(texts, *flags):
    return playing.play(RULES, start(*flags), *texts.split())


def test_it_is_played_by_two_without_a_setup():
    options = RULES.read_options(["-size=13", "-noswap"])
    playing.refuses_players_and_setup(RULES, options, 3, "hex is played by two, not by 3")
    assert RULES.write_options(options) == ("-noswap", "-size=13")
    assert RULES.write_options(RULES.read_options([])) == ()


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "swap", "swap: you can only swap in reply to the first move of the match"),
        (
            played("f6 swap"),
            "swap",
            "swap: you can only swap in reply to the first move of the match",
        ),
        (
            played("f6 a1"),
            "swap",
            "swap: you can only swap in reply to the first move of the match",
        ),
        (played("f6", "-noswap"), "swap", "swap: this match is played without swapping"),
        (start(), "l1", "l1: this board ends at k11"),
        (start("-size=4"), "a5", "a5: this board ends at d4"),
        (played("f6"), "f6", "f6: a black stone is already there"),
        (played("f6 swap"), "f6", "f6: a white stone is already there"),
        (played(WON, "-size=5"), "a1", "a1: the match is over: Black has connected both sides"),
    ],
)
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert playing.refused(RULES, at, text) == sentence


@pytest.mark.parametrize(
    "text", ["", "a", "6f", "a0", "a15", "o1", "a01", "a1-b2", "pass", "a\u0661"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    said = playing.unreadable(RULES, text)
    form = "a move is written as one place, such as f6; in reply to the first move, also swap"
    assert said == f"{text!r} isn't a move; {form}"


def test_places_are_read_in_any_case_and_with_blanks():
    assert RULES.write(RULES.read(" F 6 ")) == "f6"
    assert RULES.write(RULES.read(" SWAP")) == "swap"


# --- rules


def test_a_swapped_stone_is_mirrored_and_black_moves_again():
    at = played("c2 swap")
    assert board(at) == {"b3": "o"}
    assert RULES.to_move(at) == 0
    assert "swap" not in legal(at)


@pytest.mark.parametrize("seat", [0, 1])
def test_each_player_wins_by_the_own_sides_alone(seat):
    line = [
        f"{column}{2}" if seat else f"b{row}"
        for column, row in zip("abcd", range(1, 5), strict=True)
    ]
    others = [
        f"{column}{4}" if seat else f"d{row}"
        for column, row in zip("abcd", range(1, 5), strict=True)
    ]
    first, second = (others, line) if seat else (line, others)
    moves = [each for pair in zip(first, second, strict=True) for each in pair]
    at = playing.play(RULES, start("-size=4", "-noswap"), *moves[: 7 + seat])
    outcome = playing.over(RULES, at)
    assert outcome.winners == (seat,)
    assert outcome.reason == "connected"
    said = ("Black has connected top and bottom", "White has connected left and right")
    assert outcome.detail == said[seat]


@pytest.mark.parametrize("flags", [(), ("-size=5",), ("-size=14", "-noswap")])
def test_random_games_agree_with_the_reference(flags):
    for seed in range(8):
        at, letters, letter = start(*flags), {}, "x"
        size, swap = at.size, at.swap
        for at, move in playing.random_game(RULES, at, random.Random(seed)):  # noqa: B020 - from the first
            assert board(at) == letters
            won = reference.winner(letters, size)
            swaps = swap and letter == "o" and len(letters) == 1 and "x" in letters.values()
            assert legal(at) == ([] if won else reference.legal(letters, size, swap=swaps))
            assert (RULES.outcome(at) is None) == (won is None)
            if move == "swap":
                letters = reference.swapped(letters)
            elif move:
                letters = letters | {move: letter}
            letter = "xo"[letter == "x"]
        assert RULES.outcome(at).winners == ("xo".index(reference.winner(letters, size)),)


@pytest.mark.parametrize("size", [4, 11])
def test_games_are_those_of_openspiel(size):
    flags = (f"-size={size}", "-noswap")
    openspiel.plays_alike(
        RULES,
        flags,
        f"hex(board_size={size})",
        lambda state, action: state.action_to_string(state.current_player(), action),
    )


# --- robots and pages


def test_the_missing_stones_are_counted_through_the_opponents_gaps():
    at = played("c3 b2 d2 c2", "-size=5", "-noswap")
    black, white = at.stones
    assert stones_missing(5, black, white, 0) == 3
    assert stones_missing(5, white, black, 1) == 3
    assert evaluate(at)[0] > 0.5
    won = played(WON, "-size=5")
    assert stones_missing(5, *won.stones, 0) == 0


def test_a_robot_takes_over_a_first_move_in_the_middle_and_not_one_at_the_edge():
    assert [RULES.write(each) for each in candidates(played("f6"))] == ["swap"]
    assert "swap" not in [RULES.write(each) for each in candidates(played("a1"))]


def test_an_easy_robot_beats_random_play():
    assert playing.won_against_random_play(RULES, start("-size=7")) >= 19


def test_the_page_offers_to_swap_and_says_what_follows():
    words = choice(played("c2"), ("alice", "bob"))
    assert str(words.words["swap"].follows) == "the black stone is replaced by a white one at b3"
    assert choice(start(), ()) is None


# --- the drawing and the help


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_the_help_shows_and_says_is_so(language):
    text = (HELP / f"help{language}.txt").read_text(encoding="utf-8")
    for at in (start("-size=5"), played(WON, "-size=5")):
        assert draw_text(RULES, at, "large") in text
    assert board(played("c2 swap")) == {"b3": "o"}
    assert "c2" in text
    assert "b3" in text
