"""The decider and time: reminders, flags, what comes too late, and when a clock begins."""

import pytest
from msgspec.structs import replace

from domain.clocks.time_control import DAY, read_time_control
from domain.errors import Code
from domain.match.audit import verify
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
    StartVacation,
)
from domain.match.decision import Rejection
from domain.match.events import Absent, Declined, Ended, Flagged, MatchStarted, Moved, Nagged
from domain.match.history import BrokenHistory
from domain.match.state import deadline, next_due, position_of, reminder_is_due
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from tests.domain.given import FLAG, NAG, TERMS, three, two
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge, pow2
from tests.helpers.sentences import in_english

ACTS = [
    PlayMove(text="m13-m9"),
    MakeOffer(kind="draw"),
    AnswerOffer(accept=True),
    DeclineMatch(),
    ResumeMatch(),
    StartVacation(until=FLAG + 9 * DAY),
    EndVacation(until=FLAG + 9 * DAY),
]
"""All that a player can ask for in a match that runs, but to resign."""


def plays_on(match: Match, at: int) -> Moved:
    """Play the first legal move at a time."""
    rules = rules_by_id(match.state.rules)
    (moved,) = match.play(next(rules.legal_moves(position_of(match.state))), at=at)
    assert isinstance(moved, Moved)
    return moved


# --- reminders


@pytest.mark.parametrize("command", [RemindPlayer(), FlagPlayer()])
@pytest.mark.parametrize("actor", [ALICE, BOB, CAROL])
def test_only_the_server_reminds_and_flags(actor: bytes, command: Command) -> None:
    match = two()
    assert match.refuses(actor, command, FLAG) == Code.NOT_A_PLAYER
    assert next_due(match.state) == NAG


def test_a_reminder_that_was_held_up_until_the_flag_falls_is_not_sent() -> None:
    match = two()
    assert reminder_is_due(match.state, FLAG - 1)
    assert not reminder_is_due(match.state, FLAG)
    assert match.refuses(SERVER_ACCOUNT, RemindPlayer(), FLAG) == Code.TIME_OVER
    assert match.do(SERVER_ACCOUNT, RemindPlayer(), FLAG - 1) == (Nagged(seat=0),)
    assert not reminder_is_due(match.state, FLAG - 1)
    match.holds()


def test_a_reminder_and_a_vacation_leave_a_proposal_standing() -> None:
    match = two()
    match.do(BOB, MakeOffer(kind="draw"))
    match.do(SERVER_ACCOUNT, RemindPlayer(), NAG)
    match.do(ALICE, StartVacation(until=FLAG), NAG)
    match.do(ALICE, EndVacation(until=FLAG), NAG)
    assert match.do(ALICE, AnswerOffer(accept=True), NAG)[-1] == Ended(
        winners=(0, 1), reason="agreement"
    )
    match.holds()


# --- flags


def test_a_flag_falls_at_its_instant_and_no_millisecond_before() -> None:
    match = two()
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(), FLAG - 1) == Code.TOO_EARLY
    assert match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG) == (
        Flagged(seat=0),
        Ended(winners=(1,), reason="time"),
    )
    assert match.state.result == Ended(winners=(1,), reason="time")
    assert next_due(match.state) == 0
    match.holds()


def test_the_flag_of_the_second_player_makes_the_first_win() -> None:
    match = two()
    match.play("m13-m9", at=FLAG - 1)
    assert deadline(match.state) == FLAG - 1 + 5 * DAY
    assert match.do(SERVER_ACCOUNT, FlagPlayer(ply=1), FLAG + 9 * DAY) == (
        Flagged(seat=1),
        Ended(winners=(0,), reason="time"),
    )
    match.holds()


@pytest.mark.parametrize(
    "command", [RemindPlayer(ply=0), FlagPlayer(ply=0), RemindPlayer(ply=2), FlagPlayer(ply=2)]
)
def test_the_server_means_a_ply_that_has_passed_no_more(command: Command) -> None:
    match = two()
    match.play("m13-m9", at=BEGIN + DAY)
    assert match.refuses(SERVER_ACCOUNT, command, FLAG + 9 * DAY) == Code.STALE_PLY
    assert next_due(match.state) == NAG + DAY


