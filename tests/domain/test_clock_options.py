"""Options of a clock that few matches have: a cap of the bank, days of vacation, pauses, more reminders.

The worst-case length of a match, against a plain calendar that plays it.
"""

from datetime import UTC, datetime, timedelta
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.clocks.length import longest
from domain.clocks.match_clock import time_left, vacation_left
from domain.clocks.time_control import DAY, ClockOptions, TimeControl, read_time_control
from domain.errors import Code
from domain.match.commands import (
    FlagPlayer,
    MakeOffer,
    RemindPlayer,
    StartVacation,
    command_digest,
    encode_command,
)
from domain.match.decision import Rejection
from domain.match.events import Absent, MatchStarted, Nagged
from domain.match.history import decode_event
from domain.match.imports import import_command
from domain.match.state import deadline, next_due, reminder_is_due
from domain.records import SERVER_ACCOUNT
from tests.domain.given import OUT, two
from tests.domain.rulings import ARBITER, back, rule
from tests.domain.test_match_laws import ELSEWHERE
from tests.helpers.given import ALICE, BEGIN, BOB, Match, challenge, sent

ALL = ("--bank=10+1:20", "--nagtime=14,28", "--silence=40", "--vacation=9", "--pause=off")


def left(match: Match, seat: int, at: int) -> int | None:
    state = match.state
    assert state.clock is not None
    return time_left(state.clock, seat, state.next, at)


def refusal(match: Match, actor: bytes, command: object, at: int) -> tuple[Code, str]:
    found = match.decided(actor, command, at)
    assert isinstance(found, Rejection)
    return Code(found.code), found.sentence


# the bytes of what there was before


def test_a_start_without_these_options_has_the_bytes_and_the_digest_it_always_had() -> None:
    actor, start = challenge("pow2", "--days=3", "--nagtime=1", "--weekends=off")
    event = decode_event(Match((actor, start)).events[0])
    assert isinstance(event.body, MatchStarted)
    assert msgspec.msgpack.encode(event.body.terms).hex(" ") == "98 01 00 00 03 00 00 c2 c3"
    digest = command_digest(encode_command(sent(actor, start)))
    assert digest.hex() == "581baf39bad54601"


def test_a_start_with_all_of_them_is_recorded_and_decided_again() -> None:
    match = two(*ALL)
    started = match.bodies[0]
    assert isinstance(started, MatchStarted)
    assert started.terms == read_time_control(ALL)
    match.play(OUT, at=BEGIN + 3 * DAY)
    match.holds()


# a cap of the bank


# reminders


def test_a_player_is_reminded_at_each_of_the_days_and_then_no_more() -> None:
    match = two("--forfeittime=9", "--nagtime=2,4,5")
    for day in (2, 4, 5):
        due = BEGIN + day * DAY
        assert next_due(match.state) == due
        assert match.refuses(SERVER_ACCOUNT, RemindPlayer(ply=0), due - 1) == Code.TOO_EARLY
        assert reminder_is_due(match.state, due)
        assert match.do(SERVER_ACCOUNT, RemindPlayer(ply=0), due) == (Nagged(seat=0),)
        assert match.refuses(SERVER_ACCOUNT, RemindPlayer(ply=0), due) == Code.TOO_EARLY
    assert next_due(match.state) == BEGIN + 9 * DAY
    match.play(OUT, at=BEGIN + 6 * DAY)
    assert next_due(match.state) == BEGIN + 8 * DAY, "each turn has its own"
    match.holds()


# silence


# vacations


def test_a_vacation_stops_the_clock_for_as_many_days_as_the_match_allows() -> None:
    match = two("--days=5", "--nagtime=0", "--vacation=3")
    assert match.do(ALICE, StartVacation(until=BEGIN + 9 * DAY), BEGIN) == (
        Absent(seat=0, until=BEGIN + 9 * DAY),
    )
    assert deadline(match.state) == BEGIN + 8 * DAY
    more = StartVacation(until=BEGIN + 20 * DAY)
    assert refusal(match, ALICE, more, BEGIN + 4 * DAY) == (
        Code.BAD_OPTION,
        "you have no vacation left that can stop your clock in this match",
    )
    match.play(OUT, at=BEGIN + 4 * DAY)
    match.do(BOB, more, BEGIN + 4 * DAY)
    assert deadline(match.state) == BEGIN + 12 * DAY, "each seat has its own"
    match.holds()


