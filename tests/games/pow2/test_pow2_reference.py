"""The Power of Two against a slow second opinion, and its positions as values."""

import pytest

from tests.games.pow2 import reference
from tests.games.pow2.given import (
    OPTION_SETS,
    board,
    legal,
    play,
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
