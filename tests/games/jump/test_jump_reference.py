"""Get a Jump On against a slow second opinion."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boards.pow2_board import INDEX, NAMES
from domain.game.protocol import UnreadableMove, illegal_move
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
    refused,
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


@given(positions(), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    mutated = mutate(playing.accepts_a_legal_move(RULES, at, data), data.draw)
    try:
        move = RULES.read(mutated)
    except UnreadableMove:
        return
    if valid(split(at), RULES.write(move)):
        checked = RULES.check(at, move)
        assert RULES.write(checked) in legal(at)
        assert RULES.play(at, checked) == RULES.play(at, move)
    else:
        named = refused(at, mutated).partition(": ")[0]
        assert named == illegal_move(RULES.write(move), "no").sentence.removesuffix(": no")


def valid(shown, text):
    """Return whether a move keeps the rules, whatever its chain; the reference's way."""
    stones, jumper = shown
    new, _, listed = text.rpartition(":")
    chain = listed.split("-")
    if text == "done" or not stones:
        return text == "done" or text in reference.CORNERS
    if jumper is None:
        begun = not new and len(chain) > 1 and chain[0] in stones
        return begun and lands(stones - {chain[0]}, chain, taking=True)
    begun = new and new not in stones and (new, chain[0]) in reference.JUMPS[jumper]
    return begun and lands(stones - {jumper} | {new}, [jumper, *chain], taking=False)


def lands(left, way, *, taking):
    for a, b in pairwise(way):
        over = {mid for mid, to in reference.JUMPS[a] if to == b} & left
        if not over or b in left:
            return False
        left = left - over if taking else left
    return len(set(way[1:])) == len(way) - 1


def mutate(text, draw):
    """Replace a name of a move, or drop or add a landing."""
    names = re.split("[:-]", text)
    signs = re.findall("[:-]", text)
    match draw(st.sampled_from(("name", "drop", "add", "back"))):
        case "name":
            names[draw(st.integers(0, len(names) - 1))] = draw(st.sampled_from(NAMES))
        case "drop":
            names, signs = names[:-1] or names, signs[:-1]
        case "add" if text != "done":
            lands = [to for _, to in reference.JUMPS[names[-1]]]
            names, signs = [*names, draw(st.sampled_from([*lands, "a1"]))], [*signs, "-"]
        case "back":
            names, signs = [*names, names[0]], [*signs, "-"]
    return "".join(name + sign for name, sign in zip(names, [*signs, ""], strict=True))


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


@pytest.mark.parametrize("flags", FAMILIES, ids=["corner", "large", "small"])
def test_random_play_ends(flags):
    for seed in range(30):
        last, text = list(random_match("jump", flags, seed, until_done=seed % 2 == 0))[-1]
        assert RULES.outcome(play(last, text)) is not None


def test_chains_are_finite_even_in_a_full_ring():
    for stones in (0, (1 << 64) - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA):
        for landing in range(64):
            found = chains(stones & ~(1 << landing), landing)
            assert len({chain[-1] for chain in found}) == len(found) <= 64
