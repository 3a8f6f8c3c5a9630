"""The Power of Two: the source's examples, every option and ending.

The Power of Two: every sentence of a refusal, of moves and of notation.

What is read of a move's text, whatever the text; `trials/fuzz/notations.py` has the millions.
"""

from itertools import islice
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.games.pow2.rules import can_move
from tests.games import playing
from tests.games.pow2 import reference
from tests.games.pow2.boards import FIGURE_3, NO_MOVE, WON, json, pieces
from tests.games.pow2.given import (
    DARK,
    LIGHT,
    RULES,
    board,
    legal,
    options,
    play,
    position,
    refused,
    start,
)
from trials.fuzz.notations import check, texts

PATHS = Path(__file__).parent / "move-paths.txt"


# --- the examples of the source


def test_light_moving_m13_m5_has_to_place_at_l4():
    assert [text for text in legal(start()) if text.startswith("m13-m5")] == ["m13-m5:l4"]
    assert board(play(start(), "m13-m5:l4")) == pieces(X="a1 a13", O="l4", o="m1 m5")


def test_dark_moving_a1_e1_in_figure_3_may_place_at_d2_or_g1():
    """The source says a1 or g1; d2 lies between a1 and e3 on the board as drawn."""
    texts = legal(position(FIGURE_3, DARK))
    assert [text for text in texts if text.startswith("a1-e1")] == ["a1-e1:d2", "a1-e1:g1"]


def test_the_moved_piece_and_own_neighbours_age_once_each():
    """The source names a1-d3 and Figure 5; it fits a1-d4 in the position of Figure 3."""
    after = board(play(position(FIGURE_3, DARK), "a1-d4:b4,e5"))
    left = {at: letter for at, letter in FIGURE_3.items() if at not in ("a1", "c5")}
    assert after == left | {"d4": "x", "b4": "X", "e5": "X"}


def test_a_moved_piece_that_was_aged_returns_to_the_supply():
    after = RULES.to_json(play(position(pieces(x="a1", O="a9 m1"), DARK), "a1-a7:c9"))
    assert after == json({"a9": "O", "c9": "X", "m1": "O"})


def test_no_piece_can_be_placed_where_ageing_will_make_room():
    at = position(pieces(O="a1 m1", o="b4", X="m13"), LIGHT)
    assert refused(at, "a1-a5:b4") == "a1-a5: b4 is occupied by a light piece"


@pytest.mark.parametrize("line", PATHS.read_text().splitlines()[1:])
def test_the_numbers_of_move_paths_are_those_on_record(line):
    flags, *expected = line.split()
    at = start(*flags.split("+")) if flags != "-" else start()
    for length, number in enumerate(expected, start=1):
        assert paths(at, length) == int(number)


def paths(at, length):
    if length == 1:
        return RULES.count_moves(at)
    return sum(paths(RULES.play(at, move), length - 1) for move in RULES.moves(at))


# --- starts and options


@pytest.mark.parametrize(
    ("flag", "light", "dark"),
    [
        ("", "m1 m13", "a1 a13"),
        ("-fast", "m1 i5 i9 m13", "a1 e5 e9 a13"),
        ("-middle", "m7 g13", "g1 a7"),
        ("-free", "", ""),
    ],
)
def test_each_start_has_its_pieces_fresh_and_light_to_move(flag, light, dark):
    at = start(flag) if flag else start()
    assert RULES.to_json(at) == json(pieces(O=light, X=dark))
    assert RULES.to_move(at) == LIGHT


def test_pow2_is_played_by_two_without_a_setup():
    sentence = "pow2 is played by two, not by 3"
    playing.refuses_players_and_setup(RULES, options(), 3, sentence)


def test_noborder_bars_the_outer_edges_but_counts_them_for_triangles():
    at = start("-noborder")
    assert not any(text.startswith("m13-m") for text in legal(at))
    sentence = "m13-m5: the four outer edges can't be travelled (-noborder)"
    assert refused(at, "m13-m5:l4") == sentence
    # a9 and a13 are adjacent by the left edge, and form a triangle with b10
    assert "a1-a9:b10" not in legal(position(pieces(X="a1 a13", O="m1"), DARK, "-noborder"))
    assert "e9-a9:b10" in legal(position(pieces(X="e9 a13", O="m1"), DARK, "-noborder"))


