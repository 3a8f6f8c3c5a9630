"""A ladder says why somebody can't be challenged, and who stands where after wins and silence."""

import random

import pytest

from domain.clocks.time_control import DAY
from domain.tournament.form_terms import LadderTerms
from domain.tournament.ladder import LadderMatch, after_silence, after_win, why_not
from infra.languages.wording import wording

RULES = LadderTerms(reach=2, running=2, rest=7, insertion=True, silence=30, drop=2)
ORDER = [5, 3, 8, 1, 7, 2]
NOW = 1_000 * DAY


def reasons(challenger, challenged, *matches, rules=RULES):
    """Why a challenge isn't possible, in English and German; None if it is."""
    why = why_not(rules, ORDER, matches, challenger, challenged, NOW)
    return why and (str(why), why.in_language(wording("de")))


@pytest.mark.parametrize(
    ("challenger", "challenged", "said", "german"),
    [
        (3, 3, "nobody can challenge themselves", "niemand kann sich selbst herausfordern"),
        (
            3,
            9,
            "only players of the ladder can challenge and be challenged",
            "herausfordern und herausgefordert werden können nur Spieler der Rangliste",
        ),
        (
            3,
            8,
            "only players above can be challenged",
            "herausgefordert werden können nur Spieler, die weiter oben stehen",
        ),
        (
            1,
            5,
            "only players up to 2 places above can be challenged, and this is 3 places above",
            "herausgefordert werden können nur Spieler bis zu 2 Plätze weiter oben, und hier sind es 3",
        ),
    ],
)
def test_places_decide_who_may_be_challenged(challenger, challenged, said, german):
    assert reasons(challenger, challenged) == (said, german)


def test_a_player_a_few_places_above_may_be_challenged():
    assert reasons(8, 5) is reasons(3, 5) is reasons(2, 1) is None


def test_matches_that_run_are_counted_on_both_sides():
    running = [LadderMatch(1, 8), LadderMatch(7, 1), LadderMatch(1, 5, ended=0)]
    assert reasons(1, 8, *running)[0] == "a match of these two is running on the ladder already"
    assert reasons(8, 3, *running) is None
    assert reasons(1, 3, *running) == (
        "the challenger has 2 matches running, the most that the ladder allows",
        "der Herausforderer spielt schon 2 Partien in der Rangliste; mehr sind nicht erlaubt",
    )
    assert reasons(2, 1, *running) == (
        "this player has 2 matches running, the most that the ladder allows",
        "dieser Spieler spielt schon 2 Partien in der Rangliste; mehr sind nicht erlaubt",
    )
    three = LadderTerms(reach=2, running=3, rest=0, insertion=True, silence=1, drop=0)
    assert reasons(2, 1, *running, rules=three) is None


@pytest.mark.parametrize(
    ("ended", "days"),
    [
        (NOW, 7),
        (NOW - 1, 7),
        (NOW - DAY, 6),
        (NOW - 7 * DAY + 1, 1),
        (NOW - 7 * DAY, None),
        (0, None),
    ],
)
def test_the_same_two_rest_after_their_last_match(ended, days):
    older = LadderMatch(3, 5, ended=NOW - 40 * DAY)
    for match in (LadderMatch(3, 5, ended=ended), LadderMatch(5, 3, ended=ended)):
        why = reasons(3, 5, match, older)
        if days is None:
            assert why is None
            continue
        many = "days" if days > 1 else "day"
        assert (
            why[0]
            == f"the last match of these two is too recent; the next is possible in {days} {many}"
        )
        assert why[1].endswith(
            f"die nächste ist in {days} {'Tagen' if days > 1 else 'Tag'} möglich"
        )
        assert reasons(8, 5, match) is None


def test_a_win_takes_the_place_or_swaps():
    assert after_win(ORDER, 1, 5, insertion=True) == [1, 5, 3, 8, 7, 2]
    assert after_win(ORDER, 1, 5, insertion=False) == [1, 3, 8, 5, 7, 2]
    assert after_win(ORDER, 3, 5, insertion=True) == after_win(ORDER, 3, 5, insertion=False)


@pytest.mark.parametrize("insertion", [True, False])
def test_a_win_changes_nothing_for_one_who_is_above_by_then_or_has_left(insertion):
    assert after_win(ORDER, 5, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 9, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 1, 9, insertion=insertion) == ORDER


def test_the_silent_drop_some_places_or_to_the_bottom():
    seen = dict.fromkeys(ORDER, NOW)
    assert after_silence(ORDER, seen, RULES, NOW) == ORDER
    silent = seen | {3: NOW - 30 * DAY}
    assert after_silence(ORDER, silent, RULES, NOW) == [5, 8, 1, 3, 7, 2]
    assert after_silence(ORDER, seen | {3: NOW - 30 * DAY + 1}, RULES, NOW) == ORDER
    bottom = LadderTerms(reach=2, running=2, rest=0, insertion=True, silence=30, drop=0)
    assert after_silence(ORDER, silent | {8: 0}, bottom, NOW) == [5, 1, 7, 2, 3, 8]
    assert after_silence(ORDER, silent | {2: 0, 7: 0}, RULES, NOW) == [5, 8, 1, 3, 7, 2]


def test_the_silent_keep_their_order_and_none_of_the_others_drops():
    chance = random.Random(11)
    for _ in range(500):
        order = chance.sample(range(30), chance.randrange(1, 12))
        seen = {player: NOW - chance.choice([0, 40]) * DAY for player in order}
        rules = LadderTerms(2, 2, 0, chance.random() < 0.5, 30, chance.randrange(4))
        new = after_silence(order, seen, rules, NOW)
        assert sorted(new) == sorted(order)
        for silent in (True, False):
            own = [player for player in order if (seen[player] < NOW) == silent]
            assert [player for player in new if player in own] == own
        assert all(
            new.index(player) <= order.index(player) for player in order if seen[player] == NOW
        )
