"""The decider, given-when-then.

The decider and time that does not count: moves taken back, pauses, vacations.
"""

import pytest

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    StartMatch,
    StartVacation,
)
from domain.match.decide import decide
from domain.match.decision import Rejection
from domain.match.events import (
    Declined,
    Ended,
    MatchStarted,
    Moved,
    OfferAnswered,
    OfferMade,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Undone,
)
from domain.match.sentences import SAY
from domain.match.state import deadline, initial, next_due, position_at, position_of, positions
from domain.records import SERVER_ACCOUNT
from domain.rules import latest_rules
from tests.domain.given import FLAG, NAG, paused_match, three, two
from tests.helpers.given import (
    ALICE,
    BEGIN,
    BOARD,
    BOB,
    CAROL,
    alternating,
    history,
    pow2,
    sent,
    when,
)
from tests.helpers.sentences import in_english

STARTED = [pow2()]


def code(result: object) -> str:
    assert isinstance(result, Rejection), result
    return result.code


def test_a_challenge_starts_the_match_with_the_options_as_recorded() -> None:
    command = StartMatch(rules="pow2/1", options=("noborder", "-exact"), seats=(ALICE, BOB))
    assert when([], ALICE, command) == (
        MatchStarted(
            rules="pow2/1",
            options=("-exact", "-noborder"),
            seats=(ALICE, BOB),
            setup=None,
            next=0,
        ),
    )


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


def test_a_match_starts_once() -> None:
    assert code(when(STARTED, *pow2())) == Code.ALREADY_STARTED


@pytest.mark.parametrize(
    "command", [PlayMove(text="m13-m9"), ResignMatch(), MakeOffer(kind="draw")]
)
def test_nothing_can_be_done_before_the_start(command: Command) -> None:
    assert code(when([], ALICE, command)) == Code.UNKNOWN_BOARD


def test_a_move_is_recorded_in_its_canonical_form() -> None:
    given = [*STARTED, *alternating("m13-j7")]
    (moved,) = when(given, BOB, PlayMove(text=" A13-C11 "))
    assert moved == Moved(ply=2, seat=1, move="a13-c11", next=0)


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


def test_only_the_player_to_move_can_move() -> None:
    refused = when(STARTED, BOB, PlayMove(text="a1-a5"))
    assert in_english(refused) == Rejection(
        Code.NOT_YOUR_TURN, "you play Dark, and it is Light's turn", "a1-a5"
    )


@pytest.mark.parametrize(
    "command", [PlayMove(text="m13-m9"), ResignMatch(), MakeOffer(kind="draw"), DeclineMatch()]
)
def test_only_its_players_can_act_in_a_match(command: Command) -> None:
    assert code(when(STARTED, CAROL, command)) == Code.NOT_A_PLAYER


def test_an_illegal_move_names_the_places_and_is_logged_in_its_canonical_form() -> None:
    refused = when(STARTED, ALICE, PlayMove(text="M13-b4"))
    assert isinstance(refused, Rejection)
    assert refused.code == Code.ILLEGAL_MOVE
    assert "m13" in refused.sentence
    assert "b4" in refused.sentence
    assert refused.move == "m13-b4"


def test_an_unreadable_move_is_refused_without_a_canonical_form() -> None:
    refused = when(STARTED, ALICE, PlayMove(text="hello"))
    assert isinstance(refused, Rejection)
    assert (refused.code, refused.move) == (Code.UNREADABLE_MOVE, None)


def test_a_text_over_the_limit_is_refused_unread() -> None:
    refused = when(STARTED, ALICE, PlayMove(text="m" * 513))
    assert in_english(refused) == Rejection(
        Code.TOO_LONG, "the text has 513 characters; the limit is 512", None
    )


def test_resigning_ends_a_match_of_two_with_the_other_as_winner() -> None:
    assert when(STARTED, BOB, ResignMatch()) == (
        Resigned(seat=1),
        Ended(winners=(0,), reason="resignation"),
    )


@pytest.mark.parametrize(
    "command",
    [
        PlayMove(text="m13-m9"),
        ResignMatch(),
        MakeOffer(kind="draw"),
        AnswerOffer(accept=True),
        DeclineMatch(),
    ],
)
def test_nothing_can_be_done_in_a_match_that_is_over(command: Command) -> None:
    assert code(when([*STARTED, (BOB, ResignMatch())], ALICE, command)) == Code.MATCH_OVER


def test_a_match_can_be_declined_before_the_own_first_move() -> None:
    given = [*STARTED, *alternating("m13-m9")]
    assert when(given, BOB, DeclineMatch()) == (
        Declined(seat=1),
        Ended(winners=(), reason="declined"),
    )


