"""The decider, given-when-then.

The decider and time that does not count: moves taken back, pauses, vacations.
"""

import pytest

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResumeMatch,
    StartMatch,
)
from domain.match.decision import Rejection
from domain.match.events import (
    Ended,
    OfferAnswered,
    OfferMade,
    Paused,
    Resumed,
)
from domain.match.sentences import SAY
from domain.match.state import deadline, next_due
from domain.records import SERVER_ACCOUNT
from tests.domain.given import FLAG, NAG, two
from tests.helpers.given import (
    ALICE,
    BEGIN,
    BOB,
    CAROL,
    alternating,
    pow2,
    when,
)
from tests.helpers.sentences import in_english

STARTED = [pow2()]


def code(result: object) -> str:
    assert isinstance(result, Rejection), result
    return result.code


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (StartMatch(rules="pow2/9", options=(), seats=(ALICE, BOB)), Code.UNKNOWN_RULES),
        (StartMatch(rules="pow2/1", options=("-slow",), seats=(ALICE, BOB)), Code.UNKNOWN_OPTION),
        (StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB, CAROL)), Code.BAD_PLAYERS),
        (StartMatch(rules="pow2/1", options=(), seats=(ALICE, ALICE)), Code.BAD_PLAYERS),
    ],
)
def test_a_challenge_that_makes_no_sense_is_refused(command: StartMatch, expected: Code) -> None:
    assert code(when([], ALICE, command)) == expected


def test_a_move_may_name_the_ply_it_answers() -> None:
    assert not isinstance(when(STARTED, ALICE, PlayMove(text="m13-m9", ply=0)), Rejection)
    refused = when(STARTED, ALICE, PlayMove(text="m13-m9", ply=3))
    assert in_english(refused) == Rejection(
        Code.STALE_PLY,
        "the match has moved on in the meantime; `#3` was meant, and it is now at `#0`",
        "m13-m9",
    )
    later = [*STARTED, *alternating("m13-m9", "a13-c11")]
    assert code(when(later, ALICE, PlayMove(text="m9-m13", ply=0))) == Code.STALE_PLY
    again = PlayMove(text="m13-m9", ply=0)
    assert when(later, ALICE, again).text == SAY("played-already")
    assert when(later, BOB, again).text == SAY("stale", meant=0, ply=2)


def test_an_illegal_move_names_the_places_and_is_logged_in_its_canonical_form() -> None:
    refused = when(STARTED, ALICE, PlayMove(text="M13-b4"))
    assert isinstance(refused, Rejection)
    assert refused.code == Code.ILLEGAL_MOVE
    assert "m13" in refused.sentence
    assert "b4" in refused.sentence
    assert refused.move == "m13-b4"


BACK_AND_FORTH = ["m13-j7", "a13-c11", "j7-m13", "c11-a13"]


def test_a_draw_is_granted_at_once_when_the_position_stands_for_the_third_time() -> None:
    given = [*STARTED, *alternating(*BACK_AND_FORTH * 2)]
    assert when(given, ALICE, MakeOffer(kind="draw")) == (
        OfferMade(seat=0, kind="draw"),
        Ended(winners=(0, 1), reason="repetition"),
    )


# --- pauses


def test_a_pause_that_is_agreed_stops_the_clock_and_puts_the_deadline_off_by_as_much() -> None:
    match = two()
    match.do(BOB, MakeOffer(kind="pause"), BEGIN + DAY)
    assert (next_due(match.state), deadline(match.state)) == (NAG, FLAG)  # proposing stops nothing
    assert match.do(ALICE, AnswerOffer(accept=True), BEGIN + DAY + 7) == (
        OfferAnswered(seat=0, kind="pause", accept=True),
        Paused(),
    )
    assert (next_due(match.state), deadline(match.state)) == (0, None)
    for command in (RemindPlayer(), FlagPlayer()):
        assert match.refuses(SERVER_ACCOUNT, command, FLAG + 99 * DAY) == Code.TOO_EARLY
    assert match.do(ALICE, ResumeMatch(), FLAG + 99 * DAY + 7) == (Resumed(seat=0),)
    paused = FLAG + 99 * DAY - BEGIN - DAY
    assert (next_due(match.state), deadline(match.state)) == (NAG + paused, FLAG + paused)
    match.holds()