@pytest.mark.parametrize(
    "command", [RemindPlayer(), FlagPlayer(), RemindPlayer(ply=0), FlagPlayer(ply=0)]
)
def test_no_clock_runs_without_terms_or_after_the_end(command: Command) -> None:
    without, over = Match(pow2()), two()
    over.do(BOB, ResignMatch())
    for match in (without, over):
        assert match.refuses(SERVER_ACCOUNT, command, FLAG) == Code.MATCH_OVER
        assert next_due(match.state) == 0
    assert Match().refuses(SERVER_ACCOUNT, command, FLAG) == Code.UNKNOWN_BOARD


# --- a flag among three


def test_of_three_the_seat_whose_flag_falls_is_out_and_the_others_go_on_with_a_fresh_turn() -> None:
    match = three()
    match.do(SERVER_ACCOUNT, RemindPlayer(), NAG)
    late = FLAG + 3 * DAY
    assert match.do(SERVER_ACCOUNT, FlagPlayer(ply=0), late) == (Flagged(seat=0, next=1),)
    assert match.state.active_seats == (1, 2)
    assert (next_due(match.state), deadline(match.state)) == (late + 2 * DAY, late + 5 * DAY)
    assert match.refuses(ALICE, ResignMatch(), late) == Code.NOT_A_PLAYER
    assert [plays_on(match, late + day * DAY).seat for day in (1, 2, 3)] == [1, 2, 1]
    match.holds()


def test_of_three_the_last_one_in_wins_on_time() -> None:
    match = three()
    match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG)
    assert match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG + 5 * DAY) == (
        Flagged(seat=1),
        Ended(winners=(2,), reason="time"),
    )
    assert next_due(match.state) == 0
    match.holds()


def test_a_flag_may_end_the_match_by_its_rules_though_two_are_left() -> None:
    start = "-manual_start", "-tiles_each=2", "-invert_win"
    match = Match(challenge("halves", *start, *TERMS, seats=(ALICE, BOB, CAROL)))
    match.play("6", "9", "1", "swap", "2", "3")  # Carol has no tile any more
    assert match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG + DAY) == (
        Flagged(seat=0),
        Ended(winners=(1,), reason="last-tiles"),
    )
    assert rules_by_id(match.state.rules).outcome(position_of(match.state)) is not None
    assert next_due(match.state) == 0
    match.holds()


def test_who_is_left_after_a_flag_and_a_resignation_wins_by_what_came_last() -> None:
    flagged, resigned = three(), three()
    flagged.do(SERVER_ACCOUNT, FlagPlayer(), FLAG)
    assert flagged.do(CAROL, ResignMatch())[-1] == Ended(winners=(1,), reason="resignation")
    resigned.do(BOB, ResignMatch())
    assert resigned.do(SERVER_ACCOUNT, FlagPlayer(), FLAG)[-1] == Ended(winners=(2,), reason="time")
    flagged.holds()
    resigned.holds()


# --- what comes late


@pytest.mark.parametrize("late", [0, 1, 9 * DAY])
def test_a_move_from_the_deadline_on_is_too_late_and_changes_nothing(late: int) -> None:
    match = two()
    before = match.snapshot
    rejected = match.decided(ALICE, PlayMove(text="M13-m9"), FLAG + late)
    assert in_english(rejected) == Rejection(
        Code.TIME_OVER, "Light's time is over; the flag is falling now", "m13-m9"
    )
    assert match.snapshot == before
    assert next_due(match.state) == NAG


@pytest.mark.parametrize("actor", [ALICE, BOB])
@pytest.mark.parametrize("command", ACTS)
def test_nobody_can_do_anything_after_the_deadline_but_resign(
    actor: bytes, command: Command
) -> None:
    assert two().refuses(actor, command, FLAG) == Code.TIME_OVER


@pytest.mark.parametrize(("actor", "winner"), [(ALICE, 1), (BOB, 0)])
def test_anyone_can_resign_after_the_deadline(actor: bytes, winner: int) -> None:
    match = two()
    ended = Ended(winners=(winner,), reason="resignation")
    assert match.do(actor, ResignMatch(), FLAG + DAY)[-1] == ended
    assert match.refuses(SERVER_ACCOUNT, FlagPlayer(), FLAG + DAY) == Code.MATCH_OVER
    match.holds()


