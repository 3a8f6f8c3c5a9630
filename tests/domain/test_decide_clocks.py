"""The decider and time: reminders, flags, what comes too late, and when a clock begins."""

from msgspec.structs import replace

from domain.clocks.time_control import DAY, read_time_control
from domain.errors import Code
from domain.match.commands import (
    AnswerOffer,
    FlagPlayer,
    RemindPlayer,
)
from domain.match.events import Ended, Flagged, MatchStarted
from domain.match.state import deadline, next_due, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from tests.domain.given import FLAG, TERMS, two
from tests.helpers.given import ALICE, BEGIN, BOB, CAROL, Match, challenge

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


# --- a flag among three


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
