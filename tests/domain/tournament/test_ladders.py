"""A ladder says why somebody can't be challenged, and who stands where after wins and silence."""

import pytest

from domain.clocks.time_control import DAY
from domain.tournament.form_terms import LadderTerms
from domain.tournament.ladder import LadderMatch, after_win, why_not
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


@pytest.mark.parametrize("insertion", [True, False])
def test_a_win_changes_nothing_for_one_who_is_above_by_then_or_has_left(insertion):
    assert after_win(ORDER, 5, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 9, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 1, 9, insertion=insertion) == ORDER
