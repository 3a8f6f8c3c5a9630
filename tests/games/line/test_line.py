"""That's My Line: its moves, options, passes, endings and sentences.

That's My Line against a slow second opinion, and its positions as values.
"""

import pytest

from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.line import reference
from tests.games.line.given import (
    OPTION_SETS,
    RULES,
    legal,
    options,
    play,
    position,
    random_game,
    refused,
    start,
)

FORM = "a move is written as one intersection, such as c3"
LIGHT, DARK = 0, 1


# --- start and moves


def test_line_is_played_by_two_without_a_setup():
    sentence = "line is played by two, not by 3"
    playing.refuses_players_and_setup(RULES, options(), 3, sentence)


# --- options


@pytest.mark.parametrize("flags", [["-stones"], ["-stones=65"], ["-stones=08"], ["-stones=-1"]])
def test_a_number_of_stones_out_of_range_is_refused(flags):
    with pytest.raises(Refusal, match="with N from 0 to 64") as refusal:
        RULES.read_options(flags)
    assert refusal.value.code is Code.BAD_OPTION


# --- refusals and notation


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (play(start(), "c3"), "c3", "c3: a light stone is already there"),
        (position("c3", "g9", LIGHT), "g9", "g9: a dark stone is already there"),
        (play(start(), "a1"), "c3", "c3: Light's stone at a1 stands on a line through it"),
        (position("a1", "h8", LIGHT), "m13", "m13: Dark's stone at h8 stands on a line through it"),
        (position("a1 c3", "g9", DARK), "f6", "f6: Light's stones at a1 and c3 stand on lines through it"),
        (position("a1 a5 c3", "g9 h8", DARK), "e5", "e5: Light's stones at a1, a5 and c3 stand on lines through it"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


@pytest.mark.parametrize(
    "text", ["", "c", "c03", "c4", "n1", "c3-d4", "c3,", "-c3", "c3:d4", "\u212a6", "c\u0663"]
)
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text!r} isn't an intersection; {FORM}"


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_passes_and_ends_agree_with_the_reference(flags):
    for seed in range(6):
        told = reference.Game(options(*flags).stones)
        for at, text in random_game(flags, seed):
            assert legal(at) == told.legal
            assert RULES.to_json(at)["board"] == told.board
            turn = RULES.to_move(at)
            assert told.turn == (None if turn is None else "ox"[turn])
            if text is None:
                assert RULES.outcome(at).winners == ("ox".index(told.winner),)
            else:
                told.place(text)
