"""Vacations: days on which a player's clocks stand still, at most 30 in a calendar year.

A vacation begins at once and lasts whole days of 24 hours. Each of its days belongs to the year,
UTC, in which it begins. Instants are milliseconds since 1970.
"""

from collections import Counter
from typing import Final

import msgspec

from domain.clocks.time_control import DAY, year_of
from domain.errors import Code, Refusal
from domain.sentences import Sentences

SAY: Final = Sentences(
    "clocks",
    {
        "vacation-days": "a vacation lasts whole days, at least 1 and at most {most} a year, not {days}",
        "no-vacation": "you aren't on vacation",
        "vacation-left": (
            "{asked} of these days would begin in {year}, and you have only {rest} of {all} days "
            "left for it; take fewer"
        ),
    },
)


DAYS_A_YEAR: Final = 30
"""Days of vacation in a calendar year."""

_LONGEST_DAYS: Final = 2 * DAYS_A_YEAR
"""Days of the longest vacation, at the end of one year and the beginning of the next."""


class Vacation(msgspec.Struct, frozen=True, array_like=True):
    """A vacation: the instant at which it began, and its days."""

    since: int
    days: int

    @property
    def until(self) -> int:
        """The instant at which it ends."""
        return self.since + self.days * DAY

    @property
    def days_by_year(self) -> Counter[int]:
        """The number of its days in each year."""
        return Counter(year_of((self.since + day * DAY) // DAY) for day in range(self.days))


Vacations = tuple[Vacation, ...]
"""The vacations of an account, in order and disjoint. Those of past years are dropped."""


def running_vacation(vacations: Vacations, now: int) -> Vacation | None:
    """Return the running vacation, if there is one."""
    return next((one for one in vacations if one.since <= now < one.until), None)


def days_left(vacations: Vacations, year: int) -> int:
    """Return the days of vacation that are left in a calendar year."""
    return DAYS_A_YEAR - sum(one.days_by_year[year] for one in vacations)


def take_vacation(vacations: Vacations, now: int, days: int) -> Vacations:
    """Return the vacations with a new one of some days, or with the running one extended by them.

    Raises `Refusal` with `bad-option` if a year has too few days left or `days` is out of range.
    """
    if not 1 <= days <= _LONGEST_DAYS:
        raise Refusal(
            Code.BAD_OPTION,
            SAY("vacation-days", most=DAYS_A_YEAR, days=days),
        )
    earlier = running_vacation(vacations, now)
    more = Vacation(earlier.until if earlier else now, days)
    for year, asked in more.days_by_year.items():
        _check_days_left(vacations, year, asked)
    others = tuple(one for one in vacations if one != earlier and _counts_still(one, now))
    return (*others, Vacation(earlier.since, earlier.days + days) if earlier else more)


def end_vacation(vacations: Vacations, now: int) -> Vacations:
    """Return the vacations with the running one cut after its current day.

    The days that have not begun can be taken again. Raises `Refusal` with `too-late` if no vacation
    is running.
    """
    ending = running_vacation(vacations, now)
    if ending is None:
        raise Refusal(Code.TOO_LATE, SAY("no-vacation"))
    shortened = Vacation(ending.since, (now - ending.since) // DAY + 1)
    return tuple(shortened if one == ending else one for one in vacations)


def _check_days_left(vacations: Vacations, year: int, asked: int) -> None:
    rest = days_left(vacations, year)
    if asked > rest:
        raise Refusal(
            Code.BAD_OPTION,
            SAY("vacation-left", asked=asked, year=year, rest=rest, all=DAYS_A_YEAR),
        )


def _counts_still(one: Vacation, now: int) -> bool:
    """Return whether one of its days may belong to this year or a later one."""
    return year_of((one.until - DAY) // DAY) >= year_of(now // DAY)
