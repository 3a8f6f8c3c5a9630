"""The decider and time that does not count: moves taken back, pauses, vacations."""

import pytest

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    EndVacation,
    FlagPlayer,
    MakeOffer,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    StartVacation,
)
from domain.match.events import (
    SERVER_ACCOUNT,
    OfferAnswered,
    OfferMade,
    Paused,
    Resumed,
    Returned,
    Undone,
)
from domain.match.state import deadline, next_due
from tests.domain.clocks_given import FLAG, NAG, paused_match, three, two
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL

# --- taking back


def test_taking_back_gives_the_time_back_and_begins_a_turn() -> None:
    match = two("--bank=5", "--nagtime=2")
    match.play("m13-m9", at=BEGIN + 3 * DAY)
    match.play("a13-c11", at=BEGIN + 4 * DAY)
    assert deadline(match.state) == BEGIN + 6 * DAY  # Light has 2 of 5 days left
    match.do(ALICE, MakeOffer(kind="undo"), BEGIN + 5 * DAY)
    assert match.do(BOB, AnswerOffer(accept=True), BEGIN + 5 * DAY) == (
        OfferAnswered(seat=1, kind="undo", accept=True),
        Undone(ply=0, next=0),
    )
    assert next_due(match.state) == BEGIN + 7 * DAY
    assert deadline(match.state) == BEGIN + 10 * DAY
    assert match.state.ply == 0
    match.holds()


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


@pytest.mark.parametrize(("actor", "seat"), [(ALICE, 0), (BOB, 1)])
def test_either_player_ends_a_pause(actor: bytes, seat: int) -> None:
    match = paused_match()
    assert match.do(actor, ResumeMatch(), FLAG) == (Resumed(seat=seat),)
    assert match.refuses(actor, ResumeMatch(), FLAG) == Code.NOT_PAUSED
    assert next_due(match.state) == FLAG + DAY
    match.holds()


def test_only_a_match_that_is_paused_goes_on_again() -> None:
    match = two()
    assert match.refuses(ALICE, ResumeMatch()) == Code.NOT_PAUSED
    match.do(ALICE, MakeOffer(kind="pause"))
    assert match.refuses(BOB, ResumeMatch()) == Code.NOT_PAUSED
    match.do(BOB, AnswerOffer(accept=False))
    assert match.refuses(BOB, ResumeMatch()) == Code.NOT_PAUSED
    assert next_due(match.state) == NAG


def test_a_pause_that_has_been_proposed_or_agreed_can_not_be_proposed_again() -> None:
    match = two()
    match.do(ALICE, MakeOffer(kind="pause"))
    assert match.refuses(ALICE, MakeOffer(kind="pause")) == Code.OFFER_STANDS
    for actor in (ALICE, BOB):
        assert paused_match().refuses(actor, MakeOffer(kind="pause"), FLAG) == Code.UNKNOWN_OFFER


def test_a_pause_that_was_agreed_is_no_offer_any_more() -> None:
    match = paused_match()
    assert match.state.offer is None
    assert match.refuses(ALICE, AnswerOffer(accept=True)) == Code.NO_OFFER
    assert match.do(ALICE, MakeOffer(kind="draw")) == (OfferMade(seat=0, kind="draw"),)
    match.do(BOB, AnswerOffer(accept=False))
    match.do(BOB, ResumeMatch(), FLAG)
    assert match.do(BOB, MakeOffer(kind="pause"), FLAG) == (OfferMade(seat=1, kind="pause"),)
    match.holds()


def test_a_proposed_pause_lapses_with_a_move_also_of_its_maker() -> None:
    match = two()
    match.do(ALICE, MakeOffer(kind="pause"))
    match.play("m13-m9")
    assert match.refuses(BOB, AnswerOffer(accept=True)) == Code.NO_OFFER


def test_all_three_have_to_agree_to_a_pause_but_not_those_who_left() -> None:
    match = three()
    match.do(ALICE, MakeOffer(kind="pause"))
    assert match.do(BOB, AnswerOffer(accept=True)) == (
        OfferAnswered(seat=1, kind="pause", accept=True),
    )
    assert next_due(match.state) == NAG
    assert match.do(CAROL, AnswerOffer(accept=True))[-1] == Paused()
    assert next_due(match.state) == 0
    match.do(CAROL, ResumeMatch(), FLAG)
    match.do(CAROL, ResignMatch(), FLAG)
    match.do(ALICE, MakeOffer(kind="pause"), FLAG)
    assert match.do(BOB, AnswerOffer(accept=True), FLAG)[-1] == Paused()
    match.holds()


# --- vacations


def test_a_vacation_is_not_cut_short_in_the_past() -> None:
    match = two()
    match.do(ALICE, StartVacation(until=BEGIN + 11 * DAY), BEGIN + DAY)
    now = BEGIN + 9 * DAY
    assert match.do(ALICE, EndVacation(until=BEGIN), now) == (Returned(seat=0, until=now),)
    assert deadline(match.state) == now + 4 * DAY
    match.holds()


def test_a_player_can_neither_leave_nor_come_back_for_another() -> None:
    match = two()
    match.do(BOB, StartVacation(until=FLAG + DAY))
    match.do(ALICE, EndVacation(until=BEGIN + 9))
    match.play("m13-m9")
    assert deadline(match.state) == FLAG + 6 * DAY
    for command in (StartVacation(until=FLAG), EndVacation(until=FLAG)):
        assert match.refuses(CAROL, command) == Code.NOT_A_PLAYER
        assert match.refuses(SERVER_ACCOUNT, command) == Code.NOT_A_PLAYER


def test_a_vacation_that_would_be_over_already_is_none() -> None:
    match = two()
    assert match.refuses(ALICE, StartVacation(until=BEGIN + DAY), BEGIN + DAY) == Code.TOO_LATE
    assert match.do(ALICE, StartVacation(until=BEGIN + DAY + 1), BEGIN + DAY)
    assert deadline(match.state) == FLAG + 1
