"""The Power of Two: the source's examples, every sentence, drawings, and a slow second opinion."""

from itertools import product
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.pow2.rules import Pow2Position, flags_of
from tests.games import playing
from tests.games.pow2 import reference

GAME = playing.Game("pow2")
RULES, start, played, board, legal = GAME.rules, GAME.start, GAME.played, GAME.board, GAME.legal
OPTION_SETS = [
    tuple(filter(None, flags))
    for flags in product(("", "-exact"), ("", "-fast", "-free", "-middle"), ("", "-noborder"))
]
LIGHT, DARK = 0, 1
FORM = "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4"


def pieces(**by_letter):
    """Return a board from names by letter: `pieces(O="m1 m13", x="c5")`."""
    return {name: letter for letter, names in by_letter.items() for name in names.split()}


def position(board, seat, *flags):
    """Return a position after the placing phase."""
    options = flags_of(RULES.read_options(flags))
    return Pow2Position(*playing.sets(board, "OoXx"), seat, options)


FIGURE_3 = pieces(X="a1 a13", x="c5", O="m1 e3 l10 d12 j12 m13", o="b10 j10")
FIFTEEN = pieces(O="e7 g1 g5 g9 g13 i1 i5 i9 i13 m1 m5 m9 m13 k8 k6", X="c5 a9")
AGEING = pieces(O="a1 m1", o="b4", X="m13")
"""No piece can be placed where ageing will make room."""


class TestPow2(playing.GameTests):
    key = "pow2"
    illegal = (
        (position(AGEING, LIGHT), "a1-a5:b4", "b4 is occupied by a light piece"),
        (position(FIFTEEN, LIGHT, "-exact"), "e7-a7:a5",
         "2 pieces would have to be placed, with 1 left (-exact)"),
        (played("a1", "-free"), "a1", "a1 is occupied by a light piece"),
        (played("a1", "-free"), "c3", "c3 is adjacent to a1; no piece is placed next to another (-free)"),
        (played("a1", "-free"), "a1-a5",
         "first each player places four pieces (-free); name one intersection, such as c3"),
        (start(), "c3",
         f"single pieces are placed only before the first turn of -free; {FORM}"),
        (start(), "c3-d4", "there is no piece at c3"),
        (start(), "a1-a5", "the piece at a1 is Dark's, and it is Light's turn"),
        (start(), "m1-m1", "the piece at m1 has to move"),
        (start(), "m1-c5", "no line connects m1 and c5"),
        (position(pieces(O="m7", X="a1"), LIGHT), "m7-a7", "no line connects m7 and a7"),
        (position(pieces(O="m1", X="m9 m7"), LIGHT), "m1-m13",
         "a dark piece at m7 is in the way"),
        (position(pieces(O="m13", x="m9 m7"), LIGHT), "m13-m5",
         "a dark piece at m9 is in the way"),
        (start(), "m1-a1", "a1 is occupied by a dark piece"),
        (start(), "m1-m13", "m13 is occupied by a light piece"),
        (start(), "m13-j7:j4", "j7 has no occupied neighbour, so nothing is placed"),
        (start(), "m13-m5",
         "1 piece has to be placed for m1, and none is named; for example m13-m5:l4"),
        (start(), "m13-m5:l4,k3", "k3 forms no triangle with m5 and m1"),
        (position(FIGURE_3, DARK), "a1-e1:d2,g1",
         "1 piece has to be placed for e3, and 2 are named; for example a1-e1:d2"),
        (position(FIGURE_3, DARK), "a1-e1:a1", "a1 forms no triangle with e1 and e3"),
        (position(FIGURE_3, DARK), "a1-d4:b4",
         "2 pieces have to be placed for c5 and e3, and 1 is named; for example a1-d4:b4,d2"),
        (position(FIGURE_3, DARK), "a1-d4:c5,e5", "c5 is occupied by a dark piece"),
        (position(FIGURE_3, DARK), "a1-d4:d4,e5",
         "d4 is taken by the piece that moves there"),
        (position(FIGURE_3, DARK), "a1-d4:b4,g1",
         "g1 forms no triangle with d4 and c5 or e3"),
        (position(pieces(O="e7", X="c5 a9"), LIGHT), "e7-a7:a5,c6",
         "a5 and c6 don't give a9 and c5 an intersection each; for example e7-a7:a5,c9"),
        (position(pieces(O="c5", X="a5 c3 e1"), LIGHT), "c5-a1:b4,d2",
         "a5, c3 and e1 need an intersection each, and have only b4 and d2"),
    )  # fmt: skip
    unreadable = (
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
    )
    form = FORM
    shown = ((start(), "large"), (played("m13-m5:l4 a13-c11"), "small"))

    def named(self, text):
        return text.partition(":")[0]


def test_placements_are_written_in_order():
    assert RULES.write(RULES.read("A13 - C11 : D10 , A13")) == "a13-c11:a13,d10"


@pytest.mark.parametrize(
    ("number", "flags", "display"),
    [(1, "", "small"), (2, "", "large"), (4, "-fast", "small"), (5, "-middle", "small")],
)
def test_starting_positions_are_drawn_as_in_the_figures(number, flags, display):
    figure = (Path(__file__).parent / f"figure-{number}.txt").read_text()
    assert draw_text(RULES, start(*flags.split()), display) == figure.removesuffix("\n")


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    how = {"exact": "-exact" in flags, "noborder": "-noborder" in flags}
    skipped = 8 if "-free" in flags else 0
    (game,) = GAME.games(start(*flags), [f"reference {flags}"])
    for ply, (at, text) in enumerate(game):
        if ply == 300 or text is None:
            break
        if ply >= skipped:
            now = board(at)
            assert set(legal(at)) == reference.legal(now, at.turn, **how)
            assert board(played(text, at=at)) == reference.play(now, at.turn, text)
