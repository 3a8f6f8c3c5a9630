"""Brackets of 2 to 130 players, ties of several matches, and third place."""

from collections import Counter
from itertools import combinations

import pytest

from domain.tournament import knockout
from domain.tournament.results import USUAL_POINTS, PairResult, ScheduledMatch
from domain.tournament.schedule import round_robin
from domain.tournament.sections import split_sections
from domain.tournament.threes import next_threes

BETTER_WINS = min


def rounds_of(players, winner=BETTER_WINS):
    """All rounds of a bracket; `winner` picks who goes on of two."""
    ties = knockout.first_round(players)
    rounds = [ties]
    while len(ties) > 1:
        ties = knockout.next_round(
            [one if other is None else winner((one, other)) for one, other in ties]
        )
        rounds.append(ties)
    return rounds


@pytest.mark.parametrize("players", [*range(2, 18), 31, 32, 33, 64, 65, 100, 130])
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
        for pair, result in zip(knockout.tie_matches(tie, len(results)), results, strict=True)
    ]
    return tuple(knockout.tie_score(tie, matches, USUAL_POINTS))


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
    assert tuple(knockout.tie_score((2, None), [], USUAL_POINTS)) == (2, False)


# --- schedules: Berger's tables, groups of three, and the split into sections


SIZES = [*range(2, 16), 16, 31, 50, 101]


@pytest.mark.parametrize("players", SIZES)
def test_each_pair_meets_once_and_nobody_is_twice_in_a_round(players):
    rounds = round_robin(players)
    assert len(rounds) == players - 1 + players % 2
    for matches in rounds:
        here = [player for pair in matches for player in pair]
        assert len(here) == len(set(here)) == players - players % 2
        assert [min(pair) for pair in matches] == sorted(min(pair) for pair in matches)
    met = [frozenset(pair) for matches in rounds for pair in matches]
    assert sorted(map(sorted, met)) == [list(pair) for pair in combinations(range(players), 2)]


def played_threes(players, rounds):
    """The groups of each round, with the number of pairs in it that had met before."""
    earlier, repeated = [], []
    for _ in range(rounds):
        groups, resting = next_threes(range(players), earlier)
        here = sorted([player for group in groups for player in group] + resting)
        assert here == list(range(players))
        assert len(resting) == players % 3
        met = {frozenset(pair) for group in earlier for pair in combinations(group, 2)}
        repeated.append(
            sum(frozenset(pair) in met for group in groups for pair in combinations(group, 2))
        )
        earlier += groups
    return earlier, repeated


@pytest.mark.parametrize(
    ("players", "rounds"),
    [(3, 1), (5, 2), (7, 1), (8, 2), (9, 4), (12, 4), (15, 5), (24, 8), (60, 8)],
)
def test_threes_have_no_company_twice_for_as_many_rounds_as_are_usual(players, rounds):
    assert played_threes(players, rounds)[1] == [0] * rounds


def fewest(players, met):
    """The fewest repeated pairs of all groups of these players, by trying all."""
    if not players:
        return 0
    first, *others = players
    return min(
        sum(frozenset(pair) in met for pair in combinations((first, *two), 2))
        + fewest([one for one in others if one not in two], met)
        for two in combinations(others, 2)
    )


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7, 9])
def test_a_round_of_few_players_has_the_fewest_repeated_pairs_that_it_can(players):
    earlier, some = [], 0
    for _ in range(6):
        met = {frozenset(pair) for group in earlier for pair in combinations(group, 2)}
        groups, resting = next_threes(range(players), earlier)
        repeated = sum(
            frozenset(pair) in met for group in groups for pair in combinations(group, 2)
        )
        assert repeated == fewest([one for one in range(players) if one not in resting], met)
        some += repeated > 0
        earlier += groups
    assert some > 0


def test_nobody_sits_out_again_before_all_have():
    for players in (4, 5, 7, 10):
        earlier, rested = [], Counter()
        for _ in range(players + 3):
            groups, resting = next_threes(range(players), earlier)
            rested.update(resting)
            earlier += groups
            assert max(rested.values()) - min(rested[one] for one in range(players)) <= 1
    assert next_threes([], []) == ([], [])
    assert next_threes([4, 2], []) == ([], [2, 4])


@pytest.mark.parametrize("size", range(3, 16))
def test_sections_are_even_in_size_and_within_bounds(size):
    for entrants in range(3, 80):
        sections = split_sections(entrants, size)
        sizes = [len(section) for section in sections]
        assert sorted(player for section in sections for player in section) == list(range(entrants))
        assert max(sizes) - min(sizes) <= 1
        assert min(sizes) >= 3
        assert max(sizes) <= max(size, 5)
        assert max(sizes) <= size or entrants // 3 == len(sections)
        # the best of each section are the first players, and strengths differ by less than a row
        assert [section[0] for section in sections] == list(range(len(sections)))
        assert all(section == sorted(section) for section in sections)


@pytest.mark.parametrize(("entrants", "size"), [(2, 3), (0, 3), (9, 2), (20, 16)])
def test_no_section_has_fewer_than_three_or_more_than_fifteen(entrants, size):
    with pytest.raises(ValueError, match="no sections of"):
        split_sections(entrants, size)
