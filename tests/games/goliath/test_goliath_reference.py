"""David and Goliath against a slow second opinion, and its positions as values."""

import pytest

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
    random_game,
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
