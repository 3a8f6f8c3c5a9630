"""The clock of a match, told as stories; `test_clocks_reference` has the laws."""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from domain.clocks import match_clock
from domain.clocks.match_clock import (
    ClockStop,
    MatchClock,
    after_ply,
    next_due,
    reminder_time,
    start_clock,
    time_left,
    time_of_turn,
    time_used,
)
from domain.clocks.time_control import DAY, TimeControl, read_time_control

PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"
HOUR = DAY // 24
LIGHT, DARK = 0, 1


def at(text):
    """The instant of an ISO date and time, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


FRIDAY = at("2026-11-20T15:00")
MONDAY = at("2026-11-23T00:00")


def begun(words="", when=MONDAY):
    return start_clock(read_time_control(words.split()), when)


def played(clock, *hours):
    """The clock after plies of Light and Dark in turn, each after so many hours."""
    for ply, took in enumerate(hours):
        clock = after_ply(clock, ply % 2, clock.since + took * HOUR)
    return clock


def test_a_move_has_three_weeks_and_its_player_is_reminded_after_one():
    clock = begun()
    assert reminder_time(clock, LIGHT) == next_due(clock, LIGHT) == MONDAY + 7 * DAY
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 21 * DAY


def test_after_the_reminder_only_the_flag_is_due_and_the_next_turn_has_its_own_reminder():
    clock = match_clock.after_reminder(begun())
    assert reminder_time(clock, LIGHT) is None
    assert next_due(clock, LIGHT) == MONDAY + 21 * DAY
    clock = after_ply(clock, LIGHT, MONDAY + 8 * DAY)
    assert reminder_time(clock, DARK) == MONDAY + 15 * DAY


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("--days=3", 3),
        ("--days=30", 30),
        ("--days=30 --forfeittime=21", 21),
        ("--forfeittime=5", 5),
        ("--days=300", 300),
        ("--bank=10", 10),
        ("--bank=30+1 --forfeittime=21", 21),
        ("--bank=10+1 --totaltime=8", 8),
        ("--bank=10 --totaltime=11 --days=9", 9),
    ],
)
def test_of_all_limits_the_first_one_reached_holds(words, days):
    clock = begun(words)
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + days * DAY
    assert time_left(clock, LIGHT, LIGHT, MONDAY + DAY) == (days - 1) * DAY


def test_without_any_limit_no_flag_falls_but_a_reminder_comes():
    clock = begun("--forfeittime=0")
    assert match_clock.flag_time(clock, LIGHT) is None
    assert time_left(clock, LIGHT, LIGHT, MONDAY + 5000 * DAY) is None
    assert next_due(clock, LIGHT) == MONDAY + 7 * DAY
    assert next_due(match_clock.after_reminder(clock), LIGHT) is None


@pytest.mark.parametrize("words", ["--days=7", "--days=6", "--nagtime=0", "--nagtime=21"])
def test_there_is_no_reminder_at_the_deadline_or_after_it_or_where_none_is_wanted(words):
    clock = begun(words)
    assert reminder_time(clock, LIGHT) is None
    assert next_due(clock, LIGHT) == match_clock.flag_time(clock, LIGHT)


def test_a_bank_pays_for_all_turns_and_each_own_move_adds_to_it():
    clock = played(begun("--bank=10+1"), 72, 1, 24, 2)
    assert time_used(clock, LIGHT) == 4 * DAY
    assert time_used(clock, DARK) == 3 * HOUR
    assert time_left(clock, LIGHT, LIGHT, clock.since + DAY) == (10 + 2 - 4 - 1) * DAY
    assert time_left(clock, DARK, LIGHT, clock.since + DAY) == (10 + 2) * DAY - 3 * HOUR
    assert match_clock.flag_time(clock, LIGHT) == clock.since + 8 * DAY


def test_a_total_pays_for_all_turns_and_is_never_refilled():
    clock = played(begun("--totaltime=5"), 48, 1, 24, 2)
    assert match_clock.flag_time(clock, LIGHT) == clock.since + 2 * DAY
    assert match_clock.flag_time(clock, DARK) == clock.since + 5 * DAY - 3 * HOUR


def test_a_reminder_comes_only_while_the_bank_outlasts_it():
    clock = begun("--bank=9 --nagtime=5")
    assert reminder_time(clock, LIGHT) == MONDAY + 5 * DAY
    assert reminder_time(played(clock, 96, 1), LIGHT) is None


def test_what_is_left_is_nothing_once_the_flag_has_fallen():
    clock = begun("--days=3")
    assert time_left(clock, LIGHT, LIGHT, MONDAY + 3 * DAY - 1) == 1
    assert time_left(clock, LIGHT, LIGHT, MONDAY + 3 * DAY) == 0
    assert time_left(clock, LIGHT, LIGHT, MONDAY + 9 * DAY) == 0
    assert time_left(clock, DARK, LIGHT, MONDAY + 9 * DAY) == 3 * DAY
    assert time_left(clock, DARK, None, MONDAY + 9 * DAY) == 3 * DAY


def test_a_flag_falls_at_once_where_the_last_turn_took_more_than_there_was():
    clock = played(begun("--bank=1"), 30, 1)
    assert match_clock.flag_time(clock, LIGHT) == clock.since
    assert time_left(clock, LIGHT, LIGHT, clock.since) == 0


def test_a_flag_that_falls_as_a_turn_begins_falls_on_a_weekend_too():
    clock = begun("--totaltime=1 --weekends=off", when=FRIDAY - DAY)
    clock = after_ply(after_ply(clock, LIGHT, FRIDAY), DARK, FRIDAY + DAY)
    assert match_clock.flag_time(clock, LIGHT) == FRIDAY + DAY


def test_without_weekends_a_turn_of_friday_afternoon_goes_on_on_monday():
    clock = begun("--days=1 --weekends=off", when=FRIDAY)
    assert time_of_turn(clock, LIGHT, MONDAY - 1) == time_of_turn(clock, LIGHT, MONDAY) == 9 * HOUR
    assert match_clock.flag_time(clock, LIGHT) == at("2026-11-23T15:00")


def test_the_deadlines_on_the_page_for_players_are_as_it_says():
    table = PAGE.read_text().partition("your flag falls |")[2].partition("\n\n")[0]
    row = re.compile(r"^\| (?:`(.*)` )?\| (\w+) (\S+ \S+) \| (\w+) (\S+ \S+) \|", re.MULTILINE)
    rows = row.findall(table)
    assert len(rows) == 6
    for words, begins, begin, falls, fall in rows:
        assert match_clock.flag_time(begun(words, at(begin)), LIGHT) == at(fall)
        assert datetime.fromisoformat(begin).strftime("%a") == begins
        assert datetime.fromisoformat(fall).strftime("%a") == falls


def test_a_turn_that_begins_on_a_weekend_counts_from_monday_on():
    clock = begun("--days=5 --weekends=off", when=MONDAY - 30 * HOUR)
    assert match_clock.flag_time(clock, LIGHT) == at("2026-11-28T00:00")  # as Friday ends


def test_a_pause_stops_every_clock_until_the_match_goes_on():
    clock = match_clock.after_pause(begun("--days=3"), MONDAY + DAY)
    assert time_of_turn(clock, LIGHT, MONDAY + 99 * DAY) == DAY
    assert (next_due(clock, LIGHT), reminder_time(clock, LIGHT)) == (None, None)
    clock = match_clock.after_resume(clock, MONDAY + 99 * DAY)
    assert time_of_turn(clock, LIGHT, MONDAY + 100 * DAY) == 2 * DAY
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 101 * DAY


def test_a_pause_holds_over_the_end_of_a_turn():
    clock = after_ply(match_clock.after_pause(begun(), MONDAY + DAY), LIGHT, MONDAY + 3 * DAY)
    assert time_used(clock, LIGHT) == DAY
    clock = match_clock.after_resume(clock, MONDAY + 5 * DAY)
    assert time_of_turn(clock, DARK, MONDAY + 6 * DAY) == DAY
    assert match_clock.flag_time(clock, DARK) == MONDAY + 26 * DAY


def test_pausing_twice_and_resuming_twice_change_nothing():
    clock = begun()
    assert match_clock.after_resume(clock, MONDAY + DAY) == clock
    once = match_clock.after_pause(clock, MONDAY + DAY)
    assert match_clock.after_pause(once, MONDAY + 2 * DAY) == once
    assert match_clock.after_resume(match_clock.after_pause(clock, MONDAY), MONDAY) == clock


def test_a_pause_over_a_weekend_that_does_not_count_puts_off_what_would_have_counted():
    clock = begun("--days=2 --weekends=off", when=FRIDAY)
    flag = match_clock.flag_time(clock, LIGHT)
    clock = match_clock.after_pause(clock, at("2026-11-20T18:00"))
    clock = match_clock.after_resume(clock, at("2026-11-23T06:00"))
    assert match_clock.flag_time(clock, LIGHT) == flag + 12 * HOUR


def test_a_vacation_stops_the_clock_of_its_seat_alone():
    clock = match_clock.after_vacation_start(
        begun("--days=3"), DARK, MONDAY + DAY, MONDAY + 6 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 3 * DAY
    clock = after_ply(clock, LIGHT, MONDAY + 2 * DAY)
    assert time_of_turn(clock, DARK, MONDAY + 6 * DAY) == 0
    assert match_clock.flag_time(clock, DARK) == MONDAY + 9 * DAY


def test_a_flag_falls_before_a_vacation_that_begins_at_that_instant():
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 3 * DAY
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY - 1, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 9 * DAY + 1


def test_a_vacation_that_ends_early_stops_the_clock_until_then():
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + DAY, MONDAY + 9 * DAY
    )
    other = match_clock.after_vacation_start(clock, DARK, MONDAY + DAY, MONDAY + 9 * DAY)
    cut = match_clock.after_vacation_end(other, LIGHT, MONDAY + 4 * DAY)
    assert match_clock.flag_time(cut, LIGHT) == MONDAY + 6 * DAY
    assert (
        match_clock.flag_time(cut, DARK) == match_clock.flag_time(other, DARK) == MONDAY + 11 * DAY
    )
    assert match_clock.after_vacation_end(clock, LIGHT, MONDAY + 10 * DAY) == clock
    assert match_clock.after_vacation_end(clock, LIGHT, MONDAY).stops == ()
    assert match_clock.after_vacation_end(clock, LIGHT, MONDAY + DAY).stops == ()


def test_times_off_that_touch_are_kept_as_one():
    clock = match_clock.after_vacation_start(begun(), LIGHT, MONDAY, MONDAY + DAY)
    clock = match_clock.after_vacation_start(clock, LIGHT, MONDAY + 3 * DAY, MONDAY + 4 * DAY)
    clock = match_clock.after_vacation_start(clock, DARK, MONDAY + DAY, MONDAY + 3 * DAY)
    assert len(clock.stops) == 3
    clock = match_clock.after_vacation_start(clock, LIGHT, MONDAY + DAY, MONDAY + 3 * DAY)
    assert clock.stops == (
        ClockStop(MONDAY, MONDAY + 4 * DAY, LIGHT),
        ClockStop(MONDAY + DAY, MONDAY + 3 * DAY, DARK),
    )


def test_time_off_that_is_over_is_forgotten_with_the_turn():
    clock = match_clock.after_vacation_start(begun(), LIGHT, MONDAY, MONDAY + DAY)
    clock = match_clock.after_vacation_start(clock, DARK, MONDAY, MONDAY + 3 * DAY)
    assert after_ply(clock, LIGHT, MONDAY + DAY).stops == (
        ClockStop(MONDAY, MONDAY + 3 * DAY, DARK),
    )
    assert after_ply(clock, LIGHT, MONDAY + 3 * DAY).stops == ()


def test_a_turn_that_begins_without_a_ply_costs_nobody_anything():
    clock = match_clock.after_seat_left(match_clock.after_reminder(begun()), MONDAY + DAY)
    assert clock == begun(when=MONDAY + DAY)
    assert time_used(clock, LIGHT) == time_used(clock, DARK) == 0


def test_taking_back_gives_the_time_of_the_plies_back():
    clock = played(begun("--bank=10"), 5, 6, 7)
    back = match_clock.after_undo(match_clock.after_reminder(clock), 1, clock.since + DAY)
    assert (time_used(back, LIGHT), time_used(back, DARK)) == (5 * HOUR, 0)
    assert time_of_turn(back, DARK, clock.since + DAY) == 0
    assert not back.nagged
    assert match_clock.after_undo(clock, 0, MONDAY) == begun("--bank=10")


def test_a_seat_may_have_several_turns_in_a_row():
    clock = after_ply(after_ply(begun(), DARK, MONDAY + HOUR), DARK, MONDAY + 3 * HOUR)
    assert time_used(clock, DARK) == 3 * HOUR


def test_a_turn_of_half_a_century_is_recorded_as_the_longest_there_is():
    clock = after_ply(begun("--forfeittime=0"), LIGHT, MONDAY + 18_250 * DAY)
    assert time_used(clock, LIGHT) == 2**40 - 1


def test_a_clock_asked_about_the_time_before_its_turn_says_nothing_has_run():
    assert time_of_turn(begun(), LIGHT, MONDAY - DAY) == 0


def test_the_stored_form_is_final_and_small():
    clock = match_clock.after_vacation_start(begun(), DARK, MONDAY, MONDAY + DAY)
    clock = match_clock.after_pause(after_ply(clock, LIGHT, MONDAY + 1), MONDAY + 2)
    encoded = msgspec.msgpack.encode(clock)
    assert encoded.hex(" ") == (
        "97 98 07 15 00 00 00 00 c3 c3 cf 00 00 01 a2 05 b3 d0 01 c4 06 00 00 00 00 00 01 "
        "91 93 cf 00 00 01 a2 05 b3 d0 00 cf 00 00 01 a2 0a da 2c 00 01 "
        "cf 00 00 01 a2 05 b3 d0 02 c2 90"
    )
    assert msgspec.msgpack.decode(encoded, type=MatchClock) == clock
    assert len(msgspec.msgpack.encode(begun())) == 25


def test_a_pause_that_is_over_is_stored_with_no_seat():
    clock = match_clock.after_resume(match_clock.after_pause(begun(), MONDAY + 1), MONDAY + 2)
    assert clock.stops == (ClockStop(MONDAY + 1, MONDAY + 2, -1),)


def test_a_clock_stored_with_fewer_fields_is_read():
    assert msgspec.msgpack.decode(b"\x92\x90\x05", type=MatchClock) == start_clock(TimeControl(), 5)
