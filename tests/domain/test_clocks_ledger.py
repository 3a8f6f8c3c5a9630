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


@pytest.mark.parametrize("words", ["--days=7", "--days=6", "--nagtime=0", "--nagtime=21"])
def test_there_is_no_reminder_at_the_deadline_or_after_it_or_where_none_is_wanted(words):
    clock = begun(words)
    assert reminder_time(clock, LIGHT) is None
    assert next_due(clock, LIGHT) == match_clock.flag_time(clock, LIGHT)


def test_the_deadlines_on_the_page_for_players_are_as_it_says():
    table = PAGE.read_text().partition("your flag falls |")[2].partition("\n\n")[0]
    row = re.compile(r"^\| (?:`(.*)` )?\| (\w+) (\S+ \S+) \| (\w+) (\S+ \S+) \|", re.MULTILINE)
    rows = row.findall(table)
    assert len(rows) == 6
    for words, begins, begin, falls, fall in rows:
        assert match_clock.flag_time(begun(words, at(begin)), LIGHT) == at(fall)
        assert datetime.fromisoformat(begin).strftime("%a") == begins
        assert datetime.fromisoformat(fall).strftime("%a") == falls


def test_a_flag_falls_before_a_vacation_that_begins_at_that_instant():
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 3 * DAY
    clock = match_clock.after_vacation_start(
        begun("--days=3"), LIGHT, MONDAY + 3 * DAY - 1, MONDAY + 9 * DAY
    )
    assert match_clock.flag_time(clock, LIGHT) == MONDAY + 9 * DAY + 1


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
