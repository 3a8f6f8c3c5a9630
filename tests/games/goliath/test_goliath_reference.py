"""David and Goliath against a slow second opinion, and its positions as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX, NAMES
from domain.game.protocol import IllegalMove
from domain.games.goliath.notation import GoliathMove
from domain.games.goliath.rules import GoliathPosition
from tests.games import playing
from tests.games.goliath import reference
from tests.games.goliath.given import (
    AT,
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
from tests.games.pow2.reference import order

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


@given(positions(over=False), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    text = playing.accepts_a_legal_move(RULES, at, data)
    playing.accepts_or_refuses(RULES, at, RULES.read(mutate(text, data.draw)))


def mutate(text, draw):
    """Replace a name of a move, or drop or add a part."""
    movement, _, throw = text.partition(":")
    names = movement.split("-")
    thrown = throw.split(">") if throw else []
    name = draw(st.sampled_from(NAMES))
    match draw(st.sampled_from(("from", "to", "target", "stone", "drop"))):
        case "from":
            names[0] = name
        case "to":
            names[1] = name
        case "target":
            thrown[-1:] = [name]
        case "stone":
            thrown = [name, *thrown[-1:]]
        case "drop":
            thrown = thrown[1:]
    return "-".join(names) + (":" + ">".join(thrown) if thrown else "")


@given(positions(), st.data())
def test_any_move_is_legal_or_refused_with_a_sentence(drawn, data):
    _, at = drawn
    end = st.integers(0, 64)
    move = GoliathMove(at.figure, data.draw(AT), data.draw(end))
    if move in list(RULES.moves(at)):
        assert RULES.check(at, move) == move
    else:
        with pytest.raises(IllegalMove):
            RULES.check(at, move)


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


@given(positions())
def test_positions_are_packed_and_unpacked_unchanged(drawn):
    _, at = drawn
    playing.passes_unchanged("goliath/1", at, 23)


@given(positions())
def test_json_lists_the_pieces_in_sorting_order(drawn):
    names = list(board(drawn[1]))
    assert names == order(names)


def test_who_is_to_move_and_whether_regions_count_tell_positions_apart():
    assert start() != start("-goliath_first")
    assert start() != start("-count")
    assert start() == GoliathPosition(INDEX["m13"], INDEX["a1"], 0, 0, DAVID, counts_regions=False)
