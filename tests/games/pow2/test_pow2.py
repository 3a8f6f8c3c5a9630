"""The Power of Two: the source's examples, every option and ending.

The Power of Two: every sentence of a refusal, of moves and of notation.

What is read of a move's text, whatever the text; `trials/fuzz/notations.py` has the millions.
"""

import pytest

from tests.games import playing
from tests.games.pow2 import reference
from tests.games.pow2.boards import FIGURE_3, pieces
from tests.games.pow2.given import (
    DARK,
    LIGHT,
    OPTION_SETS,
    RULES,
    board,
    legal,
    play,
    position,
    random_game,
    refused,
    start,
)

# --- the examples of the source


def test_no_piece_can_be_placed_where_ageing_will_make_room():
    at = position(pieces(O="a1 m1", o="b4", X="m13"), LIGHT)
    assert refused(at, "a1-a5:b4") == "a1-a5: b4 is occupied by a light piece"


# --- starts and options


FIFTEEN = pieces(O="e7 g1 g5 g9 g13 i1 i5 i9 i13 m1 m5 m9 m13 k8 k6", X="c5 a9")


def test_exact_bars_moves_that_lack_pieces_to_place():
    at = position(FIFTEEN, LIGHT, "-exact")
    sentence = "e7-a7: 2 pieces would have to be placed, with 1 left (-exact)"
    assert refused(at, "e7-a7:a5") == sentence
    assert not any(text.startswith("e7-a7") for text in legal(at))


# --- the placing phase of -free


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a1", "a1: a1 is occupied by a light piece"),
        ("c3", "c3: c3 is adjacent to a1; no piece is placed next to another (-free)"),
        (
            "a1-a5",
            "a1-a5: first each player places four pieces (-free); name one intersection, such as c3",
        ),
    ],
)
def test_placing_is_refused_by_sentence(text, sentence):
    assert refused(play(start("-free"), "a1"), text) == sentence


# --- endings


FORM = "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4"


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "c3",
         f"c3: single pieces are placed only before the first turn of -free; {FORM}"),
        (start(), "c3-d4", "c3-d4: there is no piece at c3"),
        (start(), "a1-a5", "a1-a5: the piece at a1 is Dark's, and it is Light's turn"),
        (start(), "m1-m1", "m1-m1: the piece at m1 has to move"),
        (start(), "m1-c5", "m1-c5: no line connects m1 and c5"),
        (position(pieces(O="m7", X="a1"), LIGHT), "m7-a7", "m7-a7: no line connects m7 and a7"),
        (position(pieces(O="m1", X="m9 m7"), LIGHT), "m1-m13",
         "m1-m13: a dark piece at m7 is in the way"),
        (position(pieces(O="m13", x="m9 m7"), LIGHT), "m13-m5",
         "m13-m5: a dark piece at m9 is in the way"),
        (start(), "m1-a1", "m1-a1: a1 is occupied by a dark piece"),
        (start(), "m1-m13", "m1-m13: m13 is occupied by a light piece"),
        (start(), "m13-j7:j4", "m13-j7: j7 has no occupied neighbour, so nothing is placed"),
        (start(), "m13-m5",
         "m13-m5: 1 piece has to be placed for m1, and none is named; for example m13-m5:l4"),
        (start(), "m13-m5:l4,k3", "m13-m5: k3 forms no triangle with m5 and m1"),
        (position(FIGURE_3, DARK), "a1-e1:d2,g1",
         "a1-e1: 1 piece has to be placed for e3, and 2 are named; for example a1-e1:d2"),
        (position(FIGURE_3, DARK), "a1-e1:a1", "a1-e1: a1 forms no triangle with e1 and e3"),
        (position(FIGURE_3, DARK), "a1-d4:b4",
         "a1-d4: 2 pieces have to be placed for c5 and e3, and 1 is named; for example a1-d4:b4,d2"),
        (position(FIGURE_3, DARK), "a1-d4:c5,e5", "a1-d4: c5 is occupied by a dark piece"),
        (position(FIGURE_3, DARK), "a1-d4:d4,e5",
         "a1-d4: d4 is taken by the piece that moves there"),
        (position(FIGURE_3, DARK), "a1-d4:b4,g1",
         "a1-d4: g1 forms no triangle with d4 and c5 or e3"),
        (position(pieces(O="e7", X="c5 a9"), LIGHT), "e7-a7:a5,c6",
         "e7-a7: a5 and c6 don't give a9 and c5 an intersection each; for example e7-a7:a5,c9"),
        (position(pieces(O="c5", X="a5 c3 e1"), LIGHT), "c5-a1:b4,d2",
         "c5-a1: a5, c3 and e1 need an intersection each, and have only b4 and d2"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


# --- notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("m13-j7", "m13-j7"),
        ("M13-J7", "m13-j7"),
        (" m13 - j7\n", "m13-j7"),
        ("a13-c11:d10,a13", "a13-c11:a13,d10"),
        ("A13 - C11 : D10 , A13", "a13-c11:a13,d10"),
        ("C3", "c3"),
    ],
)
def test_case_blanks_and_order_of_placements_are_free(text, canonical):
    assert RULES.write(RULES.read(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' isn't a move"),
        ("resign", "'resign' isn't a move"),
        ("m2", "'m2' isn't a move"),
        ("a1:m5", "'a1:m5' isn't a move"),
        ("m13j7", "'m13j7' isn't a move"),
        ("\u212a11-j7", "'\u212a11-j7' isn't a move"),  # the sign for kelvin lowers to a k
        ("a1\u2013a5", "'a1\u2013a5' isn't a move"),
        ("m13-", "an intersection is missing"),
        ("-m13", "an intersection is missing"),
        ("m13-m5:", "an intersection is missing"),
        ("m13-m5:l4,", "an intersection is missing"),
        ("m13-m05", "'m05' isn't an intersection"),
        ("m13-n5", "'n5' isn't an intersection"),
        ("m13-m5-m1", "'m5-m1' isn't an intersection"),
        ("m13-m5:l4:k3", "'l4:k3' isn't an intersection"),
        ("m13-m5;l4", "'m5;l4' isn't an intersection"),
        ("m13-m5:l4,l4", "l4 is named twice"),
        ("x" * 9000, f"'{'x' * 24}' isn't a move"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    assert playing.unreadable(RULES, text) == f"{problem}; {FORM}"


# --- the Power of Two against a slow second opinion, and its positions as values


# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    how = {"exact": "-exact" in flags, "noborder": "-noborder" in flags}
    skipped = 8 if "-free" in flags else 0
    for seed in range(2):
        for at, text in list(random_game(flags, seed))[skipped:]:
            now = board(at)
            assert set(legal(at)) == reference.legal(now, at.turn, **how)
            assert board(play(at, text)) == reference.play(now, at.turn, text)
