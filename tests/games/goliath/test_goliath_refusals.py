"""David and Goliath: every sentence of a refusal, of moves and of notation."""

import pytest

from tests.games import playing
from tests.games.goliath.given import (
    BESIEGED,
    DAVID,
    EDGED,
    GOLIATH,
    REUSING,
    RULES,
    WALLED,
    pieces,
    position,
    refused,
    start,
)

FORM = (
    "a move is written from-to:target or, when all stones are used up, from-to:stone>target"
    " or from-to, such as m13-h8:i9"
)


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start(), "c3-d4:c3", "David stands at m13, not at c3"),
        (start(), "a1-a5:a1", "Goliath stands at a1, and it is David's turn"),
        (start("-goliath_first"), "m13-m9:m13", "David stands at m13, and it is Goliath's turn"),
        (position(WALLED, DAVID), "i13-g13:i13", "David stands at m13, not at i13"),
        (start(), "m13-m13:m9", "David has to move"),
        (start(), "m13-c5:a1", "no line connects m13 and c5"),
        (start("-goliath_first"), "a1-a9:a7",
         "Goliath moves one or two intersections, and a9 is 3 away"),
        (position(WALLED, DAVID), "m13-m1:m5", "a dark stone at m7 blocks the way from m13 to m1"),
        (position(BESIEGED, GOLIATH), "m9-m13:m9", "m13 is occupied by David"),
        (position(WALLED, DAVID), "m13-m7:m9", "m7 is occupied by a dark stone"),
        (start(), "m13-h8",
         "a stone has to be thrown after the move, such as m13-h8:g9"),
        (start(), "m13-h8:a1>i9",
         "a stone is picked up only when all 15 are used up; 15 left to throw"),
        (start(), "m13-h8:h8", "David stands at h8 now"),
        (start(), "m13-h8:a1", "no line connects h8 and a1"),
        (start(), "m13-h8:k11",
         "David throws one or two intersections, and k11 is 3 away"),
        (position(pieces("m13", "a1", "i9"), DAVID), "m13-j10:i9", "i9 is occupied by a light stone"),
        (position(pieces("m13", "i9"), DAVID), "m13-j10:h8",
         "Goliath at i9 blocks the way from j10 to h8"),
        (position(REUSING, DAVID), "m13-h8",
         "all 15 stones are used up; one has to be picked up and thrown, such as m13-h8:c3>g9"),
        (position(REUSING, DAVID), "m13-h8:i9",
         "all 15 stones are used up; name the one to throw, such as m13-h8:c3>i9"),
        (position(REUSING, DAVID), "m13-h8:d4>i9", "there is no stone at d4"),
        (position(REUSING, DAVID), "m13-h8:m13>i9", "there is no stone at m13"),
        (position(REUSING, DAVID), "m13-h8:h3>i9", "there is no stone at h3"),
        (position(REUSING | {"k8": "x"}, DAVID), "m13-h8:k8>i9",
         "the stone at k8 is Goliath's; you can only pick up your own"),
        (position(REUSING, DAVID), "m13-h8:a5>i9",
         "the stone at a5 stands on an outer edge and can't be picked up"),
        (position(REUSING, DAVID), "m13-h8:g5>g5",
         "the stone picked up at g5 may not return there in the same turn"),
        (position(REUSING, DAVID), "m13-h8:c3>h8", "David stands at h8 now"),
        (position(REUSING, DAVID), "m13-h8:c3>k11",
         "David throws one or two intersections, and k11 is 3 away"),
        (position(EDGED, DAVID), "e5-f6:e5",
         "all 15 stones are on the outer edges for good, so nothing is thrown"),
        (position(EDGED, DAVID), "e5-f6:a1>e5",
         "all 15 stones are on the outer edges for good, so nothing is thrown"),
        (position(BESIEGED, DAVID), "m13-m7:m9", "the match is over: David can't move"),
        (position(WALLED, DAVID, "-count"), "m13-m9:m13",
         "the match is over: Goliath has the larger region, 55 intersections to 1"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == f"{text}: {sentence}"


# --- notation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' isn't a move"),
        ("m13", "'m13' isn't a move"),
        ("m13:h8", "'m13:h8' isn't a move"),
        ("\u212a11-j7", "'\u212a11-j7' isn't a move"),
        ("a1\u2013a5", "'a1\u2013a5' isn't a move"),
        ("m13-", "an intersection is missing"),
        ("-m13:h8", "an intersection is missing"),
        ("m13-h8:", "an intersection is missing"),
        ("m13-h8:>i9", "an intersection is missing"),
        ("m13-h8:c3>", "an intersection is missing"),
        ("m13-h08:i9", "'h08' isn't an intersection"),
        ("m13-h8-i9", "'h8-i9' isn't an intersection"),
        ("m13-h8:i9,j10", "'i9,j10' isn't an intersection"),
        ("m13-h8:c3>i9>j10", "'c3>i9' isn't an intersection"),
        ("m13-h8:i9:c3", "'i9:c3' isn't an intersection"),
        ("m13-h8>i9", "'h8>i9' isn't an intersection"),
        ("x" * 9000, f"'{'x' * 24}' isn't a move"),
        ("m13-" + "x" * 9000, f"'{'x' * 24}' isn't an intersection"),
    ],
)
def test_what_is_no_notation_is_refused_with_the_form(text, problem):
    assert playing.unreadable(RULES, text) == f"{problem}; {FORM}"
