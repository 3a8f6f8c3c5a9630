"""Powerdrain against a slow second opinion, and its positions as values."""

import random

import pytest
from hypothesis import given

from domain.games.powerdrain.grid import SECTIONS, remaining_volts
from tests.games.powerdrain import reference
from tests.games.powerdrain.given import (
    OPTION_SETS,
    RULES,
    legal,
    play,
    position,
    positions,
    start,
)

# --- against the slow reference


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_drain_agree_with_the_reference(flags):
    for seed in range(15):
        rng, at = random.Random(seed), start(*flags, seed=seed)
        while RULES.outcome(at) is None:
            shown = RULES.to_json(at)
            turn = RULES.to_move(at)
            assert turn == len(shown["grid"]) % 2
            assert legal(at) == reference.legal(shown, turn)
            assert RULES.count_moves(at) == len(RULES.moves(at)) == len(legal(at))
            text = rng.choice(legal(at))
            at = play(at, text)
            after = RULES.to_json(at)
            assert after == reference.play(shown, turn, text)
            assert list(after["grid"]) == sorted(after["grid"])
            left = remaining_volts(at.left, at.top, at.grid)
            assert {SECTIONS[s]: abs(v) for s, v in left.items()} == reference.drained(after)
        assert RULES.outcome(at).winners == reference.result(RULES.to_json(at))


def turned(shown):
    """Return a position with left and top exchanged, so plugs and sections are reversed."""

    def back(plugs):
        return sorted(plug[::-1] for plug in plugs)

    grid = {at[::-1]: [plug[::-1], seat] for at, (plug, seat) in shown["grid"].items()}
    after = {"left": shown["top"], "top": shown["left"], "grid": dict(sorted(grid.items()))}
    if "pool" in shown:
        return after | {"pool": back(shown["pool"])}
    return after | {"hands": [back(hand) for hand in shown["hands"]]}


@given(positions())
def test_a_turned_grid_has_the_turned_moves_and_the_same_end(drawn):
    _, at = drawn
    other = position(turned(RULES.to_json(at)))
    assert set(legal(other)) == {f"{text[1::-1]}-{text[:2:-1]}" for text in legal(at)}
    assert RULES.outcome(other) == RULES.outcome(at)


@given(positions())
def test_edges_read_backwards_drain_alike(drawn):
    """Nothing depends on which end of an edge comes first."""
    flags, at = drawn
    if not any(flag.startswith("-o") for flag in flags):
        shown = RULES.to_json(at)
        shown["left"].reverse()
        other = position(shown)
        assert remaining_volts(other.left, other.top, other.grid) == remaining_volts(
            at.left, at.top, at.grid
        )
