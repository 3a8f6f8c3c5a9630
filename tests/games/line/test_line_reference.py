"""That's My Line against a slow second opinion, and its positions as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import NAMES
from domain.games.line.position import LinePosition
from tests.games import playing
from tests.games.line import reference
from tests.games.line.given import (
    OPTION_SETS,
    RULES,
    legal,
    options,
    positions,
    random_game,
    refused,
)

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


@given(positions())
def test_exactly_the_legal_moves_are_accepted(drawn):
    _, at = drawn
    accepted = playing.accepted(RULES, at, NAMES)
    assert accepted == legal(at)
    assert len(accepted) == RULES.count_moves(at)
    for name in set(NAMES) - set(accepted):
        assert refused(at, name).startswith(f"{name}: ")


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    shown = RULES.to_json(at)
    other = playing.turned_board(shown["board"], symmetry)
    mirrored = RULES.from_json(shown | {"board": other}, options(*flags), at.turn)
    assert set(legal(mirrored)) == {playing.turned(text, symmetry) for text in legal(at)}


@given(positions())
def test_colours_exchanged_have_the_same_moves(drawn):
    _, at = drawn
    assert legal(LinePosition(at.dark, at.light, 1 - at.turn, at.limit)) == legal(at)


# --- positions as values


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    playing.passes_unchanged("line/1", at, options(*flags), at.turn, 24)


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(RULES.to_json(drawn[1])["board"])
    assert names == reference.order(names)


PASSED = {"board": {"a1": "o"}, "stones": [1, 0]}


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, [], 0, "Expected `object`, got `null`"),
        ({"board": {}}, [], 0, "missing required field `stones`"),
        ({"board": {}, "stones": [0, 0], "more": 1}, [], 0, "unknown field `more`"),
        ({"board": {"a1": "O"}, "stones": [1, 0]}, [], 1, "Invalid enum value 'O'"),
        ({"board": {"a2": "o"}, "stones": [1, 0]}, [], 1, "'a2' is no intersection"),
        ({"board": {"a1": "o"}, "stones": [1]}, [], 1, "Expected `array` of length 2"),
        ({"board": {"a1": "o"}, "stones": [0, 1]}, [], 1, "stones are not as many as on the"),
        (
            {"board": {"a1": "o", "c3": "x"}, "stones": [1, 1]},
            [],
            0,
            "a1 and c3 are opposing stones on one line",
        ),
        (
            {"board": {"a1": "o", "a5": "o"}, "stones": [2, 0]},
            ["-stones=1"],
            1,
            "a player has more stones than 1 (-stones)",
        ),
        (PASSED, ["-stones=1"], 0, "it can't be the turn of seat 0"),
        (PASSED, [], 2, "it can't be the turn of seat 2"),
    ],
)
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    sentence = playing.bad_setup(RULES.from_json, data, options(*flags), to_move)
    assert sentence.startswith("this is no position of line: ")
    assert problem in sentence
