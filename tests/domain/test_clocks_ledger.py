"""The clock of a match, told as stories; `test_clocks_reference` has the laws."""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from domain.clocks import ledger
from domain.clocks.days import DAY
from domain.clocks.ledger import Clock, Off, due, left, moved, reminder, running, start, used
from domain.clocks.terms import Terms, read_terms

PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"
HOUR = DAY // 24
LIGHT, DARK = 0, 1


def at(text):
    """The instant of an ISO date and time, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


FRIDAY = at("2026-11-20T15:00")
MONDAY = at("2026-11-23T00:00")


def begun(words="", when=MONDAY):
    return start(read_terms(words.split()), when)


def played(clock, *hours):
    """The clock after plies of Light and Dark in turn, each after so many hours."""
    for ply, took in enumerate(hours):
        clock = moved(clock, ply % 2, clock.since + took * HOUR)
    return clock


def test_a_move_has_three_weeks_and_its_player_is_reminded_after_one():
    clock = begun()
    assert reminder(clock, LIGHT) == due(clock, LIGHT) == MONDAY + 7 * DAY
    assert ledger.deadline(clock, LIGHT) == MONDAY + 21 * DAY


def test_after_the_reminder_only_the_flag_is_due_and_the_next_turn_has_its_own_reminder():
    clock = ledger.nagged(begun())
    assert reminder(clock, LIGHT) is None
    assert due(clock, LIGHT) == MONDAY + 21 * DAY
    clock = moved(clock, LIGHT, MONDAY + 8 * DAY)
    assert reminder(clock, DARK) == MONDAY + 15 * DAY


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
    assert ledger.deadline(clock, LIGHT) == MONDAY + days * DAY
    assert left(clock, LIGHT, LIGHT, MONDAY + DAY) == (days - 1) * DAY


def test_without_any_limit_no_flag_falls_but_a_reminder_comes():
    clock = begun("--forfeittime=0")
    assert ledger.deadline(clock, LIGHT) is None
    assert left(clock, LIGHT, LIGHT, MONDAY + 5000 * DAY) is None
    assert due(clock, LIGHT) == MONDAY + 7 * DAY
    assert due(ledger.nagged(clock), LIGHT) is None


@pytest.mark.parametrize("words", ["--days=7", "--days=6", "--nagtime=0", "--nagtime=21"])
def test_there_is_no_reminder_at_the_deadline_or_after_it_or_where_none_is_wanted(words):
    clock = begun(words)
    assert reminder(clock, LIGHT) is None
    assert due(clock, LIGHT) == ledger.deadline(clock, LIGHT)


def test_a_bank_pays_for_all_turns_and_each_own_move_adds_to_it():
    clock = played(begun("--bank=10+1"), 72, 1, 24, 2)
    assert used(clock, LIGHT) == 4 * DAY
    assert used(clock, DARK) == 3 * HOUR
    assert left(clock, LIGHT, LIGHT, clock.since + DAY) == (10 + 2 - 4 - 1) * DAY
    assert left(clock, DARK, LIGHT, clock.since + DAY) == (10 + 2) * DAY - 3 * HOUR
    assert ledger.deadline(clock, LIGHT) == clock.since + 8 * DAY


def test_a_total_pays_for_all_turns_and_is_never_refilled():
    clock = played(begun("--totaltime=5"), 48, 1, 24, 2)
    assert ledger.deadline(clock, LIGHT) == clock.since + 2 * DAY
    assert ledger.deadline(clock, DARK) == clock.since + 5 * DAY - 3 * HOUR


def test_a_reminder_comes_only_while_the_bank_outlasts_it():
    clock = begun("--bank=9 --nagtime=5")
    assert reminder(clock, LIGHT) == MONDAY + 5 * DAY
    assert reminder(played(clock, 96, 1), LIGHT) is None


def test_what_is_left_is_nothing_once_the_flag_has_fallen():
    clock = begun("--days=3")
    assert left(clock, LIGHT, LIGHT, MONDAY + 3 * DAY - 1) == 1
    assert left(clock, LIGHT, LIGHT, MONDAY + 3 * DAY) == 0
    assert left(clock, LIGHT, LIGHT, MONDAY + 9 * DAY) == 0
    assert left(clock, DARK, LIGHT, MONDAY + 9 * DAY) == 3 * DAY
    assert left(clock, DARK, None, MONDAY + 9 * DAY) == 3 * DAY


def test_a_flag_falls_at_once_where_the_last_turn_took_more_than_there_was():
    clock = played(begun("--bank=1"), 30, 1)
    assert ledger.deadline(clock, LIGHT) == clock.since
    assert left(clock, LIGHT, LIGHT, clock.since) == 0


def test_a_flag_that_falls_as_a_turn_begins_falls_on_a_weekend_too():
    clock = begun("--totaltime=1 --weekends=off", when=FRIDAY - DAY)
    clock = moved(moved(clock, LIGHT, FRIDAY), DARK, FRIDAY + DAY)
    assert ledger.deadline(clock, LIGHT) == FRIDAY + DAY


def test_without_weekends_a_turn_of_friday_afternoon_goes_on_on_monday():
    clock = begun("--days=1 --weekends=off", when=FRIDAY)
    assert running(clock, LIGHT, MONDAY - 1) == running(clock, LIGHT, MONDAY) == 9 * HOUR
    assert ledger.deadline(clock, LIGHT) == at("2026-11-23T15:00")


def test_the_deadlines_on_the_page_for_players_are_as_it_says():
    table = PAGE.read_text().partition("your flag falls |")[2].partition("\n\n")[0]
    row = re.compile(r"^\| (?:`(.*)` )?\| (\w+) (\S+ \S+) \| (\w+) (\S+ \S+) \|", re.MULTILINE)
    rows = row.findall(table)
    assert len(rows) == 6
    for words, begins, begin, falls, fall in rows:
        assert ledger.deadline(begun(words, at(begin)), LIGHT) == at(fall)
        assert datetime.fromisoformat(begin).strftime("%a") == begins
        assert datetime.fromisoformat(fall).strftime("%a") == falls


def test_a_turn_that_begins_on_a_weekend_counts_from_monday_on():
    clock = begun("--days=5 --weekends=off", when=MONDAY - 30 * HOUR)
    assert ledger.deadline(clock, LIGHT) == at("2026-11-28T00:00")  # as Friday ends


def test_a_pause_stops_every_clock_until_the_match_goes_on():
    clock = ledger.paused(begun("--days=3"), MONDAY + DAY)
    assert running(clock, LIGHT, MONDAY + 99 * DAY) == DAY
    assert (due(clock, LIGHT), reminder(clock, LIGHT)) == (None, None)
    clock = ledger.resumed(clock, MONDAY + 99 * DAY)
    assert running(clock, LIGHT, MONDAY + 100 * DAY) == 2 * DAY
    assert ledger.deadline(clock, LIGHT) == MONDAY + 101 * DAY


def test_a_pause_holds_over_the_end_of_a_turn():
    clock = moved(ledger.paused(begun(), MONDAY + DAY), LIGHT, MONDAY + 3 * DAY)
    assert used(clock, LIGHT) == DAY
    clock = ledger.resumed(clock, MONDAY + 5 * DAY)
    assert running(clock, DARK, MONDAY + 6 * DAY) == DAY
    assert ledger.deadline(clock, DARK) == MONDAY + 26 * DAY


def test_pausing_twice_and_resuming_twice_change_nothing():
    clock = begun()
    assert ledger.resumed(clock, MONDAY + DAY) == clock
    once = ledger.paused(clock, MONDAY + DAY)
    assert ledger.paused(once, MONDAY + 2 * DAY) == once
    assert ledger.resumed(ledger.paused(clock, MONDAY), MONDAY) == clock


def test_a_pause_over_a_weekend_that_does_not_count_puts_off_what_would_have_counted():
    clock = begun("--days=2 --weekends=off", when=FRIDAY)
    flag = ledger.deadline(clock, LIGHT)
    clock = ledger.paused(clock, at("2026-11-20T18:00"))
    clock = ledger.resumed(clock, at("2026-11-23T06:00"))
    assert ledger.deadline(clock, LIGHT) == flag + 12 * HOUR


def test_a_vacation_stops_the_clock_of_its_seat_alone():
    clock = ledger.away(begun("--days=3"), DARK, MONDAY + DAY, MONDAY + 6 * DAY)
    assert ledger.deadline(clock, LIGHT) == MONDAY + 3 * DAY
    clock = moved(clock, LIGHT, MONDAY + 2 * DAY)
    assert running(clock, DARK, MONDAY + 6 * DAY) == 0
    assert ledger.deadline(clock, DARK) == MONDAY + 9 * DAY


def test_a_flag_falls_before_a_vacation_that_begins_at_that_instant():
    clock = ledger.away(begun("--days=3"), LIGHT, MONDAY + 3 * DAY, MONDAY + 9 * DAY)
    assert ledger.deadline(clock, LIGHT) == MONDAY + 3 * DAY
    clock = ledger.away(begun("--days=3"), LIGHT, MONDAY + 3 * DAY - 1, MONDAY + 9 * DAY)
    assert ledger.deadline(clock, LIGHT) == MONDAY + 9 * DAY + 1


def test_a_vacation_that_ends_early_stops_the_clock_until_then():
    clock = ledger.away(begun("--days=3"), LIGHT, MONDAY + DAY, MONDAY + 9 * DAY)
    other = ledger.away(clock, DARK, MONDAY + DAY, MONDAY + 9 * DAY)
    cut = ledger.back(other, LIGHT, MONDAY + 4 * DAY)
    assert ledger.deadline(cut, LIGHT) == MONDAY + 6 * DAY
    assert ledger.deadline(cut, DARK) == ledger.deadline(other, DARK) == MONDAY + 11 * DAY
    assert ledger.back(clock, LIGHT, MONDAY + 10 * DAY) == clock
    assert ledger.back(clock, LIGHT, MONDAY).off == ()
    assert ledger.back(clock, LIGHT, MONDAY + DAY).off == ()


def test_times_off_that_touch_are_kept_as_one():
    clock = ledger.away(begun(), LIGHT, MONDAY, MONDAY + DAY)
    clock = ledger.away(clock, LIGHT, MONDAY + 3 * DAY, MONDAY + 4 * DAY)
    clock = ledger.away(clock, DARK, MONDAY + DAY, MONDAY + 3 * DAY)
    assert len(clock.off) == 3
    clock = ledger.away(clock, LIGHT, MONDAY + DAY, MONDAY + 3 * DAY)
    assert clock.off == (
        Off(MONDAY, MONDAY + 4 * DAY, LIGHT),
        Off(MONDAY + DAY, MONDAY + 3 * DAY, DARK),
    )


def test_time_off_that_is_over_is_forgotten_with_the_turn():
    clock = ledger.away(begun(), LIGHT, MONDAY, MONDAY + DAY)
    clock = ledger.away(clock, DARK, MONDAY, MONDAY + 3 * DAY)
    assert moved(clock, LIGHT, MONDAY + DAY).off == (Off(MONDAY, MONDAY + 3 * DAY, DARK),)
    assert moved(clock, LIGHT, MONDAY + 3 * DAY).off == ()


def test_a_turn_that_begins_without_a_ply_costs_nobody_anything():
    clock = ledger.turned(ledger.nagged(begun()), MONDAY + DAY)
    assert clock == begun(when=MONDAY + DAY)
    assert used(clock, LIGHT) == used(clock, DARK) == 0


def test_taking_back_gives_the_time_of_the_plies_back():
    clock = played(begun("--bank=10"), 5, 6, 7)
    back = ledger.rewound(ledger.nagged(clock), 1, clock.since + DAY)
    assert (used(back, LIGHT), used(back, DARK)) == (5 * HOUR, 0)
    assert running(back, DARK, clock.since + DAY) == 0
    assert not back.nagged
    assert ledger.rewound(clock, 0, MONDAY) == begun("--bank=10")


def test_a_seat_may_have_several_turns_in_a_row():
    clock = moved(moved(begun(), DARK, MONDAY + HOUR), DARK, MONDAY + 3 * HOUR)
    assert used(clock, DARK) == 3 * HOUR


def test_a_turn_of_half_a_century_is_recorded_as_the_longest_there_is():
    clock = moved(begun("--forfeittime=0"), LIGHT, MONDAY + 18_250 * DAY)
    assert used(clock, LIGHT) == 2**40 - 1


def test_a_clock_asked_about_the_time_before_its_turn_says_nothing_has_run():
    assert running(begun(), LIGHT, MONDAY - DAY) == 0


def test_the_stored_form_is_final_and_small():
    clock = ledger.away(begun(), DARK, MONDAY, MONDAY + DAY)
    clock = ledger.paused(moved(clock, LIGHT, MONDAY + 1), MONDAY + 2)
    encoded = msgspec.msgpack.encode(clock)
    assert encoded.hex(" ") == (
        "96 98 07 15 00 00 00 00 c3 c3 cf 00 00 01 a2 05 b3 d0 01 c4 06 00 00 00 00 00 01 "
        "91 93 cf 00 00 01 a2 05 b3 d0 00 cf 00 00 01 a2 0a da 2c 00 01 "
        "cf 00 00 01 a2 05 b3 d0 02 c2"
    )
    assert msgspec.msgpack.decode(encoded, type=Clock) == clock
    assert len(msgspec.msgpack.encode(begun())) == 24


def test_a_pause_that_is_over_is_stored_with_no_seat():
    clock = ledger.resumed(ledger.paused(begun(), MONDAY + 1), MONDAY + 2)
    assert clock.off == (Off(MONDAY + 1, MONDAY + 2, -1),)


def test_a_clock_stored_with_fewer_fields_is_read():
    assert msgspec.msgpack.decode(b"\x92\x90\x05", type=Clock) == start(Terms(), 5)
