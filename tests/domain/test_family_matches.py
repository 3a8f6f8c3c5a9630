"""What goliath and line bring into a match: counts that are agreed to, and passes on record."""

from domain.errors import Code
from domain.match.commands import AnswerOffer, MakeOffer, PlayMove, StartMatch
from domain.match.decision import Rejection
from domain.match.events import Ended, OfferAnswered, OfferMade
from tests.helpers.given import ALICE, BOB, alternating, when

SEPARATED = "m13-a13:b10 a1-b4:f11 a13-e11:a13 b4-c6:e9 e11-d10:g13 c6-g4:i3 d10-c11:d10"
"""David has 3 intersections left, Goliath 52, who is to move."""
NINETEEN = (
    "b4 m13 k5 d10 g4 d12 f3 i1 e7 h8 f6 i7 c3 i11 e3 j10 d4 c11 e5 j12 a5 k3 c5 k8 c6 k11 d7 k9 d2"
    " g10 k6"
)


def started(key, *options):
    return (ALICE, StartMatch(rules=f"{key}/1", options=options, seats=(ALICE, BOB)))


def match(moves, key="goliath", *options):
    return [started(key, *options), *alternating(*moves.split())]


def refusal(result):
    assert isinstance(result, Rejection), result
    return result.code, result.sentence


def test_a_count_that_is_agreed_to_ends_the_match_for_the_larger_region():
    given = match(SEPARATED)
    assert when(given, ALICE, MakeOffer(kind="count")) == (OfferMade(seat=0, kind="count"),)
    given.append((ALICE, MakeOffer(kind="count")))
    assert when(given, BOB, AnswerOffer(accept=True)) == (
        OfferAnswered(seat=1, kind="count", accept=True),
        Ended(winners=(1,), reason="larger-region"),
    )


def test_a_count_is_refused_while_the_figures_are_joined_and_in_other_games():
    assert refusal(when(match("m13-h8:i9"), ALICE, MakeOffer(kind="count"))) == (
        Code.NO_OFFER,
        "a count can only be proposed while stones separate David and Goliath",
    )
    code, _ = refusal(when(match("a1", "line"), ALICE, MakeOffer(kind="count")))
    assert code == Code.UNKNOWN_OFFER


def test_a_pass_in_line_shows_in_the_record_as_the_same_player_next():
    """Light finds no room after Dark's h6 and is passed three times; Dark ends the match."""
    given = match(NINETEEN, "line")
    for text in ("h6", "i13", "m9"):
        [moved] = when(given, BOB, PlayMove(text=text))
        assert (moved.seat, moved.next) == (1, 1)
        given.append((BOB, PlayMove(text=text)))
    [moved, ended] = when(given, BOB, PlayMove(text="l10"))
    assert (moved.next, ended) == (None, Ended(winners=(1,), reason="more-stones"))
