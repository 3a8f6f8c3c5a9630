"""Get a Jump On against a slow second opinion."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX
from domain.games.jump.jumps import chains
from domain.games.jump.rules import NOBODY
from tests.games import playing
from tests.games.jump import reference
from tests.games.jump.given import (
    FAMILIES,
    RULES,
    WHOLE,
    board,
    legal,
    play,
    position,
    positions,
    split,
    start,
)
from tests.games.puzzles import random_match


@pytest.mark.parametrize("flags", FAMILIES, ids=["corner", "large", "small"])
def test_legal_moves_and_their_effect_agree_with_the_reference(flags):
    for seed in range(12):
        for at, text in random_match("jump", flags, seed):
            stones, jumper = split(at)
            assert set(legal(at)) == reference.legal(stones, jumper) | {"done"}
            after = split(play(at, text))[0]
            if text in reference.CORNERS:
                assert after == {text}
            elif jumper is None:
                assert after == reference.play_taking(stones, text)
            else:
                assert after == reference.play_step(stones, jumper, text)[0]


@pytest.mark.parametrize("texts", [WHOLE[:31], WHOLE[:32], WHOLE[:33]])
def test_both_sides_of_the_32nd_stone_agree_with_the_reference(texts):
    at = play(start(), *texts)
    assert set(legal(at)) - {"done"} == reference.legal(*split(at))


def order(text):
    new, _, chain = text.rpartition(":")
    return (
        text == "done",
        INDEX.get(new, NOBODY),
        [INDEX[name] for name in chain.split("-")] if text != "done" else [],
    )


@given(positions())
def test_legal_moves_come_sorted_each_once_and_are_counted(drawn):
    _, at = drawn
    playing.sorted_each_once_and_counted(RULES, at, order)
    assert {RULES.write(move) for move in RULES.moves(at)} == set(legal(at))


def lands(left, way, *, taking):
    for a, b in pairwise(way):
        over = {mid for mid, to in reference.JUMPS[a] if to == b} & left
        if not over or b in left:
            return False
        left = left - over if taking else left
    return len(set(way[1:])) == len(way) - 1


@given(positions(), st.sampled_from(playing.SYMMETRIES))
def test_a_turned_or_mirrored_board_has_the_turned_or_mirrored_moves(drawn, symmetry):
    """Chains are written differently there, so what the moves lead to is compared."""
    flags, at = drawn
    other = playing.turned_board(board(at), symmetry)
    flags = tuple(
        f"-solitaire={','.join(playing.turned(n, symmetry) for n in flag.partition('=')[2].split(','))}"
        for flag in flags
    )
    mirrored = position(other, at.plies, flags)
    assert results(mirrored) == {
        frozenset((playing.turned(name, symmetry), letter) for name, letter in after)
        for after in results(at)
    }


def results(at):
    return {frozenset(board(RULES.play(at, move)).items()) for move in RULES.moves(at)[:-1]}


@given(positions())
def test_no_ply_makes_the_score_worse(drawn):
    _, at = drawn
    before = RULES.score(at).rank
    assert all(RULES.score(RULES.play(at, move)).rank <= before for move in RULES.moves(at))


def test_chains_are_finite_even_in_a_full_ring():
    for stones in (0, (1 << 64) - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA):
        for landing in range(64):
            found = chains(stones & ~(1 << landing), landing)
            assert len({chain[-1] for chain in found}) == len(found) <= 64
