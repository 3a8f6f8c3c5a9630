"""The Power of Two against a slow second opinion, and its positions as values."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX
from tests.games import playing
from tests.games.pow2 import reference
from tests.games.pow2.given import (
    OPTION_SETS,
    RULES,
    board,
    legal,
    play,
    position,
    positions,
    random_game,
)

# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    how = {"exact": "-exact" in flags, "noborder": "-noborder" in flags}
    skipped = 8 if "-free" in flags else 0
    for seed in range(5):
        for at, text in list(random_game(flags, seed))[skipped:]:
            now = board(at)
            assert set(legal(at)) == reference.legal(now, at.turn, **how)
            assert board(play(at, text)) == reference.play(now, at.turn, text)


def sort_key(text):
    movement, _, placed = text.partition(":")
    parts = [*movement.split("-"), *(placed.split(",") if placed else ())]
    return [INDEX[name] for name in parts]


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    playing.sorted_each_once_and_counted(RULES, at, sort_key)
    assert len(list(RULES.moves(at))) == RULES.count_moves(at)


def turned_move(text, symmetry):
    movement, _, listed = text.partition(":")
    names = [playing.turned(name, symmetry) for name in movement.split("-")]
    placed = reference.order(playing.turned(name, symmetry) for name in listed.split(",") if name)
    return "-".join(names) + (":" + ",".join(placed) if placed else "")


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    other = playing.turned_board(board(at), symmetry)
    expected = {turned_move(text, symmetry) for text in legal(at)}
    mirrored = position(other, at.turn, *flags)
    mirrored = msgspec.structs.replace(mirrored, flags=at.flags)
    assert set(legal(mirrored)) == expected


# --- positions as values


@given(positions())
def test_json_lists_the_pieces_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == reference.order(names)