FIFTEEN = pieces(O="e7 g1 g5 g9 g13 i1 i5 i9 i13 m1 m5 m9 m13 k8 k6", X="c5 a9")


def test_with_too_few_pieces_left_all_that_are_left_are_placed():
    texts = legal(position(FIFTEEN, LIGHT))
    here = [text for text in texts if text.startswith("e7-a7")]
    assert here == ["e7-a7:a5", "e7-a7:c6", "e7-a7:c9"]


def test_each_part_of_a_complete_assignment_may_be_placed_once():
    """Two left for three neighbours; a5 and c6 both serve c5 alone and can't go together."""
    fourteen = {at: letter for at, letter in FIFTEEN.items() if at != "k8"} | {"c8": "X"}
    texts = legal(position(fourteen, LIGHT))
    here = {text.partition(":")[2] for text in texts if text.startswith("e7-a7")}
    assert here == {"a5,c9", "a5,d7", "c6,c9", "c6,d7", "c9,d7"}


def test_exact_bars_moves_that_lack_pieces_to_place():
    at = position(FIFTEEN, LIGHT, "-exact")
    sentence = "e7-a7: 2 pieces would have to be placed, with 1 left (-exact)"
    assert refused(at, "e7-a7:a5") == sentence
    assert not any(text.startswith("e7-a7") for text in legal(at))


def test_a_move_that_lacks_room_is_illegal_even_with_too_few_pieces_left():
    crowded = FIFTEEN | {"a5": "X", "c6": "X"}
    assert refused(position(crowded, LIGHT), "e7-a7:c9") == (
        "e7-a7: no free intersection forms a triangle with a5 or c5"
    )


# --- the placing phase of -free


def test_free_begins_with_four_pieces_each_placed_in_turn():
    at = start("-free")
    for ply, text in enumerate(["a1", "m1", "a13", "m13", "e5", "i5", "e9", "i9"]):
        assert RULES.to_move(at) == ply % 2
        assert all("-" not in choice for choice in legal(at))
        at = play(at, text)
    assert board(at) == board(position(pieces(O="a1 a13 e5 e9", X="m1 m13 i5 i9"), LIGHT))
    assert RULES.to_json(at)["supply"] == [12, 12]
    assert "a1-a5" in legal(at)


def test_free_offers_every_place_not_next_to_a_piece():
    assert legal(start("-free")) == list(NAMES)
    taken = {"c3", *reference.NEAR["c3"]}
    assert legal(play(start("-free"), "c3")) == [name for name in NAMES if name not in taken]


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


def test_the_player_with_all_sixteen_on_the_board_at_the_end_of_the_turn_wins():
    after = play(position(FIFTEEN, LIGHT), "e7-a7:a5")
    outcome = RULES.outcome(after)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "all-placed")
    assert outcome.detail == "Light has all 16 pieces on the board"
    assert RULES.to_move(after) is None
    assert legal(after) == []


def test_sixteen_pieces_before_ageing_do_not_win():
    aged = FIFTEEN | {"e7": "o"}
    after = play(position(aged, LIGHT), "e7-a7:a5")
    assert RULES.outcome(after) is None
    assert RULES.to_json(after)["supply"] == [1, 14]


def test_the_player_who_cannot_move_loses():
    at = position(NO_MOVE, DARK)
    outcome = RULES.outcome(at)
    assert (outcome.winners, outcome.reason) == ((LIGHT,), "no-move")
    assert outcome.detail == "Dark has no legal move"
    assert RULES.to_move(at) is None
    assert legal(at) == []


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


def test_no_move_is_legal_after_the_end():
    won = position(WON, DARK)
    assert playing.over(RULES, won).winners == (LIGHT,)
    assert RULES.moves(won) == []
    assert RULES.count_moves(won) == 0
    assert not can_move(won)
    sentence = "a1-a5: the match is over: Light has all 16 pieces on the board"
    assert refused(won, "a1-a5") == sentence


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


@pytest.mark.parametrize("seed", range(2))
def test_valid_mutated_odd_and_long_texts_are_read_or_refused(seed):
    seen = {check(text, meant)[0] for _, (text, meant) in islice(texts(seed), 5_000)}
    assert seen == {"read", "refused"}
