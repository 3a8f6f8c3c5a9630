"""A recorded Swiss round is checked against the rules that the tournament names, in both languages."""

from fractions import Fraction

import pytest

from domain.errors import Code, Refusal
from domain.tournament.swiss import SwissRound, SwissRules, check_round
from infra.languages.wording import wording

EARLIER = [
    SwissRound(((0, 2), (3, 1)), (4,)),
    SwissRound(((0, 3), (4, 2)), (1,)),
]
FIELD = [0, 1, 2, 3, 4]
POINTS = [Fraction(2), Fraction(2), Fraction(0), Fraction(1, 2), Fraction(3, 2)]
GOOD = SwissRound(((1, 0), (3, 4)), (2,))


def problem(pairs, byes=(), rules=None, field=FIELD, earlier=EARLIER):
    """The refusal of a round; None if it obeys the rules."""
    refusal = None
    try:
        check_round(SwissRound(pairs, byes), earlier, field, POINTS, rules or SwissRules())
    except Refusal as caught:
        refusal = caught
    if refusal is None:
        return None
    assert refusal.code is Code.BAD_TOURNAMENT
    assert refusal.in_language(wording("de")) != refusal.sentence
    return refusal.sentence


@pytest.mark.parametrize(
    ("pairs", "byes", "said"),
    [
        (((1, 0), (3, 5)), (2,), "player 5 doesn't take part in this round"),
        (((1, 0), (3, 0)), (2,), "player 0 is in this round twice"),
        (((1, 1), (3, 4)), (2,), "player 1 is in this round twice"),
        (((1, 0), (3, 4)), (4,), "player 4 is in this round twice"),
        (((1, 0), (3, 4)), (), "player 2 is missing in this round"),
        (((1, 0),), (2, 3, 4), "5 players take part, and the number of byes is 3"),
        (((2, 1), (0, 3)), (4,), "player 4 has had a bye already"),
        (((1, 4), (3, 0)), (2,), "players 3 and 0 have met already"),
    ],
)
def test_a_round_that_breaks_a_rule_is_refused_with_the_player_concerned(pairs, byes, said):
    assert problem(pairs, byes) == said


def test_players_of_a_pair_may_be_so_many_points_apart():
    assert problem(*GOOD_PARTS, SwissRules(most_apart=Fraction(1))) is None
    said = problem(*GOOD_PARTS, SwissRules(most_apart=Fraction(1, 2)))
    assert said == "players 3 and 4 are more than 1/2 apart in points"


GOOD_PARTS = GOOD.pairs, GOOD.byes


def test_the_same_side_comes_at_most_twice_in_a_row_also_over_a_bye():
    # 0 was first twice; 3 was first, second
    said = problem(((0, 1), (3, 4)), (2,))
    assert said == "player 0 has had one side 3 times more than the other"
    loose = SwissRules(most_uneven=None)
    assert problem(((0, 1), (3, 4)), (2,), loose) == "player 0 has the same side 3 times in a row"
    assert problem(((0, 1), (3, 4)), (2,), SwissRules(most_uneven=None, most_in_a_row=None)) is None
    over_a_bye = [
        SwissRound(((0, 1),), (2,)),
        SwissRound(((0, 2),), (1,)),
        SwissRound(((1, 2),), (0,)),
    ]
    said = problem(
        ((0, 1), (2, 3)), (), SwissRules(rematches=True, most_uneven=4), range(4), over_a_bye
    )
    assert said == "player 0 has the same side 3 times in a row"