def test_a_match_can_not_be_declined_later() -> None:
    given = [*STARTED, *alternating("m13-m9")]
    assert code(when(given, ALICE, DeclineMatch())) == Code.TOO_LATE


def test_a_draw_is_proposed_and_accepted() -> None:
    assert when(STARTED, ALICE, MakeOffer(kind="draw")) == (OfferMade(seat=0, kind="draw"),)
    given = [*STARTED, (ALICE, MakeOffer(kind="draw"))]
    assert when(given, BOB, AnswerOffer(accept=True)) == (
        OfferAnswered(seat=1, kind="draw", accept=True),
        Ended(winners=(0, 1), reason="agreement"),
    )


def test_proposing_what_the_other_has_proposed_is_consent() -> None:
    given = [*STARTED, (ALICE, MakeOffer(kind="draw"))]
    result = when(given, BOB, MakeOffer(kind="draw"))
    assert isinstance(result, tuple)
    assert result[-1] == Ended(winners=(0, 1), reason="agreement")


def test_a_rejected_offer_stands_no_more() -> None:
    given = [*STARTED, (ALICE, MakeOffer(kind="draw"))]
    assert when(given, BOB, AnswerOffer(accept=False)) == (
        OfferAnswered(seat=1, kind="draw", accept=False),
    )
    given.append((BOB, AnswerOffer(accept=False)))
    assert code(when(given, BOB, AnswerOffer(accept=True))) == Code.NO_OFFER


def test_an_offer_outlives_the_own_move_and_lapses_with_the_others() -> None:
    given = [*STARTED, (ALICE, MakeOffer(kind="draw")), (ALICE, PlayMove(text="m13-m9"))]
    assert not isinstance(when(given, BOB, AnswerOffer(accept=True)), Rejection)
    given.append((BOB, PlayMove(text="a13-c11")))
    assert code(when(given, BOB, AnswerOffer(accept=True))) == Code.NO_OFFER


def test_an_offer_can_not_be_repeated_or_answered_by_its_maker() -> None:
    given = [*STARTED, (ALICE, MakeOffer(kind="draw"))]
    assert code(when(given, ALICE, MakeOffer(kind="draw"))) == Code.OFFER_STANDS
    assert code(when(given, ALICE, AnswerOffer(accept=True))) == Code.NO_OFFER


def test_an_offer_is_taken_back_by_its_maker() -> None:
    given = [*STARTED, (ALICE, MakeOffer(kind="draw"))]
    assert when(given, ALICE, AnswerOffer(accept=False)) == (
        OfferAnswered(seat=0, kind="draw", accept=False),
    )
    given.append((ALICE, AnswerOffer(accept=False)))
    assert code(when(given, BOB, AnswerOffer(accept=True))) == Code.NO_OFFER


def test_an_answer_needs_an_offer() -> None:
    assert code(when(STARTED, BOB, AnswerOffer(accept=True))) == Code.NO_OFFER


def test_what_can_not_be_proposed_is_refused() -> None:
    assert code(when(STARTED, ALICE, MakeOffer(kind="tea"))) == Code.UNKNOWN_OFFER


BACK_AND_FORTH = ["m13-j7", "a13-c11", "j7-m13", "c11-a13"]


def test_a_draw_is_granted_at_once_when_the_position_stands_for_the_third_time() -> None:
    given = [*STARTED, *alternating(*BACK_AND_FORTH * 2)]
    assert when(given, ALICE, MakeOffer(kind="draw")) == (
        OfferMade(seat=0, kind="draw"),
        Ended(winners=(0, 1), reason="repetition"),
    )


def test_a_position_that_stands_for_the_second_time_grants_nothing() -> None:
    given = [*STARTED, *alternating(*BACK_AND_FORTH)]
    assert when(given, ALICE, MakeOffer(kind="draw")) == (OfferMade(seat=0, kind="draw"),)


def test_the_same_command_on_the_same_state_gives_the_same_bytes() -> None:
    turns = [*STARTED, *alternating("m13-m9", "a13-c11"), (ALICE, ResignMatch())]
    assert history(turns) == history(turns)


def test_the_state_replays_every_position() -> None:
    _, snapshot = history([*STARTED, *alternating("m13-m9", "a13-c11")])
    state = snapshot.state
    rules = latest_rules("pow2")
    start = rules.start(rules.read_options(()), 2, None)
    assert position_at(state, 0) == start
    assert positions(state)[-1] == position_of(state) == position_at(state, 2)
    assert state.first_moves(1) == ["m13-m9"]


def test_a_match_that_has_not_started_is_neither_started_nor_over() -> None:
    state = initial()
    assert not state.started
    assert not state.over
    decision = decide(sent(ALICE, ResignMatch()), state)
    assert in_english(decision) == Rejection(Code.UNKNOWN_BOARD, "there is no such match")
    assert BOARD == 1


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
