"""Brackets of 2 to 130 players, ties of several matches, and third place."""

import pytest

from domain.tournament.knockout import (
    first_round,
    next_round,
    tie_matches,
    tie_score,
)
from domain.tournament.results import USUAL_POINTS, PairResult, ScheduledMatch

BETTER_WINS = min


def rounds_of(players, winner=BETTER_WINS):
    """All rounds of a bracket; `winner` picks who goes on of two."""
    ties = first_round(players)
    rounds = [ties]
    while len(ties) > 1:
        ties = next_round([one if other is None else winner((one, other)) for one, other in ties])
        rounds.append(ties)
    return rounds


@pytest.mark.parametrize("players", range(2, 131))
def test_byes_go_to_the_first_and_the_better_meet_as_late_as_they_can(players):
    rounds = rounds_of(players)
    (first, *_) = rounds
    named = [player for tie in first for player in tie if player is not None]
    assert sorted(named) == list(range(players))
    byes = sorted(one for one, other in first if other is None)
    assert byes == list(range(2 * len(first) - players))
    assert all(other is None or one < other for one, other in first)
    for left, ties in enumerate(reversed(rounds), 1):
        # the final has the first two, the semifinals the first four, and so on
        there = sorted(player for tie in ties for player in tie if player is not None)
        assert there == list(range(min(players, 2**left)))
        if left < len(rounds):
            assert all(one + other == 2**left - 1 for one, other in ties)


def score(tie, *results):
    matches = [
        ScheduledMatch(*pair, PairResult(result) if result else None)
        for pair, result in zip(tie_matches(tie, len(results)), results, strict=True)
    ]
    return tuple(tie_score(tie, matches, USUAL_POINTS))


@pytest.mark.parametrize(
    ("results", "winner", "drawn"),
    [
        (["1-0"], 4, False),
        (["-+"], 7, False),
        ([None], None, False),
        (["1/2"], None, True),
        (["--"], None, True),
        (["1-0", "0-1"], 4, False),
        (["1-0", "1-0"], None, True),
        (["1-0", None], None, False),
        (["1-0", None, None], None, False),
        (["1-0", "0-1", None], 4, False),
        (["1/2", "1-0", None], None, False),
        (["1/2", "1-0", "1/2"], 7, False),
        ([], None, False),
    ],
)
def test_a_tie_is_won_as_soon_as_the_other_cannot_catch_up(results, winner, drawn):
    assert score((4, 7), *results) == (winner, drawn)


def test_a_bye_is_won_without_a_match():
    assert tuple(tie_score((2, None), [], USUAL_POINTS)) == (2, False)
