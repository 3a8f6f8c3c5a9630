"""David and Goliath against a slow second opinion, and its positions as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX
from domain.games.goliath.rules import GoliathPosition
from tests.games import playing
from tests.games.goliath import reference
from tests.games.goliath.given import (
    BESIEGED,
    BOTH_SHUT,
    DAVID,
    EDGED,
    GOLIATH,
    OPTION_SETS,
    REUSING,
    RULES,
    SHUT,
    WALLED,
    board,
    legal,
    play,
    position,
    positions,
    random_game,
    start,
)

# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_end_agree_with_the_reference(flags):
    count = "-count" in flags
    for seed in range(8):
        for at, text in random_game(flags, seed):
            now = board(at)
            outcome = RULES.outcome(at)
            won = reference.winner(now, at.turn, count=count)
            assert (outcome.winners[0] if outcome else None) == won
            if text is not None:
                assert set(legal(at)) == reference.legal(now, at.turn)
                assert board(play(at, text)) == reference.play(now, at.turn, text)


@pytest.mark.parametrize("shown", [REUSING, EDGED, WALLED, SHUT, BOTH_SHUT, BESIEGED])
def test_composed_positions_agree_with_the_reference(shown):
    for seat in (DAVID, GOLIATH):
        at = position(shown, seat)
        agreed = RULES.outcome_by_offer(at, "count")
        assert set(legal(at)) == reference.legal(shown, seat)
        assert (agreed.winners[0] if agreed else None) == reference.counted(shown)


def sort_key(text):
    movement, _, throw = text.partition(":")
    stone, _, target = throw.rpartition(">")
    return [INDEX[name] for name in (*movement.split("-"), stone, target) if name]


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    playing.sorted_each_once_and_counted(RULES, at, sort_key)


def turned_move(text, symmetry):
    movement, _, throw = text.partition(":")
    names = [playing.turned(name, symmetry) for name in movement.split("-")]
    thrown = [playing.turned(name, symmetry) for name in throw.split(">") if name]
    return "-".join(names) + (":" + ">".join(thrown) if thrown else "")


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    flags, at = drawn
    other = playing.turned_board(board(at), symmetry)
    mirrored = position(other, at.turn, *flags)
    assert set(legal(mirrored)) == {turned_move(text, symmetry) for text in legal(at)}
    assert RULES.outcome(mirrored) == RULES.outcome(at)


# --- positions as values


def test_who_is_to_move_and_whether_regions_count_tell_positions_apart():
    assert start() != start("-goliath_first")
    assert start() != start("-count")
    assert start() == GoliathPosition(INDEX["m13"], INDEX["a1"], 0, 0, DAVID, counts_regions=False)
