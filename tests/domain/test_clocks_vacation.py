"""Vacations: thirty days a year, and the calendar behind them against Python's own."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clocks.time_control import DAY, counted_ms, instant_of_count, year_of
from domain.clocks.vacation import (
    Vacation,
    Vacations,
    days_left,
    end_vacation,
    take_vacation,
)
from domain.errors import Code, Refusal

EPOCH = date(1970, 1, 1)
HOUR = DAY // 24


def at(text):
    """The instant of an ISO date and time, UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def refused(act):
    with pytest.raises(Refusal) as refusal:
        act()
    return refusal.value.code, refusal.value.sentence


MAY = at("2026-05-04T12:00")


def test_the_year_of_every_day_is_as_in_the_calendar():
    first = date(1599, 12, 25)
    for day in range(365 * 810):
        assert year_of((first - EPOCH).days + day) == (first + timedelta(days=day)).year


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_the_year_of_any_day_is_as_in_the_calendar(day):
    assert year_of((day - EPOCH).days) == day.year


@given(st.integers(at("1960-01-01T00:00") // HOUR, at("2060-01-01T00:00") // HOUR))
def test_an_hour_counts_without_weekends_if_it_is_none_of_a_weekend(hour):
    begin = datetime.fromtimestamp(hour * 3600, UTC)
    took = counted_ms((hour + 1) * HOUR, weekends=False) - counted_ms(hour * HOUR, weekends=False)
    assert took == (HOUR if begin.isoweekday() <= 5 else 0)
    assert (
        counted_ms((hour + 1) * HOUR, weekends=True) - counted_ms(hour * HOUR, weekends=True)
        == HOUR
    )


@given(st.integers(-(10**12), 10**13), st.booleans())
def test_a_tally_is_first_reached_at_its_instant(tallied, weekends):
    instant = instant_of_count(tallied, weekends=weekends)
    assert counted_ms(instant, weekends=weekends) == tallied
    assert counted_ms(instant - 1, weekends=weekends) == tallied - 1


def test_a_year_has_thirty_days_of_it():
    taken = take_vacation(take_vacation((), MAY, 12), MAY + 20 * DAY, 14)
    later = MAY + 60 * DAY
    assert days_left(taken, 2026) == 4
    code, sentence = refused(lambda: take_vacation(taken, later, 5))
    assert code is Code.BAD_OPTION
    assert sentence == (
        "5 of these days would begin in 2026, and you have only 4 of 30 days left for it; take fewer"
    )
    assert days_left(take_vacation(taken, later, 4), 2026) == 0


@pytest.mark.parametrize("days", [0, -1, 61, 10**12])
def test_a_vacation_of_no_days_or_too_many_is_refused(days):
    assert refused(lambda: take_vacation((), MAY, days)) == (
        Code.BAD_OPTION,
        f"a vacation lasts whole days, at least 1 and at most 30 a year, not {days}",
    )


def test_a_vacation_taken_during_one_makes_it_longer():
    taken = take_vacation(take_vacation((), MAY, 3), MAY + DAY + 5, 2)
    assert taken == (Vacation(MAY, 5),)
    assert days_left(taken, 2026) == 25


@pytest.mark.parametrize(
    ("after", "days"), [(0, 1), (DAY - 1, 1), (DAY, 2), (2 * DAY + HOUR, 3), (10 * DAY - 1, 10)]
)
def test_who_is_back_early_can_take_the_days_that_have_not_begun_again(after, days):
    taken = end_vacation(take_vacation(take_vacation((), MAY - 99 * DAY, 2), MAY, 10), MAY + after)
    assert taken == (Vacation(MAY - 99 * DAY, 2), Vacation(MAY, days))
    assert days_left(taken, 2026) == 28 - days


def test_who_is_not_on_vacation_can_not_end_one():
    taken = take_vacation((), MAY, 2)
    assert refused(lambda: end_vacation(taken, MAY + 2 * DAY)) == (
        Code.TOO_LATE,
        "you aren't on vacation",
    )


@given(st.lists(st.tuples(st.integers(0, 40 * 24), st.integers(1, 40), st.booleans()), max_size=40))
def test_however_vacations_are_taken_no_year_has_more_than_thirty_days_and_none_overlap(steps):
    now, taken, every = MAY, (), {}
    for hours, days, ends in steps:
        now += hours * HOUR
        with suppress(Refusal):  # what is refused changes nothing
            taken = end_vacation(taken, now) if ends else take_vacation(taken, now, days)
        every |= {one.since: one.days for one in taken}
    days = sorted(since + day * DAY for since, count in every.items() for day in range(count))
    years = [datetime.fromtimestamp(day / 1000, UTC).year for day in days]
    assert all(years.count(year) <= 30 for year in years)
    assert all(later - day >= DAY for day, later in pairwise(days))


def test_the_stored_form_of_vacations_is_final():
    taken = (Vacation(MAY, 3),)
    encoded = msgspec.msgpack.encode(taken)
    assert encoded == bytes.fromhex("91 92 cf") + MAY.to_bytes(8, "big") + b"\x03"
    assert msgspec.msgpack.decode(encoded, type=Vacations) == taken