def test_a_command_received_before_the_last_event_counts_as_received_with_it() -> None:
    match = two("--days=3")
    match.play("m13-m9", at=BEGIN + DAY)
    match.play("a13-c11", at=BEGIN)
    assert match.state.at == BEGIN + DAY
    assert next_due(match.state) == BEGIN + 4 * DAY
    assert match.refuses(ALICE, StartVacation(until=BEGIN + DAY), BEGIN) == Code.TOO_LATE
    match.holds()


# --- the beginning


def test_a_match_that_gathers_entropy_starts_its_clock_with_the_draw_and_not_before() -> None:
    alice, start = challenge("powerdrain", *TERMS)
    match = Match((alice, replace(start, gather=True)))
    later = BEGIN + 99 * DAY
    assert (next_due(match.state), deadline(match.state)) == (0, None)
    for command in (RemindPlayer(), FlagPlayer()):
        assert match.refuses(SERVER_ACCOUNT, command, later) == Code.MATCH_OVER
    _, started = match.do(BOB, AnswerOffer(accept=True, text=b"word"), later)
    assert isinstance(started, MatchStarted)
    assert started.terms == start.terms == read_time_control(TERMS)
    assert (next_due(match.state), deadline(match.state)) == (later + 2 * DAY, later + 5 * DAY)
    match.holds()


def test_a_vacation_begun_before_the_draw_of_a_match_stops_the_clock_after_it() -> None:
    alice, start = challenge("powerdrain", *TERMS)
    match = Match((alice, replace(start, gather=True)))
    later = BEGIN + 99 * DAY
    match.do(ALICE, StartVacation(until=later + DAY), later)
    match.do(BOB, AnswerOffer(accept=True, text=b"word"), later)
    assert match.state.next == 0
    assert deadline(match.state) == later + 6 * DAY
    match.holds()


def test_a_match_that_gathers_entropy_and_is_declined_has_nothing_due() -> None:
    alice, start = challenge("powerdrain", *TERMS)
    match = Match((alice, replace(start, gather=True)))
    assert match.do(BOB, AnswerOffer(accept=False), BEGIN + 99 * DAY)[0] == Declined(seat=1)
    assert next_due(match.state) == 0
    match.holds()


def test_the_terms_of_a_challenge_are_those_of_the_clock() -> None:
    match = two("--bank=10+1", "--weekends=off", "--unrated")
    assert match.state.clock is not None
    assert match.state.clock.terms == read_time_control(
        ["--bank=10+1", "--weekends=off", "--unrated"]
    )
    assert match.bodies[0].terms == match.state.clock.terms


# --- forgery


def test_a_flag_that_fell_too_early_is_found_though_the_chain_is_whole() -> None:
    match = two()
    match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG)
    with pytest.raises(
        BrokenHistory, match="event 2: the rules refuse it: no reminder and no flag is due"
    ):
        verify(1, match.forged(2, at=FLAG - 1))


def test_a_flag_that_a_player_let_fall_is_found_though_the_chain_is_whole() -> None:
    match = two()
    match.do(SERVER_ACCOUNT, FlagPlayer(), FLAG)
    with pytest.raises(BrokenHistory, match="event 2: the rules refuse it: only the server"):
        verify(1, match.forged(2, actor=BOB))


def test_a_late_move_is_found_though_the_chain_is_whole() -> None:
    match = two()
    match.play("m13-m9", at=FLAG - 1)
    with pytest.raises(BrokenHistory, match="event 2: the rules refuse it: Light's time is over"):
        verify(1, match.forged(2, at=FLAG))


def test_a_vacation_of_another_seat_is_found_though_the_chain_is_whole() -> None:
    match = two()
    match.do(ALICE, StartVacation(until=FLAG))
    with pytest.raises(BrokenHistory, match=r'event 2: the rules give .*"absent",0'):
        verify(1, match.forged(2, body=Absent(seat=1, until=FLAG)))