def test_moves_taken_back_and_a_set_back_give_back_no_days() -> None:
    match = two("--days=5", "--nagtime=0", "--vacation=4")
    match.do(ALICE, StartVacation(until=BEGIN + 3 * DAY), BEGIN)
    match.play(OUT, at=BEGIN + 4 * DAY)
    match.do(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 9 * DAY)
    match.away = {ALICE: BEGIN + 60 * DAY}
    back(match, 0, BEGIN + 30 * DAY)
    assert deadline(match.state) == BEGIN + (30 + 1 + 5) * DAY
    match.holds()


def test_a_match_that_goes_on_elsewhere_has_its_options_and_all_its_days() -> None:
    there = two(*ALL)
    there.do(ALICE, StartVacation(until=BEGIN + 9 * DAY), BEGIN)
    there.play(OUT, at=BEGIN + DAY)
    here = Match(board=2)
    here.do(SERVER_ACCOUNT, import_command(there.state, (ALICE, BOB), ELSEWHERE), BEGIN)
    clock = here.state.clock
    assert clock is not None
    assert clock.terms == replace(read_time_control(ALL), rated=False)
    assert vacation_left(clock, 0) == 9 * DAY
    here.holds()


# pauses


def test_a_match_without_pauses_refuses_to_be_paused_and_is_annulled_all_the_same() -> None:
    match = two("--days=5", "--pause=off")
    assert refusal(match, ALICE, MakeOffer(kind="pause"), BEGIN) == (
        Code.UNKNOWN_OFFER,
        "a pause can't be proposed: this match is played without pauses",
    )
    match.do(ALICE, MakeOffer(kind="draw"), BEGIN)
    match.do(ARBITER, rule(annul=True), BEGIN + DAY)
    assert match.state.over
    match.holds()


# the length of a match


def worst(terms: TimeControl, plies: int) -> int:
    """The days until the last of two players has moved at the last instant, vacations in each turn.

    Days are the calendar's own, and the match begins on a Saturday. Vacations are limited.
    """
    day = datetime(2026, 11, 28, tzinfo=UTC)
    begin, options = day, terms.options
    total, bank = [terms.total] * 2, [terms.bank] * 2
    away = [options.vacation or 0] * 2
    for ply in range(plies):
        seat = ply % 2
        limits = [terms.turn] if terms.turn else []
        limits += [total[seat]] if terms.total else []
        limits += [bank[seat]] if terms.bank else []
        took = min(limits)
        total[seat] -= took
        bank[seat] += terms.increment - took
        if options.cap:
            bank[seat] = min(bank[seat], options.cap)
        took += away[seat]
        away[seat] = 0
        while took:
            took -= options.weekends or day.isoweekday() <= 5
            day += timedelta(days=1)
    return (day - begin).days


@given(
    st.builds(
        TimeControl,
        forfeit=st.integers(0, 9),
        total=st.sampled_from([0, 0, 30]),
        bank=st.integers(1, 12),
        increment=st.integers(0, 3),
        weekends=st.builds(
            ClockOptions,
            weekends=st.booleans(),
            cap=st.sampled_from([0, 12, 14]),
            vacation=st.integers(0, 8),
        ),
    ),
    st.integers(2, 24),
)
def test_the_longest_match_is_as_long_as_one_played_at_the_last_instant(terms, plies):
    assert longest(terms, plies) == worst(terms, plies)


@pytest.mark.parametrize(
    ("words", "plies", "days"),
    [
        ("--days=3 --vacation=0", 10, 30),
        ("--days=3 --vacation=5", 10, 40),
        ("--days=3 --vacation=0 --weekends=off", 10, 42),
        ("--bank=10+1 --vacation=0", 20, 2 * (10 + 9)),
        ("--bank=10+1:10 --vacation=0", 20, 2 * (10 + 9)),
        ("--bank=10+5:10 --silence=2 --vacation=0", 20, 40),
        ("--totaltime=90 --vacation=0", 1000, 180),
        ("--days=3", 0, 0),
        ("--forfeittime=0", 10, None),
        ("--days=3", 10, 30 + 2 * 30 * 2),
        ("--days=5", 200, 1000 + 2 * 30 * 5),
    ],
)
def test_the_longest_match_of_two(words, plies, days):
    assert longest(read_time_control(words.split()), plies) == days


def test_a_match_of_more_seats_than_a_year_has_vacations_for_has_no_longest():
    assert longest(read_time_control(["--days=3"]), 13, 13) is None
    assert longest(read_time_control(["--days=3", "--vacation=1"]), 13, 13) == 13 * 4
    for seats, off in product(range(2, 9), ("on", "off")):
        terms = read_time_control(["--days=3", f"--weekends={off}"])
        assert (longest(terms, 1000, seats) or 0) > 3000
