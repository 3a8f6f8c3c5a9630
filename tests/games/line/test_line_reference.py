"""That's My Line against a slow second opinion, and its positions as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import NAMES
from domain.games.line.rules import LinePosition
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
    _, at = drawn
    other = playing.turned_board(RULES.to_json(at)["board"], symmetry)
    mirrored = LinePosition(*playing.sets(other, "ox"), at.turn, at.limit)
    assert set(legal(mirrored)) == {playing.turned(text, symmetry) for text in legal(at)}


# --- positions as values


@given(positions())
def test_json_lists_the_stones_in_sorting_order(drawn):
    names = list(RULES.to_json(drawn[1])["board"])
    assert names == reference.order(names)
