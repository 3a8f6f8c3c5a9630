"""David and Goliath: moves, throws, regions and endings, every sentence, and a slow second opinion."""

import random
from itertools import product

import pytest

from domain.errors import Code
from domain.games.goliath.rules import GoliathPosition
from tests.games import playing
from tests.games.goliath import reference
from tests.games.pow2.reference import order

GAME = playing.Game("goliath")
RULES, start, played, board, legal = GAME.rules, GAME.start, GAME.played, GAME.board, GAME.legal
DAVID, GOLIATH = 0, 1
OPTION_SETS = [
    tuple(filter(None, flags)) for flags in product(("", "-count"), ("", "-goliath_first"))
]


def pieces(david, goliath, light="", dark=""):
    figures = {david: "D", goliath: "G"}
    return figures | dict.fromkeys(light.split(), "o") | dict.fromkeys(dark.split(), "x")


def position(board, seat, *flags):
    david, goliath, light, dark = playing.sets(board, "DGox")
    figures = david.bit_length() - 1, goliath.bit_length() - 1
    return GoliathPosition(*figures, light, dark, seat, RULES.read_options(flags).count)


# fifteen light stones, of which c3 and g5 are off the outer edges
REUSING = pieces("m13", "h3", "c3 g5 a1 a5 a7 a9 a13 e1 e13 g1 i1 m1 m5 m7 g13")
EDGED = pieces("e5", "h3", "a1 a5 a7 a9 a13 e1 e13 g1 g13 i1 i13 m1 m5 m7 m9")
"""All fifteen light stones stand on the outer edges."""
WALLED = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7")
"""David is shut in with m9."""
SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9")
BOTH_SHUT = pieces("m13", "a1", "i13 j12 k11 l10 m9", "a5 b4 c3 d2 e1")
BESIEGED = pieces("m13", "m9", "i13 j12 k11 l10")
"""Goliath himself shuts David in; the figures are not separated."""


class TestGoliath(playing.GameTests):
    key = "goliath"
    illegal = (
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
    )  # fmt: skip
    unreadable = (
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
    )
    form = (
        "a move is written from-to:target or, when all stones are used up, from-to:stone>target"
        " or from-to, such as m13-h8:i9"
    )
    shown = ((start(), "large"), (played("m13-h8:i9 a1-c3:f6"), "small"))


@pytest.mark.parametrize("shown", [pieces("m13", "a1"), BESIEGED, REUSING])
def test_a_count_is_refused_while_the_figures_are_not_separated(shown):
    said = playing.refusal(Code.NO_OFFER, RULES.check_offer, position(shown, DAVID), "count")
    assert said == "a count can only be proposed while stones separate David and Goliath"


def test_a_count_is_refused_with_the_option_that_counts_anyway():
    at = position(BOTH_SHUT, DAVID, "-count")
    said = playing.refusal(Code.NO_OFFER, RULES.check_offer, at, "count")
    assert "with -count the regions are counted" in said


def test_a_count_agreed_to_is_won_by_the_larger_region():
    outcome = RULES.outcome_by_offer(position(WALLED, DAVID), "count")
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"


# --- against the slow reference


def agrees(at, text, *, count=False):
    """Assert that a position, and what follows a move, are those of the reference."""
    shown, form = board(at), RULES.to_json(at)
    assert form["supply"] == [15 - list(shown.values()).count(one) for one in "ox"]
    assert list(shown) == order(shown)
    outcome = RULES.outcome(at)
    assert (outcome.winners[0] if outcome else None) == reference.winner(
        shown, at.turn, count=count
    )
    if text is not None:
        assert set(legal(at)) == reference.legal(shown, at.turn)
        assert board(played(text, at=at)) == reference.play(shown, at.turn, text)


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_end_agree_with_the_reference(flags):
    for game in GAME.games(start(*flags), range(6)):
        for at, text in game:
            agrees(at, text, count="-count" in flags)


@pytest.mark.parametrize("shown", [REUSING, EDGED, WALLED, SHUT, BOTH_SHUT, BESIEGED])
def test_composed_positions_agree_with_the_reference(shown):
    for seat in (DAVID, GOLIATH):
        at = position(shown, seat)
        some = legal(at)
        for text in random.Random(seat).sample(some, min(30, len(some))):
            agrees(at, text)
        agreed = RULES.outcome_by_offer(at, "count")
        assert (agreed.winners[0] if agreed else None) == reference.counted(shown)
