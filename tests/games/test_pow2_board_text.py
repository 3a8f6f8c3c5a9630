"""The drawings of goliath and line, against boards on record; the templates are pow2's."""

from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.rules import latest_rules

GAMES = Path(__file__).parent
COUNTED = "m13-a13:b10 a1-b4:f11 a13-e11:a13 b4-c6:e9 e11-d10:g13 c6-g4:i3 d10-c11:d10"
"""A match that ends by -count."""
NINETEEN = (
    "b4 m13 k5 d10 g4 d12 f3 i1 e7 h8 f6 i7 c3 i11 e3 j10 d4 c11 e5 j12 a5 k3 c5 k8 c6 k11 d7 k9 d2"
    " g10 k6 h6 i13 m9 l10"
)
"""A match as the source pictures its end: 19 to 16, Dark has won."""


def played(key, flags, moves):
    rules = latest_rules(key)
    at = rules.start(rules.read_options(flags), 2, None)
    for text in moves.split():
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


BOARDS = [
    ("goliath-start", "goliath", [], "", "large"),
    ("goliath-example", "goliath", [], "m13-h8:i9 a1-c3:f6", "small"),
    ("goliath-counted", "goliath", ["-count"], COUNTED, "large"),
    ("line-start", "line", [], "", "small"),
    ("line-19-16", "line", [], NINETEEN, "large"),
]


@pytest.mark.parametrize(("name", "key", "flags", "moves", "display"), BOARDS)
def test_positions_are_drawn_as_on_record(name, key, flags, moves, display):
    golden = (GAMES / f"{name.replace('-', '/', 1)}.txt").read_text().removesuffix("\n")
    assert draw_text(latest_rules(key), played(key, flags, moves), display) == golden


@pytest.mark.parametrize(
    ("key", "counts"),
    [("goliath", "Stones left: David 15 Goliath 15"), ("line", "Stones placed: Light 0 Dark 0")],
)
@pytest.mark.parametrize(("display", "lines"), [("large", 27), ("small", 15)])
def test_a_drawing_is_a_line_of_counts_a_blank_line_and_the_board(key, counts, display, lines):
    drawn = draw_text(latest_rules(key), played(key, [], ""), display).split("\n")
    assert drawn[:2] == [counts, ""]
    assert len(drawn) == 2 + lines
    assert all(line == line.rstrip() for line in drawn)


@pytest.mark.parametrize("key", ["goliath", "line"])
def test_the_large_drawing_comes_first_and_others_are_refused(key):
    assert latest_rules(key).displays == ("large", "small")
    with pytest.raises(Refusal) as refusal:
        draw_text(latest_rules(key), played(key, [], ""), "svg")
    assert refusal.value.code is Code.BAD_OPTION
    assert refusal.value.sentence == f"{key} has no display 'svg'; known are large, small"


def test_pieces_are_lettered_as_in_the_position():
    for key, flags, moves in (("goliath", [], "m13-h8:i9 a1-c3:f6"), ("line", [], NINETEEN)):
        at = played(key, flags, moves)
        board = latest_rules(key).to_json(at)["board"]
        rows = draw_text(latest_rules(key), at, "small").split("\n")[2:]
        for name in NAMES:
            shown = rows[int(name[1:])][3 + 2 * "abcdefghijklm".index(name[0])]
            assert shown == board.get(name, "*")


def test_a_match_that_ends_nineteen_to_sixteen_needs_more_stones_than_sixteen():
    at = played("line", [], NINETEEN)
    assert latest_rules("line").to_json(at)["stones"] == [16, 19]
    outcome = latest_rules("line").outcome(at)
    assert (outcome.winners, outcome.detail) == ((1,), "Dark placed 19 stones to 16")
    assert draw_text(latest_rules("line"), at, "small").split("\n")[-2:] == ["", outcome.detail]


def test_sixteen_stones_each_end_the_same_match_with_a_tie_that_dark_wins():
    at = played("line", ["-stones=16"], NINETEEN.partition(" i13")[0])
    assert latest_rules("line").outcome(at).detail == "16 stones each, and Dark placed last"
