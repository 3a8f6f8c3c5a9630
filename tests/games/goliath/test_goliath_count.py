"""David and Goliath: regions, and when they are counted."""

import pytest

from domain.errors import Code, Refusal
from tests.games import playing
from tests.games.goliath import reference
from tests.games.goliath.given import (
    BESIEGED,
    BOTH_SHUT,
    DAVID,
    GOLIATH,
    REUSING,
    RULES,
    SHUT,
    WALLED,
    board,
    pieces,
    play,
    position,
)


def regions(at):
    return [reference.region(board(at), seat)[0] for seat in (DAVID, GOLIATH)]


@pytest.mark.parametrize(
    ("shown", "sizes"), [(WALLED, (1, 55)), (SHUT, (0, 57)), (BOTH_SHUT, (0, 0))]
)
def test_a_count_can_be_proposed_while_stones_separate_the_figures(shown, sizes):
    for seat in (DAVID, GOLIATH):
        at = position(shown, seat)
        RULES.check_offer(at, "count")
        assert tuple(map(len, regions(at))) == sizes


@pytest.mark.parametrize("shown", [pieces("m13", "a1"), BESIEGED, REUSING])
def test_a_count_is_refused_while_the_figures_are_not_separated(shown):
    with pytest.raises(Refusal) as refusal:
        RULES.check_offer(position(shown, DAVID), "count")
    assert refusal.value.code is Code.NO_OFFER
    assert refusal.value.sentence == (
        "a count can only be proposed while stones separate David and Goliath"
    )


def test_a_count_is_refused_with_the_option_that_counts_anyway():
    with pytest.raises(Refusal, match="with -count the regions are counted") as refusal:
        RULES.check_offer(position(BOTH_SHUT, DAVID, "-count"), "count")
    assert refusal.value.code is Code.NO_OFFER


def test_count_is_the_offer_the_game_has_of_its_own():
    assert RULES.offers == ("count",)


def test_a_count_agreed_to_is_won_by_the_larger_region():
    outcome = RULES.outcome_by_offer(position(WALLED, DAVID), "count")
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"


def test_a_region_of_one_intersection_is_told_as_one():
    walled = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7 a5 b4 c3 d2 e1")
    outcome = RULES.outcome_by_offer(position(walled, DAVID), "count")
    assert (outcome.winners, outcome.detail) == (
        (DAVID,),
        "David has the larger region, 1 intersection to 0",
    )


def test_equal_regions_play_on():
    assert RULES.outcome_by_offer(position(BOTH_SHUT, DAVID), "count") is None


def test_with_count_the_larger_region_wins_at_once():
    before = pieces("m13", "a5", "i13 j12 k11 l10", "k9")
    after = play(position(before, GOLIATH, "-count"), "a5-a1:m7")
    outcome = playing.over(RULES, after)
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "larger-region")
    assert outcome.detail == "Goliath has the larger region, 55 intersections to 1"
    same = play(position(before, GOLIATH), "a5-a1:m7")
    assert RULES.outcome(same) is None


def test_with_count_regions_are_judged_before_stuckness():
    """Goliath, to move, is shut in, but so is David, in the smaller region."""
    shown = pieces("m13", "a1", "i13 j12 k11 l10", "k9 m7 a5 b4 c3 d2 e1")
    assert RULES.outcome(position(shown, GOLIATH, "-count")).reason == "larger-region"
    assert RULES.outcome(position(shown, GOLIATH)).reason == "no-move"
    wide = RULES.outcome(position(SHUT, DAVID, "-count"))
    assert (wide.winners, wide.reason) == ((GOLIATH,), "larger-region")


def test_with_count_equal_regions_are_played_on():
    outcome = RULES.outcome(position(BOTH_SHUT, DAVID, "-count"))
    assert (outcome.winners, outcome.reason) == ((GOLIATH,), "no-move")
