"""Get a Jump On against a slow second opinion."""

import pytest

from domain.games.jump.jumps import chains
from tests.games.jump import reference
from tests.games.jump.given import (
    FAMILIES,
    legal,
    play,
    split,
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


def test_chains_are_finite_even_in_a_full_ring():
    for stones in (0, (1 << 64) - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA):
        for landing in range(64):
            found = chains(stones & ~(1 << landing), landing)
            assert len({chain[-1] for chain in found}) == len(found) <= 64
